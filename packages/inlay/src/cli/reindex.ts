import { reindexedSchema } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import type { Command, CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { jsonOf, withService } from './service.ts'
import { flag } from './shared-options.ts'

const pollMs = 200

export const reindex: Command = {
  ...commandTable.reindex,
  details: [
    'A lost or damaged index is detected and rebuilt automatically; this command always rebuilds it.',
    'If it is interrupted, the next inlay serve continues.',
    'Another embedding model in the settings takes effect only with --embedder, which indexes all documents with it.',
  ],
  words: [0, 0],
  options: {
    embedder: flag('index all documents with the embedding model of the settings (or without)'),
  },
  run: (context) =>
    withService(
      context,
      async (service) => {
        const { output, options } = context
        const embedder = options['embedder'] === true
        const body = JSON.stringify({ change_embedder: embedder })
        const init = { method: 'POST', body }
        const { documents } = await jsonOf(service, '/service-api/ingestion-reindex', reindexedSchema, init)
        if (embedder && documents === 0 && !output.isJson)
          output.note('The documents already use this embedding model.')
        if (service.inlay) return waitForRebuild(context, service.inlay)
        const place = `${service.place} is indexing ${documents} documents again`
        output.result({ documents, left: documents }, `${place}; inlay doctor --url shows the progress.`)
        return 0
      },
      { indexes: true },
    ),
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
  else if (left > 0) output.note(`Interrupted. ${left} documents remain: the next inlay serve continues with them.`)
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
