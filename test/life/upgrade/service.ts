/** An Inlay over data of an earlier version, as a separate process; what it reports goes to its parent. */
import { createInlay } from 'inlay'
import { serve } from '../serve.ts'
import { letterEmbedder } from './letter-embedder.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
await serve(
  createInlay({ dataFolder, apiKey, embedder: letterEmbedder, onError: (error) => process.send?.(String(error)) }),
)
