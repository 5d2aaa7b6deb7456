/** A whole Inlay over a data folder on a free port, as a separate process that a test may kill. */
import { createInlay } from 'inlay'
import { serve } from './serve.ts'

const [dataFolder, apiKey] = process.argv.slice(2) as [string, string]
const inlay = createInlay({ dataFolder, apiKey })
await serve(inlay)
