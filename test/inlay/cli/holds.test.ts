import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

test('inlay holds places, lists and lifts holds, and says how it is called', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const run = async (...words: string[]) => {
    let [out, err] = ['', '']
    const code = await runCommandLine(words, {
      env: () => ({ INLAY_DATA: folder.path }),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      signal: new AbortController().signal,
    })
    return { code, out, err }
  }
  const inlay = createInlay({ dataFolder: folder.path })
  await inlay.start()
  await inlay.close()
  expect(await run('holds')).toMatchObject({ code: 0, err: 'Nobody is under a legal hold.\n' })
  expect((await run('holds', 'place', 'ann', '--reason', 'Case 7')).out).toMatch(
    /^ {2}1 {2}\d{4}-\d\d-\d\d {2}ann {2}Case 7\n$/,
  )
  expect((await run('holds', 'place', '--all')).out).toMatch(/^ {2}2 {2}\S+ {2}everybody\n$/)
  expect(await run('erase', 'ann')).toMatchObject({
    code: 1,
    err: 'inlay: Kept by legal holds 1, 2: it can be deleted after an administrator has lifted them.\n',
  })
  expect(JSON.parse((await run('holds', 'list', '--json')).out)).toMatchObject([
    { id: 1, person: 'ann', reason: 'Case 7' },
    { id: 2, person: null, reason: '' },
  ])
  expect((await run('holds', 'lift', '2')).out).toContain('Lifted:   2')
  expect((await run('holds', 'lift', '1')).code).toBe(0)
  expect(await run('holds', 'lift', '1')).toMatchObject({
    code: 1,
    err: 'inlay: There is no such legal hold: it was lifted, or never placed.\n',
  })
  for (const words of [['place'], ['place', 'ann', '--all'], ['lift', 'ann'], ['list', '--all']])
    expect((await run('holds', ...words)).code, words.join(' ')).toBe(2)
  expect((await run('erase', 'ann')).code).toBe(0)
})
