import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'

export const init: Command = {
  ...commandTable.init,
  isLocal: 'it writes to the folder it runs in',
  details: [
    'Writes a random INLAY_API_KEY to .env, and keeps .env and the data folder out of git. Changes no other line.',
  ],
  words: [0, 0],
  options: {},
  async run({ output, settings }) {
    const path = resolve('.env')
    const present = await readOr(path, '')
    if (/^[ \t]*INLAY_API_KEY\s*=/m.test(present))
      throw new InlayError('CONFLICT', { message: `${path} already contains INLAY_API_KEY. Nothing was changed.` })
    const key = `inlay_${randomBytes(24).toString('base64url')}`
    const lines = ['# Key with all permissions; create restricted keys with: inlay keys create', `INLAY_API_KEY=${key}`]
    if (!present.includes('INLAY_MODEL'))
      lines.push(
        '# A language model, such as openai/gpt-5-mini with OPENAI_API_KEY; without one answers are quotations.',
        '# INLAY_MODEL=',
      )
    await writeFile(path, joined(present, lines), { mode: 0o600 })
    const ignored = await ignore([`.env`, `${settings.options.dataFolder ?? '.inlay'}/`])
    if (output.isJson) output.json({ settings: path, key, ignored })
    else {
      output.line(`${path} contains a new key.`)
      output.note(
        'Next: inlay ingest <folder>, then inlay ask "…" or inlay serve. inlay help settings lists all settings.',
      )
    }
    return 0
  },
}

const joined = (text: string, lines: readonly string[]): string =>
  `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}\n`

/** Adds lines to .gitignore in a git repository. @returns the added lines */
async function ignore(wanted: readonly string[]): Promise<readonly string[]> {
  if ((await readOr('.git/HEAD', '')) === '') return []
  const present = await readOr('.gitignore', '')
  const lines = new Set(present.split('\n').map((line) => line.trim()))
  const missing = wanted.filter((line) => !lines.has(line) && !lines.has(line.replace(/\/$/, '')))
  if (missing.length > 0) await writeFile('.gitignore', joined(present, missing))
  return missing
}

async function readOr(path: string, absent: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return absent
    throw new InlayError('INVALID_INPUT', { message: `${path} cannot be read.`, cause: error })
  })
}
