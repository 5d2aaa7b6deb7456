import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IngestionStep } from '@inlay/knowledge'
import { expect, onTestFinished, test } from 'vitest'
import { ids, type ChildLine, type ChildTask } from './kill-child.ts'

/** Runs a process to its end, or its death, and gives what it printed. */
async function run(task: ChildTask): Promise<{ lines: ChildLine[]; signal: string | null; errors: string }> {
  const program = join(import.meta.dirname, 'kill-child.ts')
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, JSON.stringify(task)], {
    env: { ...process.env, LANCEDB_LOG: 'error' },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (bytes: Buffer) => (output += bytes))
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes))
  onTestFinished(() => void child.kill('SIGKILL'))
  const signal = await new Promise<string | null>((resolve) => child.on('close', (_, by) => resolve(by)))
  // A line that was cut off by the end says nothing.
  const complete = output.slice(0, output.lastIndexOf('\n') + 1)
  const lines = complete.split('\n').filter(Boolean)
  return { lines: lines.map((line) => JSON.parse(line) as ChildLine), signal, errors }
}

const steps: readonly IngestionStep[] = ['accept', 'claim', 'chunk', 'embed', 'append', 'settle', 'prune']

test('killed at every step, again and again, no acknowledged version is lost, doubled or mixed up', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-kill-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const acknowledged = new Map<string, number>()
  let firstVersion = 1
  const note = (lines: readonly ChildLine[]): void => {
    for (const line of lines) {
      if ('acknowledged' in line)
        acknowledged.set(line.acknowledged, Math.max(line.version, acknowledged.get(line.acknowledged) ?? 0))
      if ('began' in line) firstVersion = Math.max(firstVersion, line.version + 1)
    }
  }
  for (const [at, step] of [...steps, ...steps].entries()) {
    const nth = step === 'prune' ? 1 : 1 + (at % 4)
    const { lines, signal, errors } = await run({ folder, firstVersion, kill: { step, nth } })
    expect({ signal, errors }, `at ${step}`).toEqual({ signal: 'SIGKILL', errors: '' })
    note(lines)
  }
  const { lines, errors } = await run({ folder, firstVersion })
  note(lines)
  const last = lines.at(-1)!
  expect(errors).toBe('')
  expect(acknowledged.size).toBe(ids.length)
  if (!('shown' in last)) throw new Error('the last process did not come to its end')
  expect(last.shown).toEqual(Object.fromEntries([...acknowledged].map(([id, version]) => [id, [version]])))
}, 120_000)
