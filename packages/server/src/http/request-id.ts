/** Header that carries the id, in requests and in every response. */
export const requestIdHeader = 'x-request-id'

const sane = /^[\w.:/+=-]{1,128}$/

/** The id a request came with, if it is one (up to 128 letters, digits and `._:/+=-`), else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get(requestIdHeader)
  return given !== null && sane.test(given) ? given : crypto.randomUUID()
}
