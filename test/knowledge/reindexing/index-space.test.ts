import { readSpaces, replaceSpace } from '@inlay/knowledge/internal/reindexing/index-space'
import { holdSpace } from '@inlay/knowledge/internal/schema/sql'
import type { SpacePhase } from '@inlay/knowledge/internal/schema/tables'
import { expect, test } from 'vitest'
import { makeRecords } from '../setup.ts'

/** Records with spaces in these phases, by number. */
async function withSpaces(...phases: readonly SpacePhase[]) {
  const db = await makeRecords()
  await db.deleteFrom('inlay_spaces').execute()
  const row = { embedder: '', dimensions: 0, identity: null, rebuild_reason: null }
  await db
    .insertInto('inlay_spaces')
    .values(phases.map((phase, number) => ({ ...row, phase, number })))
    .execute()
  return db
}

test('what is written into a space becomes visible only while the space can be read', async () => {
  const db = await withSpaces('lost', 'closing', 'moved', 'open')
  const held = await Promise.all([0, 1, 2, 3, 4].map((number) => holdSpace(db, number)))
  expect(held).toEqual([false, false, true, true, false])
})

test('a space that is being closed is not taken for lost', async () => {
  const db = await withSpaces('closing', 'open')
  await replaceSpace(db, { number: 0, reason: 'lost' }, true)
  expect((await readSpaces(db)).map(({ phase }) => phase)).toEqual(['closing', 'open'])
})
