import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { migrateServer, type KeyTable } from '@inlay/server'
import { createKeyWatches } from '@inlay/server/internal/auth/key-watches'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

/** Watches of a key that is unknown; returns the watches that it ended. */
async function newWatches() {
  const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(db)
  onTestFinished(() => db.destroy())
  const watches = createKeyWatches(db, () => false)
  const ended: string[] = []
  const add = (name: string, signal: AbortSignal): void =>
    watches.add({ hash: 'unknown', scopes: ['chat'] }, () => ended.push(name), signal)
  return { watches, ended, add }
}

test('a stream that was left is not told of its key any more', async () => {
  const { watches, ended, add } = await newWatches()
  const left = new AbortController()
  add('left', left.signal)
  add('open', new AbortController().signal)
  left.abort()
  await watches.check()
  expect(ended).toEqual(['open'])
})

test('a stream that was left before it is watched is never watched', async () => {
  const { watches, ended, add } = await newWatches()
  add('left', AbortSignal.abort())
  await watches.check()
  expect(ended).toEqual([])
})
