/** An Inlay whose action asks before it runs, as one of several processes over the same records. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel } from '@inlay/agent/testing'
import { postgres } from '@inlay/drivers/postgres'
import { createInlay, defineAction } from 'inlay'
import { z } from 'zod'
import { scripted, serve } from '../serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const { INLAY_TEST_POSTGRES: connectionString } = process.env
const model = scriptedModel(({ prompt }) =>
  JSON.stringify(prompt).includes('Removed 7.')
    ? ['Page 7 is gone.']
    : [{ call: { name: 'remove', input: { page: 7 } } }],
)
const remove = defineAction({
  name: 'remove',
  description: 'Removes a page.',
  input: z.object({ page: z.number() }),
  needsApproval: ({ page }) => page > 1,
  run: ({ page }) => {
    appendFileSync(join(dataFolder, 'removed.txt'), `${page}\n`)
    return `Removed ${page}.`
  },
})
const inlay = createInlay({
  dataFolder,
  apiKey,
  actions: [remove],
  ...(connectionString ? { database: postgres({ connectionString }) } : {}),
  model: { resolve: async () => ({ ...scripted, model, grounding: 'tools' }), list: async () => [] },
})
await serve(inlay)
