import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

test('inlay erase tells how much of a person was erased, and how it is called', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  let printed = ''
  const run = (...words: string[]): Promise<number> =>
    runCommandLine(['erase', ...words], {
      env: () => ({ INLAY_DATA: folder.path }),
      stdout: { write: (text) => (printed += text) },
      stderr: { write: (text) => (printed += text) },
      signal: new AbortController().signal,
    })
  const inlay = createInlay({ dataFolder: folder.path })
  await inlay.agent.memories.add('likes tea', { id: 'ann', scopes: ['chat'] })
  await inlay.close()
  expect(await run('ann')).toBe(0)
  expect(printed).toBe('sessions: 0, files: 0, projects: 0, personas: 0, memories: 1, keys: 0\n')
  printed = ''
  expect(await run()).toBe(2)
  expect(printed).toContain('inlay erase <person>')
})
