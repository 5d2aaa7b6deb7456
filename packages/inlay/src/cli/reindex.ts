import type { Inlay } from '../inlay.ts'
import type { Command, CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { withInlay } from './with-inlay.ts'

/** Time between two looks at the queue; milliseconds. */
const pollMs = 200

/** Makes the index anew from the records. */
export const reindex: Command = {
  ...commandTable.reindex,
  details: [
    'A lost or damaged index is noticed and made anew by itself; this is for when you want it all the same.',
    'Interrupted, it goes on with the next inlay serve.',
    'Another embedding model in the settings changes nothing by itself: --embedder brings all documents to it.',
  ],
  words: [0, 0],
  options: {
    embedder: {
      type: 'boolean',
      meaning: 'make the embedding model of the settings (or none) that of all documents',
    },
  },
  run: (context) =>
    withInlay(context, async (inlay) => {
      const embedder = context.options['embedder'] === true
      const { documents } = await inlay.knowledge.reindex({ embedder })
      if (embedder && documents === 0 && !context.output.isJson)
        context.output.note('The documents have this embedding model already.')
      return waitForRebuild(context, inlay)
    }),
}

/** Waits until every document is searchable again. @returns the exit code */
export async function waitForRebuild({ output, signal }: CommandContext, inlay: Inlay): Promise<number> {
  const total = await leftOf(inlay)
  const progress = output.progress('Indexing', total)
  try {
    for (let left = total; left > 0 && !signal.aborted; left = await leftOf(inlay)) {
      progress.to(Math.max(0, total - left))
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  } finally {
    progress.end()
  }
  const left = await leftOf(inlay)
  const { documents } = await inlay.knowledge.figures()
  if (output.isJson) output.json({ documents: documents.indexed, left, failed: documents.failed })
  else if (left > 0) output.note(`Interrupted. ${left} documents are left: the next inlay serve goes on with them.`)
  else
    output.line(
      `${documents.indexed} documents are searchable${documents.failed > 0 ? `, ${documents.failed} failed` : ''}.`,
    )
  return signal.aborted ? 130 : 0
}

async function leftOf(inlay: Inlay): Promise<number> {
  const { documents, rebuild } = await inlay.knowledge.figures()
  return Math.max(documents.pending + documents.indexing, rebuild?.documents ?? 0)
}
