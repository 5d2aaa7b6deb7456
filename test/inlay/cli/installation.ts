import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInlay, nodeListener, type Inlay, type InlayOptions } from 'inlay'
import { onTestFinished } from 'vitest'

/** The key of an installation for tests. */
export const key = 'the-key-of-the-test'

/** An installation over HTTP, until the test ends. */
export async function serve(options: InlayOptions): Promise<{ readonly base: string; readonly inlay: Inlay }> {
  const inlay = createInlay({ apiKey: key, ...options })
  const server = createServer(nodeListener(inlay.fetch)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await inlay.close()
  })
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, inlay }
}
