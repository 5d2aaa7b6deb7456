import { execFile } from 'node:child_process'
import { closeWhenFree } from '@inlay/drivers/internal/lancedb/engine'
import { expect, test, vi } from 'vitest'

const script = `
  import { loadEngine } from '@inlay/drivers/internal/lancedb/engine'
  await loadEngine()
  const { LANCE_CPU_THREADS, TOKIO_WORKER_THREADS, LANCE_FLAT_SEARCH_PERCENT_THRESHOLD } = process.env
  const all = [LANCE_CPU_THREADS, TOKIO_WORKER_THREADS, LANCE_FLAT_SEARCH_PERCENT_THRESHOLD]
  console.log(JSON.stringify(all.map(Number)))
  process.exit()
`

/**
 * Settings of the engine in a separate process: threads for computing, threads that run its tasks, and the percentage of
 * rows up to which it scores every row that passes a filter.
 */
async function settings(env: Record<string, string>): Promise<readonly number[]> {
  const {
    LANCE_CPU_THREADS: _,
    TOKIO_WORKER_THREADS: __,
    LANCE_FLAT_SEARCH_PERCENT_THRESHOLD: ___,
    ...own
  } = process.env
  const words = ['--conditions=@inlay/source', '--input-type=module', '-e', script]
  const options = { env: { ...own, ...env }, cwd: import.meta.dirname }
  return new Promise((resolve, reject) =>
    execFile(process.execPath, words, options, (error, out) => (error ? reject(error) : resolve(JSON.parse(out)))),
  )
}

test('searches need not wait for the one thread that a fold computes on', async () => {
  const [computing, tasks] = await settings({})
  expect(computing).toBeGreaterThanOrEqual(4)
  expect(tasks).toBeGreaterThanOrEqual(8)
})

test('a filter of one row in twenty does not have each of its rows scored', async () => {
  const [, , percentage] = await settings({})
  expect(percentage).toBeLessThan(5)
})

test('what an operator set stays', async () => {
  const env = { LANCE_CPU_THREADS: '2', TOKIO_WORKER_THREADS: '3', LANCE_FLAT_SEARCH_PERCENT_THRESHOLD: '7' }
  expect(await settings(env)).toEqual([2, 3, 7])
})

test('a table that a call still holds is closed once it is free', async () => {
  let held = 2
  const close = vi.fn<() => void>(() => {
    if (held-- > 0) throw new Error('The same native value cannot be borrowed mutably while another borrow is active')
  })
  await closeWhenFree({ close })
  expect(close).toHaveBeenCalledTimes(3)
  const broken = (): void => {
    throw new Error('gone')
  }
  await expect(closeWhenFree({ close: broken })).rejects.toThrow('gone')
})
