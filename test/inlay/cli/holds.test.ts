import { readFileSync, rmSync } from 'node:fs'
import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

function newFolder(variables: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const run = async (...words: string[]) => {
    let [out, err] = ['', '']
    const code = await runCommandLine(words, {
      env: () => ({ INLAY_DATA: folder.path, ...variables }),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      signal: new AbortController().signal,
    })
    return { code, out, err }
  }
  return { folder: folder.path, run }
}

test('inlay holds places, lists and lifts holds, and says how it is called', async () => {
  const { folder, run } = newFolder()
  const inlay = createInlay({ dataFolder: folder })
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

test('a hold is placed before anything is erased by age: commands erase nothing by themselves', async () => {
  const { folder, run } = newFolder({ INLAY_RETENTION: 'maxAuditDays=1' })
  const old = createInlay({ dataFolder: folder, now: () => Date.now() - 100 * 86_400_000 })
  await old.keys.create({ name: 'of ann', scopes: ['chat'], owner: 'ann' })
  await old.close()
  for (const words of [
    ['keys', 'list'],
    ['holds', 'place', 'ann'],
    ['holds', 'list'],
  ])
    expect((await run(...words)).code).toBe(0)
  await run('export', '--all', `${folder}-out`)
  onTestFinished(() => rmSync(`${folder}-out`, { recursive: true }))
  expect(readFileSync(`${folder}-out/audit.jsonl`, 'utf8')).toContain('createKey')
})
