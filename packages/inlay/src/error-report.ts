/** Most causes told of one failure. */
const mostCauses = 5

/**
 * What is written of a failure nobody expected: its stack, and those of its causes, without which "the index failed"
 * says nothing. Other fields are left out, as requests and answers of providers stand there.
 * @param hide takes credentials out of a text; providers repeat what they were sent
 */
export function errorReport(error: unknown, hide: (text: string) => string): string {
  const told: string[] = []
  let at = error
  while (at !== undefined && at !== null && told.length <= mostCauses) {
    told.push(at instanceof Error ? stackOf(at, hide) : hide(String(at)))
    at = at instanceof Error ? at.cause : undefined
  }
  return told.join('\n  caused by ')
}

/** Places in the code are kept as they are: they look like keys, and are what a reader needs. */
function stackOf(error: Error, hide: (text: string) => string): string {
  const stack = error.stack ?? `${error.name}: ${error.message}`
  const places = stack.search(/^ {4}at /m)
  return places === -1 ? hide(stack) : hide(stack.slice(0, places)) + stack.slice(places)
}
