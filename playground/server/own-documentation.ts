import { join } from 'node:path'
import { isInlayError } from '@inlay/protocol'
import type { Inlay } from 'inlay'
import { ownDocumentationSet } from '../../packages/page/src/own-documentation-set.ts'
import { takeInOwnDocuments, type OwnDocument, type OwnDocumentsTarget } from './own-documents.ts'
import { showProgress } from './progress.ts'

/** Interval at which the queue is polled, in milliseconds. */
const pollMs = 50

/** Ingests the project's own documentation into its own document set, and waits until it is searchable. */
export async function readOwnDocumentation(inlay: Inlay, root: string, dataFolder: string): Promise<void> {
  let progress: ReturnType<typeof showProgress> | undefined
  const startedAt = Date.now()
  const count = await takeInOwnDocuments({
    root,
    record: join(dataFolder, 'own-documents.json'),
    onStart: (total) => {
      progress = showProgress(process.stdout, "Reading the project's own documentation", total)
    },
    target: targetOf(inlay),
  })
  if (count === 0) return
  for (let left = count; left > 0;) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    const { documents } = await inlay.knowledge.figures()
    left = Math.min(left, documents.pending + documents.indexing)
    progress?.to(count - left)
  }
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
  progress?.end(
    `Ask about it: ${count} ${count === 1 ? 'document' : 'documents'} of this project searchable after ${seconds} s.`,
  )
}

function targetOf({ knowledge }: Inlay): OwnDocumentsTarget {
  return {
    isEmpty: async () => !(await knowledge.hasDocuments()),
    makePair: async () => {
      const { id } = await knowledge.pairs.create({ name: ownDocumentationSet })
      await knowledge.documentSets.create({
        name: ownDocumentationSet,
        description: 'The README and the docs of the project itself, to try things out.',
        pairIds: [id],
      })
      return id
    },
    hasPair: async (pairId) => (await knowledge.pairs.list()).some(({ id }) => id === pairId),
    accept: async (document, pairId) => void (await knowledge.accept(requestOf(document, pairId))),
    remove: (id) =>
      knowledge.remove(id).catch((error: unknown) => {
        // It was deleted before its file was removed.
        if (!isInlayError(error) || error.code !== 'DOCUMENT_NOT_FOUND') throw error
      }),
  }
}

type AcceptRequest = Parameters<Inlay['knowledge']['accept']>[0]

const requestOf = ({ id, title, text }: OwnDocument, pairId: number): AcceptRequest => ({
  cc_pair_id: pairId,
  document: {
    id,
    semantic_identifier: title,
    title: null,
    source: 'file',
    sections: [{ type: 'text', text, link: null, image_file_id: null, heading: null }],
    metadata: { collection: 'inlay' },
    doc_updated_at: null,
    doc_created_at: null,
    primary_owners: null,
    secondary_owners: null,
    file_id: null,
  },
})
