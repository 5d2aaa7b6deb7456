import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { vectorIndexLaws } from '@inlay/knowledge/conformance'
import { afterAll, describe, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'inlay-lancedb-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('laws of a vector index', () => {
  for (const [title, run] of vectorIndexLaws((store) => lancedbIndex({ folder: join(root, store) }))) test(title, run)
})
