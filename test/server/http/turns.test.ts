import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { aDocument, setup } from '../fakes.ts'

const document = aDocument('a', 'some words')
const share = Math.max(4, 2 * availableParallelism())

/** A server whose documents are accepted when told to; counts what is being accepted. */
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
