/** A service whose process ends at once, as for want of memory, when it indexes a document with the word "deadly". */
import { createInlay } from 'inlay'
import { serve } from '../serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const inlay = createInlay({
  dataFolder,
  apiKey,
  embedder: {
    id: 'deadly@2',
    dimensions: 2,
    maxBatchSize: 100,
    embed: async (texts) => {
      if (texts.some((text) => text.includes('deadly'))) process.kill(process.pid, 'SIGKILL')
      return texts.map(() => new Float32Array([1, 0]))
    },
  },
})
await serve(inlay)
