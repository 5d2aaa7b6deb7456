/**
 * Texts in the order they come, as many together as a request takes.
 * @param limits.count most texts of a group
 * @param limits.characters most characters of a group; one longer text still goes alone
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
