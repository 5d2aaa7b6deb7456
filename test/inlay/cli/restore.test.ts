import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { afterAll, beforeAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'inlay-restore-'))
const backup = join(folder, 'monday')

beforeAll(() => {
  mkdirSync(join(backup, 'files'), { recursive: true })
  writeFileSync(join(backup, 'backup.json'), '{}\n')
  writeFileSync(join(backup, 'inlay.db'), 'records')
  writeFileSync(join(folder, 'secret'), 'of the machine')
  symlinkSync(join(folder, 'secret'), join(backup, 'files', 'led-out'))
  symlinkSync(backup, join(folder, 'latest'))
  // The usual mode of an unpacked archive.
  chmodSync(backup, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

function restore(source: string, data: string): Promise<number> {
  return runCommandLine(['restore', source, '--data', data, '--no-wait'], {
    env: () => ({}),
    stdout: { write: () => {} },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
}

test('a data folder that was restored is its owner’s alone, and nothing in it leads elsewhere', async () => {
  const data = join(folder, 'data')
  expect(await restore(backup, data)).toBe(0)
  expect(lstatSync(data).mode & 0o777).toBe(0o700)
  expect(existsSync(join(data, 'inlay.db'))).toBe(true)
  expect(existsSync(join(data, 'files', 'led-out'))).toBe(false)
})

test('a backup that a link names stays as it is', async () => {
  const data = join(folder, 'from-link')
  expect(await restore(join(folder, 'latest'), data)).toBe(0)
  expect(lstatSync(data).isSymbolicLink()).toBe(false)
  expect(existsSync(join(backup, 'backup.json'))).toBe(true)
})

test('with --json and --no-wait it says where the data is', async () => {
  let out = ''
  const code = await runCommandLine(['restore', backup, '--data', join(folder, 'told'), '--no-wait', '--json'], {
    env: () => ({}),
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  expect([code, JSON.parse(out)]).toEqual([0, { folder: join(folder, 'told') }])
})
