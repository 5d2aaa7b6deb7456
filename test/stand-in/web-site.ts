import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One answer of a site; bytes are sent as they are. */
export interface SitePage {
  readonly status?: number
  /** Default `text/html; charset=utf-8`; null leaves it out. */
  readonly type?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Never answers. */
  readonly hangs?: true
}

/** A local web site. */
export interface WebSite {
  readonly origin: string
  /** Name and port, as an operator allows it. */
  readonly host: string
  /** Paths that were asked for, in order. */
  readonly seen: readonly string[]
  close(): Promise<void>
}

/** Starts a site on a free port of the loopback; paths it does not have are a 404. */
export async function startSite(pages: Readonly<Record<string, SitePage>>): Promise<WebSite> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    seen.push(path)
    const page = pages[path] ?? { status: 404, body: 'no such page' }
    if (page.hangs) return
    const type = page.type === undefined ? 'text/html; charset=utf-8' : page.type
    response.writeHead(page.status ?? 200, { ...(type === null ? {} : { 'content-type': type }), ...page.headers })
    response.end(page.body ?? '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin: `http://${host}`,
    host,
    seen,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
