/** In order; a text of more than `characters` forms a group of its own. */
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
