import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlay-start-'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

function start(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--conditions=@inlay/source', 'playground/start.ts'], {
    env: { PATH: process.env.PATH, PORT: '0', INLAY_DATA: join(folder, 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

test.each([
  ['a wrong setting', { PORT: 'abc' }, /PORT: "abc" is not allowed; use a whole number/],
  ['a model without its key', { INLAY_MODEL: 'openai/gpt-5' }, /INLAY_MODEL/],
  ['a data folder that cannot be made', { INLAY_DATA: '/dev/null/inlay' }, /data folder cannot be used/],
  ['a data folder where none can be made', { INLAY_DATA: '/proc/nope/inlay' }, /data folder cannot be used/],
])('%s ends the start with words and without a stack', async (_what, env, words) => {
  const { code, output } = await start(env)
  expect(code).toBe(1)
  expect(output).toMatch(words)
  expect(output).not.toMatch(/^ +at /m)
})
