import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type Client } from '@inlay/client'
import { afterAll, afterEach, expect, test, vi } from 'vitest'

// Several processes start one after the other, and a machine may have much else to do.
vi.setConfig({ testTimeout: 180_000 })

const program = join(import.meta.dirname, '../../../packages/inlay/src/cli.ts')
const folder = mkdtempSync(join(tmpdir(), 'inlay-backup-'))
const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

function start(words: readonly string[]): ChildProcess {
  const env = { PATH: process.env['PATH'], HOME: folder, INLAY_API_KEY: 'backup-test-key' }
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, ...words], { cwd: folder, env })
  running.add(child)
  return child
}

async function inlay(...words: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(words)
  let [out, err] = ['', '']
  child.stdout!.on('data', (part) => (out += part))
  child.stderr!.on('data', (part) => (err += part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

async function serve(data: string): Promise<{ client: Client; child: ChildProcess }> {
  const child = start(['serve', '--port', '0', '--json', '--data', data])
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  const { base_url: baseUrl } = JSON.parse(String(line)) as { base_url: string }
  return { child, client: createClient({ baseUrl, apiKey: 'backup-test-key' }) }
}

/** Writes documents until it is stopped. @returns numbers of those that were answered with 200 */
function writing(client: Client): { acknowledged: number[]; stop(): void; over: Promise<unknown> } {
  const acknowledged: number[] = []
  let next = 0
  let isOver = false
  const write = async (): Promise<void> => {
    while (!isOver) {
      const number = next++
      const sections = [{ text: `The code word of drawer ${number} is heron${number}.` }]
      await client.ingest({ id: `drawer/${number}`, semantic_identifier: `Drawer ${number}`, sections, metadata: {} })
      acknowledged.push(number)
    }
  }
  const over = Promise.allSettled(Array.from({ length: 8 }, write))
  return { acknowledged, over, stop: () => (isOver = true) }
}

test('a backup under load holds all that was answered before it, and a killed one leaves nothing', async () => {
  const data = join(folder, 'data')
  const { client, child } = await serve(data)
  const [file] = (await client.files.upload([new File(['The file says zebra.'], 'zebra.txt')])).user_files
  const load = writing(client)
  await expect.poll(() => load.acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(300)

  const cut = start(['backup', join(folder, 'cut'), '--data', data])
  await expect
    .poll(() => readdirSync(folder).some((name) => name.includes('cut')), { interval: 1, timeout: 60_000 })
    .toBe(true)
  cut.kill('SIGKILL')
  await once(cut, 'close')
  // A backup under its final name is complete, however late the kill was.
  expect(existsSync(join(folder, 'cut'))).toBe(existsSync(join(folder, 'cut', 'backup.json')))

  const before = [...load.acknowledged]
  const copy = join(folder, 'copy')
  expect(await inlay('backup', copy, '--data', data)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/documents and \d+ files are in/),
  })
  child.kill('SIGKILL')
  load.stop()
  await load.over

  expect(statSync(copy).mode & 0o777).toBe(0o700)
  expect(statSync(join(copy, 'inlay.db')).mode & 0o777).toBe(0o600)
  expect(existsSync(join(copy, 'index'))).toBe(false)
  const restored = join(folder, 'restored')
  const { code, out } = await inlay('restore', copy, '--data', restored)
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+ documents are searchable\.\n$/)])
  expect(Number.parseInt(out, 10)).toBeGreaterThanOrEqual(before.length)

  const again = await serve(restored)
  for (const number of [before[0]!, before[Math.floor(before.length / 2)]!, before.at(-1)!]) {
    const { results } = await again.client.search(`heron${number}`)
    expect(results.map(({ title }) => title)).toContain(`Drawer ${number}`)
  }
  const listed = new Set<string>()
  for (let after: string | null | undefined; after !== null;) {
    const page = await again.client.documents({ limit: 1000, ...(after !== undefined && { after }) })
    for (const { document_id: id, state } of page.documents) {
      expect(state).toBe('indexed')
      listed.add(id)
    }
    after = page.next
  }
  expect(before.filter((number) => !listed.has(`drawer/${number}`))).toEqual([])
  expect(await (await again.client.files.content(file!.file_id)).text()).toBe('The file says zebra.')
  again.child.kill('SIGINT')
  await once(again.child, 'close')

  const anew = await inlay('reindex', '--data', restored)
  expect([anew.code, anew.out]).toEqual([0, expect.stringMatching(/^\d+ documents are searchable\.\n$/)])
})

test('what cannot be backed up or restored is told before anything is touched', async () => {
  const data = join(folder, 'small')
  await inlay('keys', 'create', '--data', data)
  const refusals: [words: string[], sentence: RegExp][] = [
    [['backup', join(folder, 'x'), '--data', join(folder, 'nothing')], /There is no database in/],
    [['backup', data, '--data', data], /already exists/],
    [['backup', join(data, 'inside'), '--data', data], /inside the data folder/],
    [['backup'], /backup needs the folder to write to/],
    [['restore', data, '--data', join(folder, 'y')], /is not a complete backup/],
  ]
  for (const [words, sentence] of refusals) {
    const { code, err } = await inlay(...words)
    expect([code === 0, err]).toEqual([false, expect.stringMatching(sentence)])
  }
  expect((await inlay('backup', join(folder, 'small-copy'), '--data', data)).code).toBe(0)
  expect(await inlay('restore', join(folder, 'small-copy'), '--data', data)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is not empty/),
  })
})
