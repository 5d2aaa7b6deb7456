import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const pathOf = (path: string): string => fileURLToPath(new URL(`../../../packages/inlay/${path}`, import.meta.url))

test('lines that are pasted into a terminal are one question', async () => {
  const data = mkdtempSync(join(tmpdir(), 'inlay-paste-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true, maxRetries: 10 }))
  const loaded = ['--conditions=@inlay/source', '--import', pathOf('scripts/as-terminal.mjs'), pathOf('src/cli.ts')]
  const child = spawn(process.execPath, [...loaded, 'chat', '--json', '--data', data], {
    env: { ...process.env, COLUMNS: '80' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()))
  await expect.poll(() => err).toContain('\u203a ')
  // The terminal was asked to mark what is pasted.
  expect(err).toContain('\u001b[?2004h')
  child.stdin.write('\u001b[200~Where is the\rharbour crane?\u001b[201~\r')
  await expect.poll(() => out).toContain('\n')
  child.stdin.write('Hello\r/quit\r')
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect([code, out.trim().split('\n').length]).toEqual([0, 2])
  expect(err.trimEnd()).toContain('\u001b[?2004l')
})
