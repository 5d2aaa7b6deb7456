const withPage = new WeakSet<Request>()

/** Notes that a request came to a server that shows the web page at its root. */
export function notePage(request: Request): void {
  withPage.add(request)
}

/** Where the caller of a request reaches this server, and whether the web page is there. */
export function publicAddress(request: Request): { readonly origin: string; readonly hasPage: boolean } {
  const url = new URL(request.url)
  // Anybody can send these headers of proxies: what they say is for the response to this very request alone.
  const forwarded = (name: string): string | undefined => request.headers.get(name)?.split(',', 1)[0]?.trim()
  // What does not fit changes nothing.
  url.protocol = forwarded('x-forwarded-proto') ?? url.protocol
  const host = forwarded('x-forwarded-host')
  // A host without a port would keep the one behind the proxy.
  if (host && URL.canParse(`http://${host}`)) Object.assign(url, { port: '', host })
  return { origin: url.origin, hasPage: withPage.has(request) }
}
