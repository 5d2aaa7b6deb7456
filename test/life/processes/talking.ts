/** An Inlay whose model says a word every few milliseconds, as one of several processes over the same records. */
import { scriptedModel } from '@inlay/agent/testing'
import { postgres } from '@inlay/drivers/postgres'
import { createInlay } from 'inlay'
import { scripted, serve } from '../serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const { INLAY_TEST_POSTGRES: connectionString, INLAY_TEST_WORDS: words = '40' } = process.env
const pace = (spoken: () => void): void => void setTimeout(spoken, 20)
const pause = { pause: () => new Promise<void>((resolve) => pace(resolve)) }
const script = () => Array.from({ length: Number(words) }, (_, n) => [`word${n} `, pause]).flat()
const inlay = createInlay({
  dataFolder,
  apiKey,
  ...(connectionString ? { database: postgres({ connectionString }) } : {}),
  model: { resolve: async () => ({ ...scripted, model: scriptedModel(script) }), list: async () => [] },
})
await serve(inlay)
