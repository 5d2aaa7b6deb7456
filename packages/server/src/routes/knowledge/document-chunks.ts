import { documentChunksQuerySchema, documentChunksSchema, InlayError } from '@inlay/protocol'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Search', { scope: ['search', 'chat'], owner: 'pair' })

export const documentChunkRoutes: readonly Route[] = [
  route('GET /document/chunks', 'documentChunks', 'Read a document', {
    description: 'Consecutive chunks of a searchable document, as Markdown, to show it around a passage.',
    input: { query: documentChunksQuerySchema },
    answer: { description: 'The chunks.', schema: documentChunksSchema },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ query, caller, parts }) {
      const { document_id: documentId, first, limit } = query
      const read = await parts.knowledge.chunks({ documentId, first, limit, caller })
      if (read === undefined)
        throw new InlayError('DOCUMENT_NOT_FOUND', {
          message: 'There is no searchable document with this id, or it ends before this chunk.',
        })
      return {
        document_id: documentId,
        semantic_identifier: read.semanticIdentifier,
        source_type: read.source,
        updated_at: new Date(read.updatedAt).toISOString(),
        file_id: read.fileId,
        chunks: read.chunks.map(({ position, text, separator, headings, link, imageId }) => ({
          chunk: position,
          content: text,
          separator,
          headings,
          link,
          image_file_id: imageId,
        })),
        next: read.next,
      }
    },
  }),
]
