import { expect, test } from 'vitest'
import { createRunLog } from '@inlay/agent/internal/run/run-log'

const roomy = { maxBytes: 1_000_000 }

async function collect(reading: AsyncIterable<readonly { sequence: number; json: string }[]>): Promise<string[]> {
  const seen: string[] = []
  for await (const entries of reading) seen.push(...entries.map(({ sequence, json }) => `${sequence}${json}`))
  return seen
}

test('any number of readers get every line, those that come late and those that wait alike', async () => {
  const log = createRunLog(roomy)
  const early = collect(log.read(0))
  log.append('a')
  await Promise.resolve()
  log.append('b')
  const late = collect(log.read(0))
  const fromOne = collect(log.read(1))
  log.append('c')
  log.end()
  expect(await Promise.all([early, late, fromOne])).toEqual([
    ['1a', '2b', '3c'],
    ['1a', '2b', '3c'],
    ['2b', '3c'],
  ])
  expect(await collect(log.read(3))).toEqual([])
})

test('lines that are ready come in one step', async () => {
  const log = createRunLog(roomy)
  log.append('a')
  log.append('b')
  const reader = log.read(0)[Symbol.asyncIterator]()
  expect((await reader.next()).value).toHaveLength(2)
})

test('a cursor beyond the end waits for lines above it', async () => {
  const log = createRunLog(roomy)
  const reading = collect(log.read(2))
  for (const line of ['a', 'b', 'c']) log.append(line)
  log.end()
  expect(await reading).toEqual(['3c'])
})

test('of a run of another process, who has read lines that were lost with that is told of the end', async () => {
  const log = createRunLog({ ...roomy, repeatsEnd: true })
  const reading = collect(log.read(5))
  for (const line of ['{"obj":1}', '{"error":2}']) log.append(line)
  log.end()
  expect(await reading).toEqual(['6{"error":2}'])
  // Its second line was another one.
  expect(await collect(log.read(2))).toEqual(['3{"error":2}'])
  expect(await collect(log.read(1))).toEqual(['2{"error":2}'])
})

test('a reader leaves by its signal or by itself, and the log goes on', async () => {
  const log = createRunLog(roomy)
  const controller = new AbortController()
  const aborted = collect(log.read(0, controller.signal))
  const reader = log.read(0)[Symbol.asyncIterator]()
  const waiting = reader.next()
  await reader.return?.()
  expect((await waiting).done).toBe(true)
  controller.abort()
  expect(await aborted).toEqual([])
  log.append('a')
  log.end()
  expect(await collect(log.read(0))).toEqual(['1a'])
})

test('above its limit the oldest lines go; a reader that has not read them ends, a quick one does not', async () => {
  const log = createRunLog({ maxBytes: 10_000 })
  const quick = log.read(0)[Symbol.asyncIterator]()
  let seen = 0
  for (let line = 0; line < 5_000; line++) {
    log.append('x'.repeat(52))
    seen += (await quick.next()).value?.length ?? 0
  }
  expect(seen).toBe(5_000)
  expect(log.bytes).toBeLessThanOrEqual(10_000)
  expect(log.first).toBeGreaterThan(4_000)
  log.end()
  expect(await collect(log.read(10))).toEqual([])
  expect(await collect(log.read(log.first - 1))).toHaveLength(log.last - log.first + 1)
})

test('nothing is written after the end', () => {
  const log = createRunLog(roomy)
  log.append('a')
  log.end()
  log.append('b')
  expect(log.last).toBe(1)
})
