/** After this many failed comparisons, the chunks of an answer are assumed to always differ, as with random padding. */
const maxLessons = 4
const sample = 'sample'
// Characters that need escapes in a JSON string.
// oxlint-disable-next-line no-control-regex -- JSON requires escapes for all of them
const notPlain = /["\\\0-\x1f]/

/**
 * Reads the text from chunks that differ only in their text, as most of an answer do. Parsing a chunk costs as much as
 * everything else done with it; comparing the data before and after its text costs a tenth: a text without quotes and
 * escapes is the string itself.
 * @param textOf the text of parsed data if it contains nothing else; otherwise undefined
 */
export function createTextFrame(textOf: (data: string) => string | undefined) {
  let head = ''
  let tail = ''
  let lessons = 0
  return {
    /** The text, if the rest of the data equals that of the last learned chunk; otherwise undefined. */
    read: (data: string): string | undefined => {
      if (head === '' || data.length <= head.length + tail.length) return undefined
      if (!data.startsWith(head) || !data.endsWith(tail)) return undefined
      const text = data.slice(head.length, data.length - tail.length)
      if (notPlain.test(text)) return undefined
      lessons = 0
      return text
    },
    learn: (data: string): void => {
      if (lessons === maxLessons) return
      const key = /"content": ?"/.exec(data)
      if (key === null) return
      const start = key.index + key[0].length
      const end = data.indexOf('"', start)
      // A text with escapes cannot be used as a template.
      if (end === -1 || notPlain.test(data.slice(start, end))) return
      lessons++
      head = ''
      const [before, behind] = [data.slice(0, start), data.slice(end)]
      // `textOf` confirms that this is the position of the text, and that there is nothing else.
      if (textOf(before + sample + behind) === sample) [head, tail] = [before, behind]
    },
  }
}
