import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener, type Inlay } from 'inlay'

/** A model of tests without what it says; resolved together with it. */
export const scripted = {
  provider: 'scripted',
  name: 'scripted-1',
  displayName: 'Scripted',
  contextTokens: 32_000,
  takesImages: false,
}

/** Serves an Inlay on a free port, which it prints, until SIGTERM: for processes that a test may kill. */
export async function serve(inlay: Inlay): Promise<void> {
  await inlay.start()
  const server = createServer(nodeListener(inlay.fetch))
  server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`))
  process.once('SIGTERM', () => {
    server.close()
    server.closeAllConnections()
    void inlay.close()
  })
}
