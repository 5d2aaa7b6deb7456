import { createSearchGate } from '@inlay/knowledge/internal/search/concurrent-searches'
import { yieldToEventLoop } from '@inlay/scheduling'
import { expect, test } from 'vitest'
import { createStore, memoryIndex } from '../memory-index.ts'
import { makeRecords, request, startKnowledge } from '../setup.ts'

interface Task {
  readonly done: Promise<string>
  end(): void
}

const gate = createSearchGate({ limit: 2, limitPerCaller: 5 })
const begun: string[] = []

function enter(caller: string | undefined, name: string, signal?: AbortSignal, of = gate): Task {
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async (): Promise<string> => {
    begun.push(name)
    await promise
    return name
  }
  const done = of.run(caller, work, signal)
  done.catch(() => {})
  return { done, end: resolve }
}

test('callers take turns, whoever of them came with more', async () => {
  const flood = Array.from({ length: 5 }, (_, at) => enter('ana', `ana ${at}`))
  const other = [enter('ben', 'ben 0'), enter('ben', 'ben 1')]
  await yieldToEventLoop()
  expect(begun).toEqual(['ana 0', 'ana 1'])
  for (const task of [...flood, ...other]) task.end()
  await Promise.all([...flood, ...other].map(({ done }) => done))
  expect(begun.slice(2)).toEqual(['ben 0', 'ana 2', 'ben 1', 'ana 3', 'ana 4'])
})

test('a caller beyond its share is refused, others and the host are not', async () => {
  const tasks = Array.from({ length: 5 }, (_, at) => enter('ana', `ana ${at}`))
  await expect(enter('ana', 'too many').done).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    data: { retryAfterSeconds: 1 },
  })
  const others = [enter('ben', 'ben'), ...Array.from({ length: 9 }, (_, at) => enter(undefined, `host ${at}`))]
  for (const task of [...tasks, ...others]) task.end()
  await Promise.all([...tasks, ...others].map(({ done }) => done))
  const next = enter('ana', 'again')
  next.end()
  expect(await next.done).toBe('again')
})

test('assistants of one process take turns, whichever of them is searched more', async () => {
  const limits = { limit: 3, limitPerCaller: 9 }
  const [flooded, quiet] = [createSearchGate(limits), createSearchGate(limits)]
  begun.length = 0
  const flood = Array.from({ length: 6 }, (_, at) => enter('ana', `flood ${at}`, undefined, flooded))
  const search = enter('ana', 'quiet', undefined, quiet)
  await yieldToEventLoop()
  expect(begun).toEqual(['flood 0', 'flood 1', 'flood 2'])
  for (const task of flood.slice(0, 3)) task.end()
  await Promise.all(flood.slice(0, 3).map(({ done }) => done))
  await expect.poll(() => begun.slice(3)).toEqual(['quiet', 'flood 3'])
  for (const task of [...flood, search]) task.end()
  await Promise.all([...flood, search].map(({ done }) => done))
})

test('an assistant whose engine does not answer holds no turn of the others', async () => {
  const limits = { limit: 4, limitPerCaller: 9 }
  const [frozen, quiet] = [createSearchGate(limits), createSearchGate(limits)]
  const stuck = Array.from({ length: 4 }, (_, at) => enter(`caller ${at}`, `stuck ${at}`, undefined, frozen))
  const search = enter('ana', 'quiet', undefined, quiet)
  search.end()
  expect(await search.done).toBe('quiet')
  for (const task of stuck) task.end()
})

test('one or two searches of a caller are awaited, more are a flood', async () => {
  expect(gate.isAwaited()).toBe(false)
  const flood = Array.from({ length: 3 }, (_, at) => enter('ana', `flood ${at}`))
  expect(gate.isAwaited()).toBe(false)
  const person = enter('ben', 'person')
  expect(gate.isAwaited()).toBe(true)
  for (const task of [...flood, person]) task.end()
  await Promise.all([...flood, person].map(({ done }) => done))
  expect(gate.isAwaited()).toBe(false)
})

test('a search whose caller left never begins', async () => {
  const running = [enter('ana', 'a'), enter('ana', 'b')]
  const leaving = new AbortController()
  const left = enter('ana', 'left', leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(left.done).rejects.toThrow('gone')
  for (const task of running) task.end()
  await Promise.all(running.map(({ done }) => done))
  expect(begun).not.toContain('left')
})

test('searches that were abandoned hold up nobody', async () => {
  let [searches, most, running] = [0, 0, 0]
  const inner = memoryIndex(createStore())
  const index = {
    ...inner,
    search: async (...query: Parameters<typeof inner.search>) => {
      searches++
      most = Math.max(most, ++running)
      await yieldToEventLoop()
      running--
      return inner.search(...query)
    },
  }
  const { knowledge } = await startKnowledge({
    db: await makeRecords(),
    index,
    searches: { limit: 5, limitPerCaller: 200 },
  })
  await knowledge.accept(request({ text: 'heron' }), { waitMs: 60_000 })
  const leaving = new AbortController()
  const caller = { id: 'ana', scopes: ['search'] as const }
  const abandoned = Array.from({ length: 100 }, () =>
    knowledge.search({ text: 'heron', limit: 1, caller, signal: leaving.signal }).catch(() => 'abandoned'),
  )
  await yieldToEventLoop()
  leaving.abort()
  expect(await knowledge.search({ text: 'heron', limit: 1, caller })).toHaveLength(1)
  expect(new Set(await Promise.all(abandoned))).toContain('abandoned')
  expect(most).toBe(5)
  expect(searches).toBeLessThan(20)
})
