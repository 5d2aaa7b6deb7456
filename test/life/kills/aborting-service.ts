/** A service whose engine aborts the process in each search of an index with a file "deadly" in it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { VectorIndex } from '@inlay/knowledge'
import { createInlay } from 'inlay'
import { processPresence } from 'inlay/internal/process-presence'
import { serve } from '../serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]

function deadlyIndex(folder: string): VectorIndex {
  const checkUrl = new URL('aborting-check.ts', import.meta.url)
  const index = lancedbIndex({ folder, processes: processPresence(), checkUrl })
  return {
    ...index,
    search: (query) => {
      const hits = index.search(query)
      if (existsSync(join(folder, 'chunks.lance', 'deadly'))) process.abort()
      return hits
    },
    staging: (number) => deadlyIndex(join(folder, `space-${number}`)),
  }
}

await serve(createInlay({ dataFolder, apiKey, index: deadlyIndex(join(dataFolder, 'index')) }))
