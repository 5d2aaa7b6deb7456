/** A whole Inlay over a data folder on a free port, as a process of its own that a test may kill. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInlay, nodeListener } from 'inlay'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const inlay = createInlay({ dataFolder, apiKey })
await inlay.start()
const server = createServer(nodeListener(inlay.fetch))
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`))
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  void inlay.close()
})
