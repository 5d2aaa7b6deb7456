import { InlayError } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { createGroupCommit, type GroupCommit } from '@inlay/records'

/** A commit that answers each number with itself, and keeps the groups it got. */
function make(options: { limit?: number; maxWeight?: number; fail?: (group: readonly number[]) => void } = {}): {
  group: GroupCommit<number, number>
  groups: (readonly number[])[]
} {
  const groups: (readonly number[])[] = []
  const group = createGroupCommit<number, number>({
    commit: async (tasks) => {
      groups.push(tasks)
      options.fail?.(tasks)
      return tasks.map((value) => (value < 0 ? { error: new Error(`refused ${value}`) } : { value }))
    },
    weight: (task) => task,
    maxWeight: options.maxWeight ?? 1e9,
    limit: options.limit ?? 100,
  })
  return { group, groups }
}

test('tasks that come together share a commit, in their order', async () => {
  const { group, groups } = make()
  expect(await Promise.all([3, 1, 2].map((task) => group.submit(task)))).toEqual([3, 1, 2])
  expect(groups).toEqual([[3, 1, 2]])
})

test('groups are bounded by count and by weight; a heavy task goes alone', async () => {
  const byCount = make({ limit: 2 })
  await Promise.all([1, 2, 3].map((task) => byCount.group.submit(task)))
  expect(byCount.groups).toEqual([[1, 2], [3]])
  const byWeight = make({ maxWeight: 10 })
  await Promise.all([4, 5, 50, 1].map((task) => byWeight.group.submit(task)))
  expect(byWeight.groups).toEqual([[4, 5], [50], [1]])
})

test('a refused task fails alone', async () => {
  const { group, groups } = make()
  const results = await Promise.allSettled([1, -2, 3].map((task) => group.submit(task)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(groups).toHaveLength(1)
})

test('a task the database chokes on fails alone', async () => {
  const { group } = make({
    fail: (tasks) => {
      if (tasks.includes(7)) throw new Error('constraint')
    },
  })
  const results = await Promise.allSettled([1, 7, 3].map((task) => group.submit(task)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a database that is down fails all at once', async () => {
  const { group, groups } = make({
    fail: () => {
      throw new InlayError('SERVICE_UNAVAILABLE')
    },
  })
  const results = await Promise.allSettled([1, 2, 3].map((task) => group.submit(task)))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(groups).toHaveLength(1)
})

test('drained waits for everything submitted before', async () => {
  const { group, groups } = make({ limit: 1 })
  const tasks = [1, 2, 3].map((task) => group.submit(task))
  await group.drained()
  expect(groups).toHaveLength(3)
  await Promise.all(tasks)
  await group.drained()
})
