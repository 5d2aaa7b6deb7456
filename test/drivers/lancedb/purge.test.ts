import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { afterAll, expect, it } from 'vitest'
import { row } from './sample-rows.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-purge-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

const isOnDisk = (folder: string, text: string): boolean =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).some(
    (entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text),
  )

const secret = 'quokkasecret'
const rows = Array.from({ length: 60 }, (_, n) => row(`d${n}`, n === 7 ? `The ${secret} lies here.` : `Heron ${n}.`))

it('takes the text of removed rows off the disk once they have aged, also after a restart', async () => {
  const folder = join(root, 'aged')
  const open = async () => {
    const index = lancedbIndex({ folder, keepVersionsMs: 0, purgeMs: 60_000 })
    await index.open()
    return index
  }
  const first = await open()
  await first.append(rows)
  await first.maintain({ idle: true })
  await first.remove(['generation of d7'])
  const { upkeepDueMs } = await first.maintain({ idle: true })
  expect(upkeepDueMs).toBeGreaterThan(50_000)
  expect(upkeepDueMs).toBeLessThanOrEqual(60_000)
  expect(isOnDisk(folder, secret)).toBe(true)
  await first.close()

  const longAgo = new Date(Date.now() - 61_000)
  utimesSync(join(folder, 'deleted-since'), longAgo, longAgo)
  const second = await open()
  await second.append([row('new', 'A heron lands.')])
  await second.maintain({ idle: true })
  // The next round removes what the purge left behind, once its version has aged.
  const figures = await second.maintain({ idle: true })
  expect(isOnDisk(folder, secret)).toBe(false)
  expect(figures).toMatchObject({ rows: 60, unindexedRows: 0 })
  expect((await second.search({ text: 'heron', limit: 100 })).length).toBe(60)
  expect(await second.search({ text: secret, limit: 5 })).toEqual([])
  await second.close()
})

it('leaves nothing out of a search that runs meanwhile', async () => {
  const index = lancedbIndex({ folder: join(root, 'meanwhile'), keepVersionsMs: 0, purgeMs: 0 })
  await index.open()
  await index.append(rows)
  await index.remove(['generation of d7'])
  let isOver = false
  const purging = index.maintain({ idle: true }).finally(() => (isOver = true))
  while (!isOver) expect((await index.search({ text: 'heron', limit: 100 })).length).toBe(59)
  await purging
  await index.close()
})

it('has nothing to do where nothing was removed', async () => {
  const index = lancedbIndex({ folder: join(root, 'nothing'), purgeMs: 0 })
  await index.open()
  await index.append(rows)
  expect((await index.maintain({ idle: true })).upkeepDueMs).toBeUndefined()
  await index.close()
})
