import { afterEach, expect, test, vi } from 'vitest'
import { newGate } from '../../gate.ts'
import { ana, arriving, incoming, memoryIndex, newFiles, type FileSetting, type MemoryIndex } from './setting.ts'

afterEach(() => void vi.useRealTimers())

/** An index whose `put` does what a test wants before it takes a file. */
function hookedIndex(before: (id: string) => unknown): MemoryIndex & { readonly puts: string[] } {
  const inner = memoryIndex()
  const puts: string[] = []
  return {
    ...inner,
    puts,
    put: async (file) => {
      puts.push(file.id)
      await before(file.id)
      await inner.put(file)
    },
  }
}

/** Files that are read already; none is wanted in the index yet. */
async function uploaded(setting: FileSetting, count = 1): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => incoming(`${at}.txt`, `Heron ${at}.`))
  const { files } = await setting.files.upload(arriving(...names), { caller: ana })
  await setting.files.worker.whenIdle()
  return files.map(({ id }) => id)
}

const rowsOf = ({ db }: FileSetting): Promise<object[]> =>
  db.selectFrom('inlay_files').select(['id', 'work', 'claim', 'attempts']).orderBy('id').execute()

/** The work of one file as a process left it. */
const leave = (
  { db }: FileSetting,
  row: Partial<Record<'work' | 'claim', string> & { due_at: number; attempts: number }>,
) =>
  db
    .updateTable('inlay_files')
    .set(row as object)
    .execute()

test('a file that one process works on is not taken by another, as long as the first shows signs of life', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const gate = newGate()
  const index = hookedIndex(gate.pass)
  const [first, second] = [setting.again({ index }), setting.again({ index })]
  await first.wantIndexed([id!])
  await gate.reached
  // Three times as long as the lease.
  for (let step = 0; step < 4; step++) {
    setting.clock.time += 15_000
    const dueBefore = await setting.db.selectFrom('inlay_files').select('due_at').executeTakeFirstOrThrow()
    vi.advanceTimersByTime(5_000)
    await vi.waitFor(async () =>
      expect(await setting.db.selectFrom('inlay_files').select('due_at').executeTakeFirst()).not.toEqual(dueBefore),
    )
    second.worker.notify()
    await second.worker.whenIdle()
  }
  expect(index.puts).toEqual([id])
  gate.open()
  await first.worker.whenIdle()
  expect(await rowsOf(setting)).toEqual([{ id, work: null, claim: null, attempts: 0 }])
  await Promise.all([first.close(), second.close()])
})

test('a process that has lost a file to another one stops its own attempt', async () => {
  const setting = await newFiles()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const begun = Promise.withResolvers<void>()
  const reader = (): Promise<never> => {
    begun.resolve()
    return new Promise(() => {})
  }
  const files = setting.again({ reader, waitMs: 0 })
  await files.upload(arriving(incoming('heron.txt', 'A heron.')), { caller: ana })
  await begun.promise
  const taken = { claim: 'of another', due_at: setting.clock.time + 20_000 }
  await leave(setting, taken)
  vi.advanceTimersByTime(5_000)
  await files.worker.whenIdle()
  expect(await rowsOf(setting)).toEqual([expect.objectContaining({ work: 'read', claim: 'of another', attempts: 1 })])
  expect(setting.errors).toEqual([])
})

test.each(['is done', 'fails'])(
  'a process whose lease ran out changes nothing of what another has taken over, when its own attempt %s',
  async (ending) => {
    const setting = await newFiles()
    const [id] = await uploaded(setting)
    const gates = [newGate(), newGate()]
    let call = 0
    const index = hookedIndex(async () => {
      const at = call++
      await gates[at]!.pass()
      if (at === 0 && ending === 'fails') throw new Error('too late')
    })
    const [late, present] = [setting.again({ index }), setting.again({ index })]
    await late.wantIndexed([id!])
    await gates[0]!.reached
    setting.clock.time += 20_001
    present.worker.notify()
    await gates[1]!.reached
    const [held] = await rowsOf(setting)
    gates[0]!.open()
    await late.worker.whenIdle()
    expect(await rowsOf(setting)).toEqual([held])
    gates[1]!.open()
    await present.worker.whenIdle()
    expect([...index.held.keys()]).toEqual([id])
    expect(await rowsOf(setting)).toEqual([{ id, work: null, claim: null, attempts: 0 }])
  },
)

test('what a killed process held is taken once its lease is over, not before', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  await leave(setting, { work: 'index', claim: 'of the killed', due_at: setting.clock.time + 20_000, attempts: 1 })
  const look = async (): Promise<string[]> => {
    setting.files.worker.notify()
    await setting.files.worker.whenIdle()
    return [...setting.index.held.keys()]
  }
  expect(await look()).toEqual([])
  setting.clock.time += 19_999
  expect(await look()).toEqual([])
  setting.clock.time += 1
  expect(await look()).toEqual([id])
})

test('work that fails is told and tried again, after ever longer', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  let fails = true
  const index = hookedIndex(() => {
    if (fails) throw new Error('full')
  })
  const files = setting.again({ index })
  await files.wantIndexed([id!])
  await files.worker.whenIdle()
  const tries: number[] = [index.puts.length]
  for (const delayMs of [7_999, 1, 31_999, 1]) {
    setting.clock.time += delayMs
    files.worker.notify()
    await files.worker.whenIdle()
    tries.push(index.puts.length)
  }
  expect(tries).toEqual([1, 1, 2, 2, 3])
  expect(setting.errors).toHaveLength(3)
  fails = false
  setting.clock.time += 3_600_000
  files.worker.notify()
  await files.worker.whenIdle()
  expect([...index.held.keys()]).toEqual([id])
  expect(await rowsOf(setting)).toEqual([{ id, work: null, claim: null, attempts: 0 }])
  await files.close()
})

test('work that ended its process each time is given up and told; a removal goes on', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  await leave(setting, { work: 'index', claim: 'of the killed', due_at: setting.clock.time, attempts: 6 })
  setting.files.worker.notify()
  await setting.files.worker.whenIdle()
  expect([...setting.index.held.keys()]).toEqual([])
  expect(setting.errors).toMatchObject([{ message: expect.stringContaining('ended each time') }])
  expect(await rowsOf(setting)).toMatchObject([{ id, work: null, claim: null }])
  await leave(setting, { work: 'remove', due_at: setting.clock.time, attempts: 50 })
  setting.files.worker.notify()
  await setting.files.worker.whenIdle()
  expect(await rowsOf(setting)).toEqual([])
})

test('the last try of such work is still made', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  await leave(setting, { work: 'index', claim: 'of the killed', due_at: setting.clock.time, attempts: 5 })
  setting.files.worker.notify()
  await setting.files.worker.whenIdle()
  expect([...setting.index.held.keys()]).toEqual([id])
})

test('closing waits for the file under way and leaves the others to the next process', async () => {
  const setting = await newFiles()
  const ids = await uploaded(setting, 3)
  const gate = newGate()
  const index = hookedIndex(gate.pass)
  const files = setting.again({ index })
  await files.wantIndexed(ids)
  await gate.reached
  let isClosed = false
  const closed = files.close().then(() => (isClosed = true))
  // Gives the database enough time to settle the job.
  await rowsOf(setting)
  await rowsOf(setting)
  expect(isClosed).toBe(false)
  gate.open()
  await closed
  expect([...index.held.keys()]).toEqual(index.puts)
  expect(index.puts).toHaveLength(1)
  const done = { work: null, claim: null }
  const left = { work: 'index', claim: null }
  expect(await rowsOf(setting)).toMatchObject(ids.toSorted().map((id) => (id === index.puts[0] ? done : left)))
  const next = setting.again()
  next.worker.notify()
  await next.worker.whenIdle()
  expect([...index.held.keys(), ...setting.index.held.keys()].toSorted()).toEqual(ids.toSorted())
})

/** Files one of which is being put into an index that fails once the test says so. */
async function failing() {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  const gate = newGate()
  const index = hookedIndex(async () => {
    await gate.pass()
    throw new Error('full')
  })
  const files = setting.again({ index })
  await files.wantIndexed([id!])
  await gate.reached
  return { setting, id: id!, files, fail: gate.open }
}

test('a try that ends with the process does not count', async () => {
  const { setting, id, files, fail } = await failing()
  const closed = files.close()
  fail()
  await closed
  expect(await rowsOf(setting)).toEqual([{ id, work: 'index', claim: null, attempts: 0 }])
  expect(setting.errors).toEqual([])
})

test('a file that is removed during a try that fails goes at once, not after the wait of that try', async () => {
  const { setting, id, files, fail } = await failing()
  await setting.files.remove(id, ana)
  fail()
  await files.worker.whenIdle()
  await setting.files.worker.whenIdle()
  expect(await rowsOf(setting)).toEqual([])
})

test('a file that is done is not renewed any more', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  await setting.files.wantIndexed([id!])
  await setting.files.worker.whenIdle()
  expect([...setting.index.held.keys()]).toEqual([id])
  expect(vi.getTimerCount()).toBe(0)
})

test('beside work that is put off for long, what another process leaves is found within a minute', async () => {
  const setting = await newFiles()
  const [id] = await uploaded(setting)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await leave(setting, { work: 'index', due_at: setting.clock.time + 3_600_000, attempts: 1 })
  setting.files.worker.notify()
  await setting.files.worker.whenIdle()
  await leave(setting, { due_at: setting.clock.time })
  vi.advanceTimersByTime(60_000)
  await setting.files.worker.whenIdle()
  expect([...setting.index.held.keys()]).toEqual([id])
})
