import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { dialectConformance } from '@inlay/conformance'
import { afterAll, describe, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'inlay-dialects-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

describe('node:sqlite', () => {
  for (const [title, run] of dialectConformance(() => nodeSqlite({ file: join(root, 'records.db') }))) test(title, run)
})
