/** A host as part of a URL. Wildcard addresses cannot be opened in a browser. */
export function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
