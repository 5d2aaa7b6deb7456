import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex, type LancedbOptions } from '@inlay/drivers/lancedb'
import type { VectorIndex } from '@inlay/knowledge'
import { vectorIndexConformance } from '@inlay/conformance'
import { afterAll, describe, test } from 'vitest'
import { folded, midFold } from '../index-states.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-lancedb-states-'))
// Some hundred indexes.
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

const states: readonly (readonly [
  title: string,
  options: Partial<LancedbOptions>,
  inState: (index: VectorIndex) => VectorIndex,
])[] = [
  ['every row is indexed, its vector in IVF', { vectorIndexRows: 1 }, folded],
  ['no unindexed row has room in memory', { memtableCharacters: 0 }, (index) => index],
  ['only some unindexed rows have room in memory', { memtableCharacters: 3000 }, (index) => index],
  ['a fold is under way', { keepVersionsMs: 0, vectorIndexRows: 1 }, midFold],
]

for (const [state, [title, options, inState]] of states.entries())
  describe(`conformance of an index while ${title}`, () => {
    const make = (store: string): VectorIndex =>
      inState(lancedbIndex({ folder: join(root, `state-${state}`, store), ...options }))
    for (const [statement, run] of vectorIndexConformance(make)) test(statement, run)
  })
