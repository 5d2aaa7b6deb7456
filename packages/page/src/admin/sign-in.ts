/** The sign-in to an MCP server that this tab began: its id, and the answer once the browser came back with it. */
interface PendingSignIn {
  readonly serverId: number
  readonly query?: string
}

const storageName = 'inlay-mcp-sign-in'

/** Where a browser comes back to. */
export const signInReturn = (): string => location.origin + location.pathname

/** Remembers for which server the browser leaves the page. */
export const beginSignIn = (serverId: number): void => keep({ serverId })

const keep = (pending: PendingSignIn): void => sessionStorage.setItem(storageName, JSON.stringify(pending))

/** Shows the servers again when the browser comes back from a sign-in, and takes its answer out of the address. */
export function returnFromSignIn(): void {
  const query = location.search.slice(1)
  const begun = new URLSearchParams(query).has('state') ? sessionStorage.getItem(storageName) : null
  if (begun === null) return
  keep({ ...(JSON.parse(begun) as PendingSignIn), query })
  history.replaceState(null, '', `${location.pathname}#admin/actions`)
}

/** The answer to the sign-in of a server, once. */
export function takeSignIn(serverId: number): string | undefined {
  const { serverId: begun, query } = JSON.parse(sessionStorage.getItem(storageName) ?? '{}') as Partial<PendingSignIn>
  if (begun === serverId && query !== undefined) sessionStorage.removeItem(storageName)
  return begun === serverId ? query : undefined
}
