/**
 * The form in which an index keeps one piece of metadata: `key=value`, with `%` and `=` of the key percent-encoded, so
 * that two pairs never share a tag. Upper and lower case differ.
 */
export function toTag(key: string, value: string): string {
  return `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}`
}

/** Takes a tag apart again. */
export function fromTag(tag: string): { key: string; value: string } {
  const at = tag.indexOf('=')
  return { key: tag.slice(0, at).replaceAll('%3D', '=').replaceAll('%25', '%'), value: tag.slice(at + 1) }
}
