import { createInlay } from 'inlay'
import { createInterface } from 'node:readline'
import { letters } from './embedder-change-child.ts'

/** Settings of the process, as JSON in its first argument. */
export interface RecordedEmbedderChild {
  readonly dataFolder: string
  /** Names the model; 0 for none. */
  readonly dimensions: number
  /** Document that it takes in at its start. */
  readonly document: string
}

// Written by the test that starts this program.
const { dataFolder, dimensions, document } = JSON.parse(process.argv[2]!) as RecordedEmbedderChild
const inlay = createInlay({
  dataFolder,
  model: 'extractive',
  onError: () => {},
  ...(dimensions > 0 && { embedder: letters(dimensions) }),
})
await inlay.start()
const section = { type: 'text', text: `Heron of ${document}.`, link: null, heading: null, image_file_id: null }
const given = { id: document, semantic_identifier: document, sections: [section], metadata: {} }
// The validated form, without optional fields.
await inlay.knowledge.accept({ document: given, cc_pair_id: 1 } as never)
process.stdout.write('ready\n')
// Each line asks what is found.
for await (const _ of createInterface({ input: process.stdin })) {
  const passages = await inlay.knowledge.search({ text: 'heron', limit: 50 })
  const ids = passages.map((passage) => passage.document.document_id).toSorted()
  process.stdout.write(`${JSON.stringify({ ids, embedder: await inlay.knowledge.embedder() })}\n`)
}
await inlay.close()
