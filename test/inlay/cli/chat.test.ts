import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const pathOf = (path: string): string => fileURLToPath(new URL(`../../../packages/inlay/${path}`, import.meta.url))

/** Starts a chat on a terminal, until its prompt. */
async function startChat(words: readonly string[]) {
  const loaded = ['--conditions=@inlay/source', '--import', pathOf('scripts/as-terminal.mjs'), pathOf('src/cli.ts')]
  const child = spawn(process.execPath, [...loaded, 'chat', '--json', ...words], {
    env: { ...process.env, COLUMNS: '80' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (piece: Buffer) => (said.out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (said.err += piece.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await expect.poll(() => said.err).toContain('\u203a ')
  return { said, ended, type: (text: string) => child.stdin.write(text), end: () => child.stdin.end() }
}

const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`

test('lines that are pasted into a terminal are one question', async () => {
  const data = mkdtempSync(join(tmpdir(), 'inlay-paste-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true, maxRetries: 10 }))
  const { said, ended, type } = await startChat(['--data', data])
  // The terminal was asked to mark what is pasted.
  expect(said.err).toContain('\u001b[?2004h')
  type(`${pasted('Where is the\rharbour crane?')}\r`)
  await expect.poll(() => said.out).toContain('\n')
  type('Hello\r/quit\r')
  expect([await ended, said.out.trim().split('\n').length]).toEqual([0, 2])
  expect(said.err.trimEnd()).toContain('\u001b[?2004l')
})

test.each([
  ['Ctrl+D asks it', '\u0004', ['one\ntwo']],
  ['Ctrl+U discards it', '\u0015hello\r\u0004', ['hello']],
  ['/quit is no part of it', '/quit\r', ['one\ntwo']],
  ['/stop is no part of it', '/stop\r\u0004', ['one\ntwo']],
])('after a pasted text %s', async (_, keys, questions) => {
  const messages: unknown[] = []
  const server = createServer(async (request, response) => {
    messages.push(((await json(request)) as { message: string }).message)
    response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { said, ended, type, end } = await startChat(['--url', `127.0.0.1:${(server.address() as AddressInfo).port}`])
  type(pasted('one\rtwo\r') + keys)
  // A pipe, unlike a terminal, may keep the process until it ends.
  await expect.poll(() => said.err).toContain('\u001b[?2004l')
  end()
  await ended
  expect(messages).toEqual(questions)
})
