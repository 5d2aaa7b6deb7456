import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Embedder } from '@inlay/knowledge'
import { createInlay, type Inlay } from 'inlay'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cases } from '../cases.ts'
import { letters, type EmbedderChange } from './embedder-change-child.ts'

const count = 400

async function open(dataFolder: string, embedder: Embedder): Promise<Inlay> {
  const inlay = createInlay({ dataFolder, embedder, model: 'extractive', worker: { lingerMs: 1 }, onError: () => {} })
  onTestFinished(() => inlay.close())
  await inlay.start()
  return inlay
}

const textOf = (at: number): string => `Animal${at} is kept in house ${at}.`

async function fill(dataFolder: string): Promise<void> {
  const inlay = await open(dataFolder, letters(8))
  const documents = Array.from({ length: count }, (_, at) => ({
    id: `d${at}`,
    semantic_identifier: `Note ${at}`,
    sections: [{ type: 'text', text: textOf(at), link: null, heading: null, image_file_id: null }],
    metadata: {},
  }))
  // The validated form, without optional fields.
  await Promise.all(documents.map((document) => inlay.knowledge.accept({ document, cc_pair_id: 1 } as never)))
  await inlay.knowledge.whenIdle()
  await inlay.close()
}

/** Whether each of some documents is the first to be found by its own words. */
async function areFound(inlay: Inlay): Promise<boolean[]> {
  const sample = [0, 1, 57, 200, 333, count - 1]
  return Promise.all(
    sample.map(async (at) => {
      const [best] = await inlay.knowledge.search({ text: `animal${at}`, limit: 3 })
      return best?.content === textOf(at)
    }),
  )
}

function makeFolder(): string {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-embedder-'))
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  return dataFolder
}

test('with another embedding model the old index answers until the new one is filled, which then stands alone', async () => {
  const dataFolder = makeFolder()
  await fill(dataFolder)
  const { promise: mayEmbed, resolve: embed } = Promise.withResolvers<void>()
  const inner = letters(24)
  const inlay = await open(dataFolder, {
    ...inner,
    async embed(texts, use, signal) {
      if (use === 'document') await mayEmbed
      return inner.embed(texts, use, signal)
    },
  })
  expect(await inlay.knowledge.reindex({ embedder: true })).toEqual({ documents: count })
  expect(new Set(await areFound(inlay))).toEqual(new Set([true]))
  embed()
  const answers: boolean[] = []
  const moved = inlay.knowledge.whenIdle().then(() => true)
  while (!(await Promise.race([moved, areFound(inlay).then((hit) => void answers.push(...hit))])));
  expect(new Set(answers)).toEqual(new Set([true]))
  await vi.waitFor(() => expect(existsSync(join(dataFolder, 'index', 'chunks.lance'))).toBe(false), { timeout: 60_000 })
  expect(new Set(await areFound(inlay))).toEqual(new Set([true]))
  expect((await inlay.knowledge.figures()).documents).toMatchObject({ indexed: count })
  const [nearest] = await inlay.knowledge.search({ text: textOf(7), limit: 1 })
  expect(nearest?.document.document_id).toBe('d7')
})

async function run(change: EmbedderChange): Promise<string | null> {
  const program = join(import.meta.dirname, 'embedder-change-child.ts')
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, JSON.stringify(change)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LANCEDB_LOG: 'error' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return new Promise((resolve) => child.on('close', (_, signal) => resolve(signal)))
}

test('no document is lost when the process dies in the middle', async () => {
  const dataFolder = makeFolder()
  await fill(dataFolder)
  for (const dieAt of cases([3], [1, 3, 5])) {
    expect(await run({ dataFolder, dimensions: 24, dieAt })).toBe('SIGKILL')
    const between = await open(dataFolder, { ...letters(24), embed: () => Promise.reject(new Error('down')) })
    expect(new Set(await areFound(between))).toEqual(new Set([true]))
    await between.close()
  }
  const last = await open(dataFolder, letters(24))
  await last.knowledge.requeue()
  await last.knowledge.whenIdle()
  expect((await last.knowledge.figures()).documents).toEqual({ indexed: count, pending: 0, indexing: 0, failed: 0 })
  expect(new Set(await areFound(last))).toEqual(new Set([true]))
})

test('an index with vectors is kept when three processes ended at their work', async () => {
  const dataFolder = makeFolder()
  await fill(dataFolder)
  const notes = join(dataFolder, 'index', 'at-work')
  mkdirSync(notes, { recursive: true })
  const minutesAgo = new Date(Date.now() - 120_000)
  for (const name of ['1', '2', '3']) {
    writeFileSync(join(notes, name), '+somebody on another machine')
    utimesSync(join(notes, name), minutesAgo, minutesAgo)
  }
  const errors: unknown[] = []
  const inlay = createInlay({ dataFolder, embedder: letters(8), onError: (error) => errors.push(error) })
  onTestFinished(() => inlay.close())
  await inlay.start()
  expect(new Set(await areFound(inlay))).toEqual(new Set([true]))
  // They were looked at: the index is whole.
  expect(readdirSync(notes).filter((name) => name.length === 1)).toEqual([])
  expect(errors).toEqual([])
})
