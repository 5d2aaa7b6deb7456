import type { IngestionDocument } from '@inlay/protocol'
import { amongPairs } from '../access-and-filters/documents.ts'
import { privateFilesCaller, privateFilesPair } from '../access-and-filters/permissions.ts'
import { resolveFilters } from '../access-and-filters/search-filters.ts'
import type { Knowledge } from '../contracts/knowledge.ts'
import type { PrivateFileIndex } from '../contracts/private-files.ts'
import { readExcerpt } from './excerpt.ts'
import { search, type SearchContext } from './find-visible-passages.ts'

export interface PrivateFileIndexOptions {
  readonly accept: Knowledge['accept']
  readonly remove: Knowledge['remove']
  readonly context: SearchContext
}

/** The pair is created with the first document, so that it costs nothing if unused. */
export function createPrivateFileIndex({ accept, remove, context }: PrivateFileIndexOptions): PrivateFileIndex {
  const { db, now } = context
  const caller = privateFilesCaller
  let pairCreated: Promise<unknown> | undefined
  const makePair = async (): Promise<void> => {
    const pair = { name: 'Private files', is_public: 0, is_paused: 0, is_removed: 0, created_at: now() }
    await db
      .insertInto('inlay_pairs')
      .values({ id: privateFilesPair, ...pair })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  }
  return {
    put: async (document, { waitMs, signal } = {}) => {
      pairCreated ??= makePair().catch((error: unknown) => {
        pairCreated = undefined
        throw error
      })
      await pairCreated
      const request = { document: toDocument(document), cc_pair_id: privateFilesPair }
      await accept(request, { caller, queuedFor: document.ownerId, waitMs, signal })
    },
    remove: async (id) => {
      await remove(id, { caller }).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
    },
    search: async ({ text, documentIds, filters, limit, signal, caller: asker }) => {
      // Document sets consist of pairs, and the pair of private files is in none.
      if (documentIds.length === 0 || (filters?.document_set ?? []).length > 0) return []
      const filter = { ...(await resolveFilters(db, filters, caller)), pairs: [privateFilesPair], documentIds }
      return search({ text, limit, signal, caller: asker }, context, filter)
    },
    excerpt: (request) => readExcerpt(request, context, amongPairs(db, [privateFilesPair])),
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'DOCUMENT_NOT_FOUND'
}

function toDocument({
  id,
  title,
  source,
  sections,
  updatedAt,
}: Parameters<PrivateFileIndex['put']>[0]): IngestionDocument {
  return {
    id,
    semantic_identifier: title,
    title,
    source,
    sections: sections.map(({ text, heading }) => ({
      type: 'text',
      text,
      heading: heading ?? null,
      link: null,
      image_file_id: null,
    })),
    metadata: {},
    doc_updated_at: new Date(updatedAt).toISOString(),
    doc_created_at: null,
    primary_owners: null,
    secondary_owners: null,
    file_id: null,
  }
}
