/** An Inlay whose model says half an answer and then nothing, as a process of its own that a test may kill. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scriptedModel } from '@inlay/agent/testing'
import { createInlay, nodeListener } from 'inlay'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const model = {
  provider: 'scripted',
  name: 'scripted-1',
  displayName: 'Scripted',
  contextTokens: 32_000,
  takesImages: false,
}
const inlay = createInlay({
  dataFolder,
  apiKey,
  limits: { leaseMs: 2_000 },
  models: {
    resolve: async () => ({ ...model, model: scriptedModel(() => ['What was said ', 'so far. ', { hang: true }]) }),
    list: async () => [],
  },
})
await inlay.start()
const server = createServer(nodeListener(inlay.fetch))
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`))
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  void inlay.close()
})
