/** More backticks than stand together in a text, of any size. */
export function fenceFor(text: string, least: number): string {
  let longest = least - 1
  let run = 0
  for (const each of text) {
    run = each === '`' ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return '`'.repeat(longest + 1)
}
