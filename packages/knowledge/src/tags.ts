/**
 * The form in which an index keeps one piece of metadata: `key=value`, with `%` and `=` of the key percent-encoded, so
 * that two pairs never share a tag. Upper and lower case differ.
 */
export function toTag(key: string, value: string): string {
  return `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}`
}
