/** Shorter common prefixes are not worth encoding. */
const minShared = 16

/**
 * Joins lines of JSON into one text. A line that begins as the one before holds the number of characters they share, and
 * its rest: most lines of a run differ in a word alone.
 */
export function packLines(lines: readonly string[]): string {
  let before = ''
  let head = ''
  const packed = lines.map((line) => {
    if (head === '' || !line.startsWith(head)) head = sharedBeginning(before, line)
    before = line
    return head === '' ? line : `${head.length}\t${line.slice(head.length)}`
  })
  return packed.join('\n')
}

function sharedBeginning(before: string, line: string): string {
  const most = Math.min(before.length, line.length)
  let length = 0
  while (length < most && before.charCodeAt(length) === line.charCodeAt(length)) length++
  // Databases store UTF-8, which cannot represent half a surrogate pair.
  const last = line.charCodeAt(length - 1)
  if (last >= 0xd800 && last <= 0xdbff) length--
  return length < minShared ? '' : line.slice(0, length)
}

export function unpackLines(text: string): string[] {
  let before = ''
  return text.split('\n').map((packed) => {
    // JSON holds no tab outside of an escape.
    const end = packed.indexOf('\t')
    before = end === -1 ? packed : before.slice(0, Number(packed.slice(0, end))) + packed.slice(end + 1)
    return before
  })
}
