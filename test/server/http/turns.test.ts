import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { aDocument, setup } from '../fakes.ts'

const document = aDocument('a', 'some words')
const share = Math.max(4, 2 * availableParallelism())

/** A server that accepts documents on command, and counts those being accepted. */
function flooded(): {
  readonly post: (key: string, signal?: AbortSignal) => ReturnType<ReturnType<typeof setup>['ask']>
  readonly begun: () => number
  readonly failures: readonly unknown[]
  readonly accept: () => void
  readonly passTime: () => void
} {
  const timers = new Set<() => void>()
  const failures: unknown[] = []
  const { ask, knowledge } = setup({
    onError: (error) => failures.push(error),
    timer: (_, callback) => {
      timers.add(callback)
      return () => timers.delete(callback)
    },
  })
  const gate = Promise.withResolvers<void>()
  const accept = knowledge.accept
  let begun = 0
  knowledge.accept = async (...call) => {
    begun++
    await gate.promise
    return accept(...call)
  }
  return {
    post: (key, signal) => ask('/service-api/ingestion', { json: document, key, ...(signal && { signal }) }),
    begun: () => begun,
    failures,
    accept: gate.resolve,
    passTime: () => timers.forEach((callback) => callback()),
  }
}

async function soon(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('beside another caller, a flood begins a few calls at a time, and all are answered', async () => {
  const { post, begun, accept } = flooded()
  const calls = [post('key-operator'), ...Array.from({ length: 3 * share }, () => post('key-importer'))]
  await soon()
  expect(begun()).toBe(1 + share)
  calls.push(post('key-operator'))
  await soon()
  expect(begun()).toBe(2 + share)
  accept()
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses).toEqual(calls.map(() => 200))
})

/** A server whose lists of documents are held; counts those that are being read. */
function reading() {
  const { ask, knowledge } = setup()
  const gate = Promise.withResolvers<void>()
  const list = knowledge.list
  let [begun, most] = [0, 0]
  const callers: string[] = []
  knowledge.list = async (query) => {
    most = Math.max(most, ++begun)
    await gate.promise
    begun--
    return list(query)
  }
  const read = async (key: string, signal?: AbortSignal) => {
    const response = await ask('/service-api/ingestion?limit=1000', { key, ...(signal && { signal }) })
    callers.push(key)
    return response.status
  }
  return { ask, read, begun: () => begun, most: () => most, callers, open: gate.resolve }
}

test('beside another caller, a flood of reads is under way two at a time, however long each takes', async () => {
  const { read, begun, callers, open } = reading()
  const calls = [read('key-operator'), ...Array.from({ length: 20 }, () => read('key-importer'))]
  await soon()
  expect(begun()).toBe(3)
  calls.push(read('key-operator'))
  await soon()
  expect(begun()).toBe(4)
  open()
  expect(await Promise.all(calls)).toEqual(calls.map(() => 200))
  expect(callers.slice(0, 4).filter((key) => key === 'key-operator')).toHaveLength(2)
})

test('the event loop turns between the reads of a flood, so that calls of others come in', async () => {
  const { ask, knowledge } = setup()
  const list = knowledge.list
  let turn = 0
  const readsByTurn = new Map<number, number>()
  knowledge.list = async (query) => {
    readsByTurn.set(turn, (readsByTurn.get(turn) ?? 0) + 1)
    return list(query)
  }
  let isOver = false
  const countTurns = (): void => {
    turn++
    if (!isOver) setImmediate(countTurns)
  }
  countTurns()
  const read = async (key: string) => (await ask('/service-api/ingestion?limit=1000', { key })).status
  const calls = [read('key-operator'), ...Array.from({ length: 20 }, () => read('key-importer'))]
  expect(await Promise.all(calls)).toEqual(calls.map(() => 200))
  isOver = true
  expect(Math.max(...readsByTurn.values())).toBeLessThanOrEqual(3)
})

test('a read that is left while it waits takes no turn', async () => {
  const { read, begun, open } = reading()
  const left = new AbortController()
  const calls = [read('key-operator'), read('key-importer'), read('key-importer')]
  const waiting = Array.from({ length: 5 }, () => read('key-importer', left.signal))
  await soon()
  left.abort()
  await soon()
  expect(begun()).toBe(3)
  open()
  expect(await Promise.all(calls)).toEqual([200, 200, 200])
  await Promise.all(waiting)
  // Alone again, the caller yields to nobody.
  let [turns, isOver] = [0, false]
  const countTurns = (): void => {
    turns++
    if (!isOver) setImmediate(countTurns)
  }
  countTurns()
  expect(await read('key-importer')).toBe(200)
  isOver = true
  expect(turns).toBeLessThan(8)
})

test('calls that take long make room for others of the same caller', async () => {
  const { post, begun, accept, passTime } = flooded()
  const calls = [post('key-operator'), ...Array.from({ length: 2 * share }, () => post('key-importer'))]
  await soon()
  expect(begun()).toBe(1 + share)
  passTime()
  await soon()
  expect(begun()).toBe(1 + 2 * share)
  accept()
  await Promise.all(calls)
})

test('somebody alone is not held up', async () => {
  const { post, begun, accept } = flooded()
  const calls = Array.from({ length: 3 * share }, () => post('key-importer'))
  await soon()
  expect(begun()).toBe(3 * share)
  accept()
  await Promise.all(calls)
})

test('whoever leaves while waiting is no failure and takes no turn', async () => {
  const { post, begun, accept, failures } = flooded()
  const leaving = new AbortController()
  const calls = [post('key-operator'), ...Array.from({ length: share }, () => post('key-importer'))]
  await soon()
  const left = Array.from({ length: 9 }, () => post('key-importer', leaving.signal))
  await soon()
  leaving.abort(new Error('aborted'))
  expect((await Promise.all(left)).map(({ status }) => status)).toEqual(left.map(() => 400))
  accept()
  await Promise.all(calls)
  expect(begun()).toBe(1 + share)
  expect(failures).toEqual([])
})

test('whoever leaves calls as soon as they begin does not have more of them begun', async () => {
  const { post, begun, accept, passTime } = flooded()
  const leaving = new AbortController()
  const calls = [post('key-operator'), ...Array.from({ length: share }, () => post('key-importer', leaving.signal))]
  await soon()
  calls.push(...Array.from({ length: share }, () => post('key-importer')))
  leaving.abort(new Error('aborted'))
  accept()
  await soon()
  expect(begun()).toBe(1 + share)
  passTime()
  await soon()
  expect(begun()).toBe(1 + 2 * share)
  await Promise.all(calls)
})

test('of many messages at once a few are sent in each pass of the event loop, in their order', async () => {
  const { ask, agent } = setup()
  const send = agent.send.bind(agent)
  const sent: { message: string; pass: number }[] = []
  let pass = 0
  const count = (): void => {
    pass++
    if (sent.length < 40) setImmediate(count)
  }
  setImmediate(count)
  agent.send = async (...call) => {
    sent.push({ message: call[0].message, pass })
    return send(...call)
  }
  const messages = Array.from({ length: 40 }, (_, at) => `${at}`)
  await Promise.all(messages.map((message) => ask('/chat/send-chat-message', { json: { message, stream: false } })))
  expect(sent.map(({ message }) => message)).toEqual(messages)
  const together = Map.groupBy(sent, (each) => each.pass)
  expect(Math.max(...[...together.values()].map(({ length }) => length))).toBeLessThanOrEqual(8)
})
