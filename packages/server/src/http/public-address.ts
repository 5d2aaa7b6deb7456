const withPage = new WeakSet<Request>()

/** Notes that a request came to a server that shows the web page at its root. */
export function notePage(request: Request): void {
  withPage.add(request)
}

/** Where the caller of a request reaches this server, and whether the web page is there. */
export function publicAddress(request: Request): { readonly origin: string; readonly hasPage: boolean } {
  const { protocol, host } = new URL(request.url)
  // Anybody can send these headers of proxies: what they say is for the response to this very request alone.
  const forwarded = (name: string): string | undefined => request.headers.get(name)?.split(',', 1)[0]?.trim()
  const scheme = forwarded('x-forwarded-proto') ?? protocol.slice(0, -1)
  const { origin } = URL.parse(`${scheme}://${forwarded('x-forwarded-host') ?? host}`) ?? { origin: 'null' }
  return { origin: /^https?:/.test(origin) ? origin : `${protocol}//${host}`, hasPage: withPage.has(request) }
}
