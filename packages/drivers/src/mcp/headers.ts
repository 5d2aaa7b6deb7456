// Headers of the connection, or set by the client itself.
const ownHeaders = new Set(
  (
    'accept accept-encoding connection content-length content-type expect host keep-alive ' +
    'last-event-id mcp-protocol-version mcp-session-id te trailer transfer-encoding upgrade'
  ).split(' '),
)

/** The stored ones override those of the request that may be sent. Names are compared and returned in lower case. */
export function toServerHeaders(
  stored: Readonly<Record<string, string>>,
  requested: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const sendable = Object.entries(requested).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    const fits = /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(lower) && /^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(value)
    return fits && !ownHeaders.has(lower) ? [[lower, value] as const] : []
  })
  const kept = Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries([...sendable, ...kept])
}
