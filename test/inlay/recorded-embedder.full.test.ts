import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { EmbedderFigures } from '@inlay/knowledge'
import { expect, onTestFinished, test } from 'vitest'
import { cases } from '../cases.ts'
import type { RecordedEmbedderChild } from './recorded-embedder-child.ts'

interface Answer {
  readonly ids: readonly string[]
  readonly embedder: EmbedderFigures
}

interface Child {
  ask(): Promise<Answer>
  /** Ends it, by a kill when asked to. */
  end(how?: 'kill'): Promise<void>
}

async function start(setting: RecordedEmbedderChild): Promise<Child> {
  const program = join(import.meta.dirname, 'recorded-embedder-child.ts')
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, JSON.stringify(setting)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, LANCEDB_LOG: 'error' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
  return {
    ask: async () => {
      child.stdin.write('?\n')
      // Written by the child.
      return JSON.parse(String((await lines.next()).value)) as Answer
    },
    end: (how) => {
      if (how === 'kill') child.kill('SIGKILL')
      else child.stdin.end()
      return closed
    },
  }
}

const orders = [
  [24, 0, 8],
  [0, 24, 8],
  [8, 24, 0],
  [24, 8, 0],
  [0, 8, 24],
  [8, 0, 24],
]

test.each(cases(orders.slice(0, 2), orders).map((order) => [order]))(
  'processes with models of %j dimensions share a folder whose documents have 8, lose nothing and find all along',
  async (order) => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-embedder-'))
    onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
    const first = await start({ dataFolder, dimensions: 8, document: 'old' })
    await expect.poll(async () => (await first.ask()).ids, { timeout: 60_000 }).toEqual(['old'])
    await first.end()
    const children: Child[] = []
    for (const dimensions of order) {
      const child = await start({ dataFolder, dimensions, document: `from ${dimensions}` })
      children.push(child)
      const isUsed = dimensions === 8
      const recorded = 'letters@8'
      expect((await child.ask()).embedder).toMatchObject({ recorded, isUsed, indexes: isUsed })
      for (const each of children) expect((await each.ask()).ids).toContain('old')
    }
    const all = ['from 0', 'from 24', 'from 8', 'old']
    for (const each of children) await expect.poll(async () => (await each.ask()).ids, { timeout: 60_000 }).toEqual(all)
    await children.pop()!.end('kill')
    for (const each of children) expect((await each.ask()).ids).toEqual(all)
    for (const each of children) await each.end()
  },
)
