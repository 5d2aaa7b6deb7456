import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'

async function scriptFor(shell: string): Promise<string> {
  let out = ''
  await runCommandLine(['completion', shell], {
    env: () => ({}),
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  return out
}

test.each(['bash', 'zsh', 'fish'])('the completion for %s names commands, their actions and options', async (shell) => {
  const script = await scriptFor(shell)
  for (const name of ['ingest', 'doctor', 'rotate', 'base-url', 'watch', 'url', 'indexing', 'zsh'])
    expect(script).toContain(name)
})

test.skipIf(process.platform === 'win32')(
  'bash completes commands, actions, options, their values and files',
  async () => {
    const script = await scriptFor('bash')
    const folder = mkdtempSync(join(tmpdir(), 'inlay-completion-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'hand book'))
    /** The words offered for the last one of a line. */
    const offered = (...words: string[]): string[] => {
      const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _inlay; printf '%s\\n' "\${COMPREPLY[@]}"`
      const args = ['--norc', '-c', `${script}\n${call}`, 'bash', ...words]
      return execFileSync('bash', args, { cwd: folder, encoding: 'utf8' }).trimEnd().split('\n')
    }
    expect(offered('inlay', 'in')).toEqual(['init', 'ingest'])
    for (const local of ['init', 'serve', 'backup', 'restore', 'erase', 'completion'])
      expect(offered('inlay', local, '--')).not.toContain('--url')
    expect(offered('inlay', 'ask', '--')).toContain('--url')
    expect(offered('inlay', 'keys', '')).toEqual(['list', 'create', 'rotate', 'revoke'])
    expect(offered('inlay', '--data', 'x', 'documents', 're')).toEqual(['retry'])
    expect(offered('inlay', 'documents', '--state', 'index')).toEqual(['indexing', 'indexed'])
    expect(offered('inlay', 'ask', '--mo')).toEqual(['--model'])
    expect(offered('inlay', 'help', 'ke')).toEqual(['keys'])
    expect(offered('inlay', 'ingest', '--watch', 'ha')).toEqual(['hand book'])
  },
)
