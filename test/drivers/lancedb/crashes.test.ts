import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { createWorkNote, readCrashes } from '@inlay/drivers/internal/lancedb/writer-presence'
import type { VectorIndex } from '@inlay/knowledge'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-crashes-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

const processes = { owner: 'own', isGone: (owner: string) => owner.startsWith('gone') }
const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000)

/** Leaves what a process leaves that ended without a word. */
async function leaveNote(at: string, owner: string, isAtWork: boolean, age = minutesAgo(0)): Promise<void> {
  const before = new Set(readdirSync(at))
  const note = createWorkNote(at, { ...processes, owner })
  note.set(isAtWork)
  const file = readdirSync(at).find((name) => !before.has(name))!
  const text = readFileSync(join(at, file))
  await note.remove()
  writeFileSync(join(at, `left-${file}`), text)
  utimesSync(join(at, `left-${file}`), age, age)
}

describe('notes of work', () => {
  test('tell the processes that ended in the middle of it; those of others that ended are removed', async () => {
    await leaveNote(folder, 'gone 1', true)
    await leaveNote(folder, 'gone 2', false)
    await leaveNote(folder, 'gone 3', true, minutesAgo(90))
    await leaveNote(folder, 'another machine', true, minutesAgo(-30))
    await leaveNote(folder, 'another machine, ended', true, minutesAgo(2))
    const own = createWorkNote(folder, processes)
    own.set(true)
    const crashes = await readCrashes(folder, processes)
    expect(crashes.map((path) => readFileSync(path, 'utf8').slice(1)).toSorted()).toEqual([
      'another machine, ended',
      'gone 1',
    ])
    // The two kept ones, this process, and the process of unknown state.
    expect(readdirSync(folder)).toHaveLength(4)
    await own.remove()
    expect(readdirSync(folder)).toHaveLength(3)
  })

  test('are none where none can be written', async () => {
    writeFileSync(join(folder, 'file'), '')
    const note = createWorkNote(join(folder, 'file', 'below'))
    note.set(true)
    await note.remove()
    expect(await readCrashes(join(folder, 'file', 'below'))).toEqual([])
  })
})

test('an index notes its work while some is under way, and nothing once it is closed', async () => {
  const index = lancedbIndex({ folder, processes })
  const notes = join(folder, 'at-work')
  const noted = (): string => readFileSync(join(notes, readdirSync(notes)[0]!), 'utf8')
  const opening = index.open()
  expect(noted()).toBe('+own')
  await opening
  await expect.poll(noted, { timeout: 60_000 }).toBe('-own')
  const searches = [index.search({ text: 'heron', limit: 1 }), index.search({ text: 'otter', limit: 1 })]
  expect(noted()).toBe('+own')
  await Promise.all(searches)
  await expect.poll(noted, { timeout: 60_000 }).toBe('-own')
  await index.close()
  expect(readdirSync(notes)).toEqual([])
})

describe('an index in which processes ended in the middle of their work', () => {
  /** A folder that looks like a table by its file names. */
  async function crashed(times: number, program: string): Promise<{ index: VectorIndex; notes: () => string[] }> {
    mkdirSync(join(folder, 'chunks.lance', '_versions'), { recursive: true })
    writeFileSync(join(folder, 'chunks.lance', '_versions', '1.manifest'), '')
    mkdirSync(join(folder, 'at-work'))
    for (let time = 0; time < times; time++) await leaveNote(join(folder, 'at-work'), `gone ${time}`, true)
    writeFileSync(join(folder, 'check.mjs'), program)
    const checkUrl = pathToFileURL(join(folder, 'check.mjs'))
    return { index: lancedbIndex({ folder, processes, checkUrl }), notes: () => readdirSync(join(folder, 'at-work')) }
  }

  test('is damaged when it ends another process that reads it', async () => {
    const { index } = await crashed(3, "process.kill(process.pid, 'SIGABRT')")
    expect(await index.inspect!()).toEqual({ state: 'damaged' })
  })

  test('is what that process says it is; one that is whole is not read again at the next start', async () => {
    const { index, notes } = await crashed(3, "process.stdout.write('present')")
    expect(await index.inspect!()).toEqual({ state: 'present' })
    expect(notes()).toEqual([])
    rmSync(folder, { recursive: true })
    const another = await crashed(3, "process.stdout.write('outdated')")
    expect(await another.index.inspect!()).toEqual({ state: 'outdated' })
  })

  test('is read as what it was filled from, also before it is opened', async () => {
    const { index } = await crashed(
      3,
      `process.stdout.write(JSON.parse(process.argv[2]).space?.id === 'letters' ? 'present' : 'outdated')`,
    )
    expect(await index.inspect!({ space: { id: 'letters', dimensions: 8 } })).toEqual({ state: 'present' })
  })

  test.each([
    ['for want of memory', "process.kill(process.pid, 'SIGKILL')"],
    ['without a word', 'process.exit(1)'],
    ['before it could begin', 'import "nothing that is there"'],
  ])('is not taken for damaged when that process ends %s', async (_, program) => {
    const { index, notes } = await crashed(3, program)
    expect(await index.inspect!()).toEqual({ state: 'present' })
    expect(notes()).toHaveLength(3)
  })

  test('is not taken for damaged where the program that reads it lies in no file', async () => {
    const { notes } = await crashed(3, '')
    const checkUrl = new URL('https://app.example/check.js')
    expect(await lancedbIndex({ folder, processes, checkUrl }).inspect!()).toEqual({ state: 'present' })
    expect(notes()).toHaveLength(3)
  })

  test('is not read before it happened three times', async () => {
    const { index } = await crashed(2, "process.kill(process.pid, 'SIGABRT')")
    expect(await index.inspect!()).toEqual({ state: 'present' })
  })
})
