/**
 * Groups texts, in order, into batches that fit one request.
 * @param limits.count maximum number of texts in a batch
 * @param limits.characters maximum characters of a batch; a longer text forms its own
 */
export function* groupsOf(
  texts: readonly string[],
  limits: { readonly count: number; readonly characters: number },
): Generator<string[]> {
  let group: string[] = []
  let size = 0
  for (const text of texts) {
    if (group.length > 0 && (group.length >= limits.count || size + text.length > limits.characters)) {
      yield group
      group = []
      size = 0
    }
    group.push(text)
    size += text.length
  }
  if (group.length > 0) yield group
}
