import type { Records } from '../schema/tables.ts'

/** Generations nobody can see any more, and how many rows of the index they hold at most. */
export interface Retired {
  readonly generations: readonly string[]
  readonly chunkCount: number
}

/** Notes rows of the index for removal; part of the transaction that made them invisible. */
export async function retire(db: Records, retired: Retired): Promise<void> {
  if (retired.generations.length === 0) return
  await db
    .insertInto('inlay_dead_generations')
    .values({
      id: crypto.randomUUID(),
      generations: JSON.stringify(retired.generations),
      chunk_count: retired.chunkCount,
    })
    .execute()
}

/** Some of what is to be removed; empty when nothing is. */
export async function readRetired(db: Records, limit: number): Promise<{ ids: string[]; generations: string[] }> {
  const rows = await db
    .selectFrom('inlay_dead_generations')
    .select(['id', 'generations'])
    .orderBy('id')
    .limit(limit)
    .execute()
  return { ids: rows.map((row) => row.id), generations: rows.flatMap((row) => toGenerations(row.generations)) }
}

/** Forgets what was removed. */
export async function forgetRetired(db: Records, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('inlay_dead_generations').where('id', 'in', ids).execute()
}

/** Rows of the index that wait for removal. */
export async function countRetired(db: Records): Promise<number> {
  const row = await db
    .selectFrom('inlay_dead_generations')
    .select((of) => of.fn.sum<number | string | null>('chunk_count').as('rows'))
    .executeTakeFirst()
  return Number(row?.rows ?? 0)
}

/** Reads the JSON array of a `generations` column. */
export function toGenerations(json: string): string[] {
  // Written by this package alone.
  return JSON.parse(json) as string[]
}
