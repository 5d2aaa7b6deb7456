// Headers of the connection. Setting them would break the framing, or reach another host than the one that was checked.
const framing = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

// OpenAPI ignores the first four as parameters. All of them identify the caller or describe the body.
const fixed = new Set(['accept', 'authorization', 'content-type', 'cookie', 'accept-encoding', 'proxy-authorization'])

/** Whether a header belongs to the connection or identifies the caller, so a model must not set it. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return framing.has(lower) || fixed.has(lower)
}

/** Whether an administrator may configure this header: a valid name, one line of text, not a connection header. */
export function isSendableHeader(name: string, value: string): boolean {
  return (
    /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name) &&
    /^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(value) &&
    !framing.has(name.toLowerCase())
  )
}
