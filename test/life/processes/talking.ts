/** An Inlay whose model says a word every few milliseconds, as one of several processes over the same records. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scriptedModel } from '@inlay/agent/testing'
import { postgres } from '@inlay/drivers/postgres'
import { createInlay, nodeListener } from 'inlay'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const { INLAY_TEST_POSTGRES: connectionString, INLAY_TEST_WORDS: words = '40' } = process.env
const model = {
  provider: 'scripted',
  name: 'scripted-1',
  displayName: 'Scripted',
  contextTokens: 32_000,
  takesImages: false,
}
const pace = (spoken: () => void): void => void setTimeout(spoken, 20)
const pause = { pause: () => new Promise<void>((resolve) => pace(resolve)) }
const script = () => Array.from({ length: Number(words) }, (_, n) => [`word${n} `, pause]).flat()
const inlay = createInlay({
  dataFolder,
  apiKey,
  ...(connectionString ? { dialect: postgres({ connectionString }) } : {}),
  models: { resolve: async () => ({ ...model, model: scriptedModel(script) }), list: async () => [] },
})
await inlay.start()
const server = createServer(nodeListener(inlay.fetch))
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`))
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  void inlay.close()
})
