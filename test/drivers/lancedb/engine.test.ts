import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

const script = `
  import { loadEngine } from '@inlay/drivers/internal/lancedb/engine'
  await loadEngine()
  const { LANCE_CPU_THREADS, TOKIO_WORKER_THREADS } = process.env
  console.log(JSON.stringify([LANCE_CPU_THREADS, TOKIO_WORKER_THREADS].map(Number)))
  process.exit()
`

/** Threads that the engine is told to use, in a process of its own: those for computing, and those that run its tasks. */
async function threads(env: Record<string, string>): Promise<readonly number[]> {
  const { LANCE_CPU_THREADS: _, TOKIO_WORKER_THREADS: __, ...own } = process.env
  const words = ['--conditions=@inlay/source', '--input-type=module', '-e', script]
  const options = { env: { ...own, ...env }, cwd: import.meta.dirname }
  return new Promise((resolve, reject) =>
    execFile(process.execPath, words, options, (error, out) => (error ? reject(error) : resolve(JSON.parse(out)))),
  )
}

test('searches need not wait for the one thread that a fold computes on', async () => {
  const [computing, tasks] = await threads({})
  expect(computing).toBeGreaterThanOrEqual(4)
  expect(tasks).toBeGreaterThanOrEqual(8)
}, 60_000)

test('threads that an operator set stay', async () => {
  expect(await threads({ LANCE_CPU_THREADS: '2', TOKIO_WORKER_THREADS: '3' })).toEqual([2, 3])
}, 60_000)
