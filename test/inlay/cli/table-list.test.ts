import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

test('inlay doctor --tables prints the rows and bytes of each table, the largest first', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const inlay = createInlay({ dataFolder: folder.path })
  await inlay.agent.memories.add('likes tea', { id: 'ann', scopes: ['chat'] })
  await inlay.close()
  const run = async (...words: string[]): Promise<string> => {
    let out = ''
    const code = await runCommandLine(['doctor', '--tables', ...words], {
      env: () => ({ INLAY_DATA: folder.path }),
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => true },
      signal: new AbortController().signal,
    })
    return `${code} ${out}`
  }
  expect(await run()).toMatch(/^inlay_memories +1 rows +\d+ bytes$/m)
  const sizes = JSON.parse((await run('--json')).slice(2)) as { table: string; rows: number; bytes: number }[]
  expect(sizes).toContainEqual({ table: 'inlay_memories', rows: 1, bytes: expect.any(Number) })
  expect(sizes.map(({ bytes }) => bytes)).toEqual(sizes.map(({ bytes }) => bytes).toSorted((a, b) => b - a))
  expect(await run('--url', 'http://localhost:1')).toMatch(/^2 /)
})
