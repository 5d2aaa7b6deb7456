import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, test } from 'vitest'
import { operator } from '@inlay/protocol'
import { temporaryFolder } from '../../life/process.ts'

const document = (id: string, text: string) => ({
  document: { id, semantic_identifier: id, sections: [{ text }], metadata: {} },
})

/** A data folder with two documents and a file. */
async function filledFolder(): Promise<{ folder: string; fileId: string }> {
  const folder = temporaryFolder().path
  const inlay = createInlay({ dataFolder: folder, apiKey: 'inlay_key-of-the-deep-test', worker: { lingerMs: 0 } })
  await inlay.knowledge.accept(document('heron', 'The heron waits.'))
  await inlay.knowledge.accept(document('otter', 'The otter swims.'))
  await inlay.knowledge.whenIdle()
  const bytes = new Blob(['a,b\n1,2\n']).stream()
  const { id } = await inlay.agent.files.keep({ name: 'a.csv', mediaType: 'text/csv', bytes }, operator)
  await inlay.close()
  return { folder, fileId: id }
}

async function doctor(folder: string, ...words: string[]): Promise<{ code: number; findings: object[]; text: string }> {
  let text = ''
  const code = await runCommandLine(['doctor', '--deep', '--offline', '--json', ...words], {
    env: () => ({ INLAY_DATA: folder, PORT: '0' }),
    stdout: { write: (part) => (text += part) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  const findings = JSON.parse(text) as { check: string }[]
  const deep = ['Integrity', 'Files', 'Passages']
  return { code, text, findings: Array.isArray(findings) ? findings.filter(({ check }) => deep.includes(check)) : [] }
}

test('doctor --deep reads database, files and index, and finds nothing in sound data', async () => {
  const { folder } = await filledFolder()
  expect(await doctor(folder)).toMatchObject({
    code: 0,
    findings: [
      { check: 'Integrity', status: 'ok', message: 'the database is sound' },
      { check: 'Files', status: 'ok', message: '1 files have all their bytes' },
      { check: 'Passages', status: 'ok', message: 'documents and index hold the same' },
    ],
  })
})

test('doctor --deep names what is damaged, lost or left over, and what to do', async () => {
  const { folder, fileId } = await filledFolder()
  const database = new DatabaseSync(join(folder, 'inlay.db'))
  database.exec(`
    update inlay_documents set visible_generation = '0:lost:1' where id = 'heron';
    create table broken (word text);
    insert into broken with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 500)
      select 'word ' || n from numbers;
    create index broken_words on broken (word);
  `)
  database.close()
  // The last page belongs to the index of words.
  const file = join(folder, 'inlay.db')
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill('x', bytes.length - 1000, bytes.length - 500))
  const files = join(folder, 'files')
  for (const name of readdirSync(files, { recursive: true, withFileTypes: true }))
    if (name.isFile()) rmSync(join(name.parentPath, name.name))
  const { code, findings } = await doctor(folder)
  expect(code).toBe(1)
  expect(findings).toEqual([
    {
      check: 'Integrity',
      status: 'failed',
      message: expect.stringMatching(/^the database is damaged: ./),
      advice: expect.stringContaining('inlay restore'),
    },
    {
      check: 'Files',
      status: 'failed',
      message: `1 of 1 files lack bytes: ${fileId}`,
      advice: expect.stringContaining('from a backup'),
    },
    {
      check: 'Passages',
      status: 'failed',
      message: '1 documents are not in the index: heron',
      advice: expect.stringContaining('inlay reindex'),
    },
    {
      check: 'Passages',
      status: 'failed',
      message: 'the index holds 1 versions that the database lacks, such as of heron',
      advice: expect.stringContaining('inlay reindex'),
    },
  ])
})

test('doctor --deep is for the machine that has the data', async () => {
  const { code, text } = await doctor(temporaryFolder().path, '--url', 'http://127.0.0.1:1')
  expect([code, text]).toEqual([2, expect.stringContaining('on the machine that has it')])
})
