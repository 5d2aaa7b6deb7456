import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { migrateServer, type KeyTable } from '@inlay/server'
import { insertKey } from '@inlay/server/internal/auth/key-records'
import { createKeyWatches } from '@inlay/server/internal/auth/key-watches'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

/** Watches of keys, by `add` of one that is unknown; returns the watches that were ended. */
async function newWatches() {
  const db = new Kysely<KeyTable>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateServer(db)
  onTestFinished(() => db.destroy())
  const watches = createKeyWatches(db, () => false)
  const ended: string[] = []
  const add = (name: string, signal: AbortSignal): void =>
    watches.add({ hash: 'unknown', scopes: ['chat'] }, () => ended.push(name), signal)
  return { db, watches, ended, add }
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

test.each([1, 2])('of the streams of %i keys end only those whose key was revoked', async (count) => {
  const { watches, ended, db } = await newWatches()
  for (const hash of ['lost', 'kept'].slice(0, count)) {
    const unset = {
      name: null,
      email: null,
      stream_format: null,
      last_used_at: null,
      revoked_at: null,
      expires_at: null,
    }
    const key = {
      ...unset,
      hash,
      display: hash,
      owner: 'o',
      scopes: '["chat"]',
      groups: '[]',
      created_at: 0,
      limits: null,
    }
    await insertKey(db, key)
    watches.add({ hash, scopes: ['chat'] }, () => ended.push(hash), new AbortController().signal)
  }
  await watches.check()
  expect(ended).toEqual([])
  await db.updateTable('inlay_api_key').set({ revoked_at: 1 }).where('hash', '=', 'lost').execute()
  await watches.check()
  expect(ended).toEqual(['lost'])
})
