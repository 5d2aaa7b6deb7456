import { keep, readKept } from '../kept.ts'

/** The sign-in to an MCP server that this tab began: its id, and the answer once the browser came back with it. */
interface PendingSignIn {
  readonly serverId: number
  readonly query?: string
}

const storageName = 'inlay-mcp-sign-in'
const keepPending = (pending: PendingSignIn | null): void =>
  keep(storageName, pending && JSON.stringify(pending), 'sessionStorage')

export const signInReturn = (): string => location.origin + location.pathname

export const beginSignIn = (serverId: number): void => keepPending({ serverId })

/** Shows the servers again when the browser comes back from a sign-in, and takes its answer out of the address. */
export function returnFromSignIn(): void {
  const query = location.search.slice(1)
  const begun = new URLSearchParams(query).has('state') ? readKept(storageName, 'sessionStorage') : null
  if (begun === null) return
  keepPending({ ...(JSON.parse(begun) as PendingSignIn), query })
  history.replaceState(null, '', `${location.pathname}#admin/actions`)
}

/** The answer to the sign-in of a server, once. */
export function takeSignIn(serverId: number): string | undefined {
  const kept = JSON.parse(readKept(storageName, 'sessionStorage') ?? '{}') as Partial<PendingSignIn>
  if (kept.serverId !== serverId || kept.query === undefined) return undefined
  keepPending(null)
  return kept.query
}
