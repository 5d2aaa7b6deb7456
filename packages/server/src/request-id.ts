const header = 'x-request-id'
const sane = /^[\w.:/+=-]{1,128}$/

/** The id a request came with, if it is one (up to 128 letters, digits and `._:/+=-`), else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(header)
  return given !== null && sane.test(given) ? given : crypto.randomUUID()
}

/** Puts the id on a response. */
export function markWithRequestId(response: Response, requestId: string): void {
  response.headers.set(header, requestId)
}
