import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createUsageLimits, migrateServer } from '@inlay/server'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

test('documents that a process took in just before it is closed count for the others', async () => {
  const db = new Kysely<Parameters<typeof createUsageLimits>[0]['db'] extends Kysely<infer Tables> ? Tables : never>({
    dialect: nodeSqlite({ file: ':memory:' }),
  })
  onTestFinished(() => db.destroy())
  await migrateServer(db)
  const limits = () => createUsageLimits({ db, now: Date.now, onError: (error) => expect.unreachable(String(error)) })
  const [closed, other] = [limits(), limits()]
  const [ann, key] = [{ scope: 'caller', owner: 'ann' } as const, { scope: 'key', owner: '7' } as const]
  for (const id of ['a', 'b', 'a']) closed.waiting.add(ann, id)
  closed.waiting.add(key, 'a')
  expect([await other.waiting.count(ann), await other.waiting.count(key)]).toEqual([0, 0])
  await closed.close()
  expect([await other.waiting.count(ann), await other.waiting.count(key)]).toEqual([2, 1])
  // Both took in the same document.
  other.waiting.add(ann, 'b')
  await other.close()
  expect(await other.waiting.count(ann)).toBe(2)
  await other.waiting.remove(ann, ['a'])
  expect(await other.waiting.list(ann, { from: 0, most: 9 })).toEqual(['b'])
  await other.erase('ann')
  expect([await other.waiting.count(ann), await other.waiting.count(key)]).toEqual([0, 1])
})
