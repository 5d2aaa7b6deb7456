import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { createStorage } from 'unstorage'
import { expect, onTestFinished, test } from 'vitest'
import { memoryIndex } from '../../knowledge/memory-index.ts'
import { request } from '../../knowledge/requests.ts'

const apiKey = 'key-of-the-operator'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-unused-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return join(folder, 'data')
}

/** Runs one over the folder; what is reported goes to the list. */
function open(dataFolder: string, options: InlayOptions = {}): { inlay: Inlay; reports: string[] } {
  const reports: string[] = []
  const onError = (error: unknown): void => void reports.push((error as Error).message)
  const inlay = createInlay({ dataFolder, apiKey, onError, ...options })
  onTestFinished(() => inlay.close())
  return { inlay, reports }
}

async function fill(dataFolder: string): Promise<void> {
  const { inlay } = open(dataFolder)
  await inlay.knowledge.accept(request({ text: 'The heron waits.' }))
  await inlay.knowledge.whenIdle()
  const form = new FormData()
  form.append('files', new File(['A heron.'], 'heron.txt'))
  const response = await inlay.fetch(
    new Request('http://host.example/api/user/projects/file/upload', {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: form,
    }),
  )
  expect(response.status).toBe(200)
  await inlay.close()
}

async function noticesOf(inlay: Inlay, key = apiKey): Promise<{ status: number; notices: string[] }> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await inlay.fetch(new Request('http://host.example/api/service-api/notices', { headers }))
  return { status: response.status, notices: ((await response.json()) as { notices: string[] }).notices }
}

test('records, files and index that options leave unused are told in the log and to administrators', async () => {
  const dataFolder = newFolder()
  await fill(dataFolder)
  const elsewhere = {
    database: nodeSqlite({ file: ':memory:' }),
    index: memoryIndex(),
    files: createStorage() as InlayOptions['files'],
  }
  const { inlay, reports } = open(dataFolder, elsewhere)
  await inlay.start()
  expect(reports).toEqual([
    expect.stringMatching(/inlay\.db is not used.*INLAY_DATABASE_URL.*start without that setting/),
    expect.stringMatching(/files are not used.*INLAY_FILES_URL/),
    expect.stringMatching(/index is not used.*keep it with its database/),
  ])
  expect(await noticesOf(inlay)).toEqual({ status: 200, notices: reports })
  expect((await noticesOf(inlay, 'no key')).status).toBe(401)
  // It was only looked at: without the options everything is there.
  await inlay.close()
  const back = open(dataFolder)
  expect(await back.inlay.knowledge.search({ text: 'heron', limit: 1 })).toHaveLength(1)
  expect(back.reports).toEqual([])
})

test('an index alone that is elsewhere leaves the one in the folder unused', async () => {
  const dataFolder = newFolder()
  await fill(dataFolder)
  const { inlay, reports } = open(dataFolder, { index: memoryIndex() })
  await inlay.start()
  expect(reports).toContainEqual(expect.stringMatching(/index is not used.*can delete it/))
  expect((await noticesOf(inlay)).notices).toEqual([expect.stringMatching(/index is not used/)])
})

test('a folder that is new, or holds nothing that anybody would miss, is not spoken of', async () => {
  const dataFolder = newFolder()
  const first = open(dataFolder)
  await first.inlay.start()
  await first.inlay.close()
  const { inlay, reports } = open(dataFolder, { database: nodeSqlite({ file: ':memory:' }), index: memoryIndex() })
  await inlay.start()
  expect([reports, (await noticesOf(inlay)).notices]).toEqual([[], []])
})

test('a process that is set to another embedding model than the documents have is told to administrators', async () => {
  const dataFolder = newFolder()
  await fill(dataFolder)
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> =>
    texts.map(() => new Float32Array(4).fill(1))
  const { inlay, reports } = open(dataFolder, { embedder: { id: 'own@4', dimensions: 4, maxBatchSize: 8, embed } })
  const { notices } = await noticesOf(inlay)
  expect(notices).toEqual([expect.stringMatching(/no vectors.*own@4.*inlay reindex --embedder/)])
  expect(reports).toEqual(notices)
})

test('the command line says so before it fails', async () => {
  const dataFolder = newFolder()
  await fill(dataFolder)
  let said = ''
  const write = (text: string): void => void (said += text)
  await runCommandLine(['keys', 'list', '--data', dataFolder], {
    // Nobody listens there.
    env: () => ({ INLAY_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
    stdout: { write },
    stderr: { write },
    signal: new AbortController().signal,
  })
  expect(said).toContain(`The database ${join(dataFolder, 'inlay.db')} is not used`)
})
