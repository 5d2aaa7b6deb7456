import { createKnowledge, migrateKnowledge, type Knowledge, type KnowledgeOptions } from '@inlay/knowledge'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { IngestionDocument, IngestionRequest } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { onTestFinished } from 'vitest'
import type { Records } from '../../packages/knowledge/src/tables.ts'
import { memoryIndex, type MemoryIndex } from './memory-index.ts'

/** Records in memory, with the tables in place; closed with the test. */
export async function makeRecords(file = ':memory:'): Promise<Records> {
  const db: Records = new Kysely({ dialect: nodeSqlite({ file }) })
  onTestFinished(() => db.destroy())
  await migrateKnowledge(db)
  return db
}

/** A knowledge over records and an index in memory; closed with the test. */
export interface TestKnowledge {
  readonly knowledge: Knowledge
  readonly index: MemoryIndex
  readonly db: Records
  /** Everything that was reported as not expected. */
  readonly errors: unknown[]
}

/** Makes one that does not wait where production does. It is not started. */
export async function makeKnowledge(
  options: Partial<KnowledgeOptions> & { index?: MemoryIndex; db?: Records } = {},
): Promise<TestKnowledge> {
  const db = options.db ?? (await makeRecords())
  const index = options.index ?? memoryIndex()
  const errors: unknown[] = []
  const knowledge = createKnowledge({
    onError: (error) => errors.push(error),
    ...options,
    db,
    index,
    worker: { lingerMs: 0, pollMs: 20, ...options.worker },
  })
  onTestFinished(() => knowledge.close())
  return { knowledge, index, db, errors }
}

/** A request as validation hands it on. */
export function request(
  document: Partial<Omit<IngestionDocument, 'sections'>> & {
    text?: string
    sections?: IngestionDocument['sections']
  } = {},
  pairId = 1,
): IngestionRequest {
  const { text = 'some text', ...rest } = document
  return {
    cc_pair_id: pairId,
    document: {
      id: 'document',
      semantic_identifier: 'A document',
      sections: [{ type: 'text', text, link: null, image_file_id: null, heading: null }],
      metadata: {},
      source: 'file',
      title: null,
      doc_updated_at: null,
      doc_created_at: null,
      primary_owners: null,
      secondary_owners: null,
      file_id: null,
      ...rest,
    },
  }
}
