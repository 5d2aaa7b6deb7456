import { createInlay } from 'inlay'
import type { Embedder } from '@inlay/knowledge'

/** Instructions for the process, as JSON in its first argument. */
export interface EmbedderChange {
  readonly dataFolder: string
  readonly dimensions: number
  /** Die in the midst of the nth batch of texts; absent: finish. */
  readonly dieAt?: number
}

/** Vectors that count letters; the number of dimensions names the model. */
export function letters(dimensions: number, onBatch: () => void = () => {}): Embedder {
  const toVector = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions)
    for (const letter of text) vector[letter.codePointAt(0)! % dimensions]! += 1
    return vector
  }
  return {
    id: `letters@${dimensions}`,
    dimensions,
    maxBatchSize: 50,
    async embed(texts, use) {
      if (use === 'document') onBatch()
      return texts.map(toVector)
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  // Written by the test that starts this program.
  const { dataFolder, dimensions, dieAt } = JSON.parse(process.argv[2]!) as EmbedderChange
  let batches = 0
  const embedder = letters(dimensions, () => {
    if (++batches === dieAt) process.kill(process.pid, 'SIGKILL')
  })
  const inlay = createInlay({ dataFolder, embedder, model: 'extractive' })
  await inlay.start()
  await inlay.knowledge.reindex({ embedder: true })
  await inlay.knowledge.whenIdle()
  await inlay.close()
}
