import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from '../process.ts'

// Several processes start one after the other, and a machine may have much else to do.
vi.setConfig({ testTimeout: 180_000 })

const program = join(import.meta.dirname, '../../../packages/inlay/src/cli.ts')
const count = 20

let folder: ReturnType<typeof temporaryFolder>
const running = new Set<Service>()
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  for (const service of running) await service.kill()
  running.clear()
  folder.remove()
})

async function start(): Promise<Service> {
  const service = await startService(folder.path)
  running.add(service)
  return service
}

async function doctor(): Promise<{ code: number | null; out: string }> {
  const words = ['--conditions=@inlay/source', program, 'doctor', '--offline', '--data', folder.path]
  const child = spawn(process.execPath, words, { cwd: folder.path, env: { PATH: process.env['PATH'] } })
  let out = ''
  child.stdout.on('data', (part) => (out += part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out }
}

const filesIn = (name: string): string[] =>
  readdirSync(join(folder.path, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Generations whose rows the index has. Its files change: ten seconds after they were merged, the old ones go. */
async function generations(): Promise<string[]> {
  const index = lancedbIndex({ folder: join(folder.path, 'index') })
  const list: string[] = []
  await index.open()
  await index.eachGeneration!((names) => void list.push(...names)).finally(() => index.close())
  return list
}

/** Sends documents up to a number, and waits until they are indexed and recorded. */
async function fill(service: Service, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++) {
    const sections = [{ text: `The code word of drawer ${number} is heron${number}.` }]
    const document = { id: `drawer/${number}`, semantic_identifier: `Drawer ${number}`, sections, metadata: {} }
    const body = JSON.stringify({ document })
    expect((await service.fetch('/onyx-api/ingestion', { method: 'POST', body })).status).toBe(200)
  }
  await eventually('all documents are indexed', async () => {
    const { documents } = await (await service.fetch('/service-api/ingestion-figures')).json()
    return documents.indexed === to || undefined
  })
  await eventually('the record is up to date', async () => {
    const path = join(folder.path, 'database.json')
    if (!existsSync(path)) return undefined
    const { held } = JSON.parse(readFileSync(path, 'utf8'))
    return held.revision === to || undefined
  })
}

/** A killed service that held documents and a file; the log of its database holds the last documents alone. */
async function killedService(): Promise<void> {
  const first = await start()
  const form = new FormData()
  form.append('files', new File(['The file says zebra.'], 'zebra.txt'))
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type')! }
  const body = await sent.arrayBuffer()
  expect((await first.fetch('/user/projects/file/upload', { method: 'POST', body, headers })).status).toBe(200)
  await fill(first, 0, 10)
  running.delete(first)
  await first.stop()

  const second = await start()
  await fill(second, 10, count)
  running.delete(second)
  await second.kill()
}

const database = (end = ''): string => join(folder.path, `inlay.db${end}`)

test.each([
  ['lost', /lost, emptied or replaced/, () => rmSync(database())],
  ['emptied', /lost, emptied or replaced/, () => truncateSync(database(), 0)],
  ['without its log', /lost changes/, () => rmSync(database('-wal'))],
  [
    'with a cut log',
    /lost changes/,
    // Its header and one page: behind that, a log that began anew holds pages that count no more.
    () => truncateSync(database('-wal'), 32 + 24 + 4096),
  ],
])('a database %s after a kill is told, and nothing of index and files is removed', async (_, words, damage) => {
  await killedService()
  const [files, rows] = [filesIn('files'), await generations()]
  expect([files.length > 0, rows.length]).toEqual([true, count])
  damage()

  const again = await start()
  expect(again.said()).toMatch(words)
  const { details } = await (await again.fetch('/service-api/notices')).json()
  expect(details).toContainEqual({ code: 'records_missing', message: expect.stringMatching(words) })
  const ready = await (await again.fetch('/health/ready')).json()
  expect(ready.notes).toContainEqual({ code: 'records_missing', message: 'records are missing' })
  await again.fetch('/search', { method: 'POST', body: JSON.stringify({ query: 'heron1' }) })
  // Whatever upkeep does after a document was indexed, and on closing.
  const document = { id: 'new', semantic_identifier: 'New', sections: [{ text: 'A new one.' }], metadata: {} }
  await again.fetch('/onyx-api/ingestion', { method: 'POST', body: JSON.stringify({ document }) })
  await eventually('the new document is indexed', async () => {
    const { queue_depth: waiting } = await (await again.fetch('/service-api/ingestion-figures')).json()
    return waiting === 0 || undefined
  })
  running.delete(again)
  await again.stop()
  expect(await doctor()).toMatchObject({ code: 1, out: expect.stringMatching(words) })
  expect(filesIn('files')).toEqual(expect.arrayContaining(files))
  expect(await generations()).toEqual(expect.arrayContaining(rows))
})
