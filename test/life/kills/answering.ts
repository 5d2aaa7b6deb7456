/** An Inlay whose model says half an answer and then nothing, as a separate process that a test may kill. */
import { scriptedModel } from '@inlay/agent/testing'
import { createInlay } from 'inlay'
import { scripted, serve } from '../serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const inlay = createInlay({
  dataFolder,
  apiKey,
  limits: { leaseMs: 2_000 },
  model: {
    resolve: async () => ({ ...scripted, model: scriptedModel(() => ['What was said ', 'so far. ', { hang: true }]) }),
    list: async () => [],
  },
})
await serve(inlay)
