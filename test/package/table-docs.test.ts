import { readFileSync } from 'node:fs'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { copiedTables, type AnyDatabase } from '@inlay/records'
import { migrateAll } from 'inlay/internal/parts/open-tables'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

test('the docs say of each table what ends the time of its rows', async () => {
  const db: AnyDatabase = new Kysely({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await migrateAll(db, 'expand')
  const tables = await copiedTables(db, (name) => !/_migration$|_(words|names_index)(_|$)/.test(name))
  const text = readFileSync('docs/1.guide/14.operations.md', 'utf8')
  const rows = text.split('## What is kept, and for how long')[1]!.split('\n## ')[0]!
  const names = [...rows.matchAll(/`([a-z_]+)`/g)].map(([, name]) => `inlay_${name}`)
  expect(tables.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([])
})
