import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { derivedTables, personTables } from 'inlay/internal/parts/stored-tables'
import { copiedTables, type AnyDatabase } from '@inlay/records'
import { isOfPerson } from '@inlay/conversations'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'
import { testExports } from './export.ts'
import { leaveTraces, newHeldSetting, people } from './held.ts'

testExports(async () => ({}))

/** Tables of what belongs to nobody alone. A new table stands here, or in one of the lists of `stored-tables.ts`. */
const shared = `inlay_agent_action_off inlay_agent_tool inlay_agent_tool_number inlay_content_parts inlay_contents
  inlay_document_images inlay_document_metadata inlay_document_pairs inlay_document_set_pairs inlay_document_sets
  inlay_document_tags inlay_documents inlay_grants inlay_holds inlay_inbox inlay_large_contents inlay_pairs
  inlay_tags`.split(/\s+/)

test('each table is said to hold rows of people, shared rows, or what is derived; erasing a person removes their rows', async () => {
  const { folder, open } = newHeldSetting()
  const held = open()
  await leaveTraces(held, 'ann')
  const db: AnyDatabase = new Kysely({ dialect: nodeSqlite({ file: `${folder}/inlay.db` }) })
  onTestFinished(() => db.destroy())
  const tables = await copiedTables(db, (name) => !/_migration$|_(words|names_index)(_|$)/.test(name))
  const lists = [...new Set([...Object.keys(personTables), ...derivedTables]), ...shared]
  expect(tables.map(({ name }) => name)).toEqual(lists.toSorted())
  const rowsOfAnn = async () => {
    const rows: Record<string, number> = {}
    for (const [name, table] of Object.entries(personTables)) {
      const where = isOfPerson(table, people.ann, personTables)
      const {
        rows: [row],
      } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)} where ${where}`.execute(db)
      rows[name] = row!.count
    }
    return rows
  }
  expect(await rowsOfAnn()).toMatchObject({
    inlay_chat_messages: 3,
    inlay_file_texts: 1,
    inlay_workspace: 1,
    inlay_api_key: 1,
  })
  await held.inlay.erase(people.ann)
  const { inlay_audit: audit, ...rest } = await rowsOfAnn()
  expect(new Set(Object.values(rest))).toEqual(new Set([0]))
  expect(audit).toBe(0)
})

test('a person with 10,000 messages is exported in pages, and an export that ends early leaves nothing', async () => {
  const { folder, open } = newHeldSetting()
  const held = open()
  const { sessionId } = await leaveTraces(held, 'ann')
  const db: AnyDatabase = new Kysely({ dialect: nodeSqlite({ file: `${folder}/inlay.db` }) })
  onTestFinished(() => db.destroy())
  await sql`insert into inlay_chat_messages (session_id, role, status, created_at, text)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
    select ${sessionId}, 'user', 'complete', 1, 'message ' || i from n`.execute(db)
  const stop = new AbortController()
  stop.abort(new Error('stopped'))
  const target = { folder: join(folder, 'ann'), person: people.ann }
  await expect(held.inlay.export({ ...target, signal: stop.signal })).rejects.toThrow('stopped')
  expect(readdirSync(folder).filter((name) => name.includes('ann'))).toEqual([])
  expect((await held.inlay.export(target)).rows).toMatchObject({ chat_messages: 10_003 })
})

test('inlay export writes what is of a person, and says how it is called', async () => {
  const { folder, open } = newHeldSetting()
  const held = open()
  await leaveTraces(held, 'ann')
  const run = async (...words: string[]) => {
    let [out, err] = ['', '']
    const code = await runCommandLine(['export', ...words], {
      env: () => ({ INLAY_DATA: folder }),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      signal: new AbortController().signal,
    })
    return { code, out, err }
  }
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const target = join(path, 'export')
  expect(await run(people.ann, target)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+ rows and 1 files are in .*export\.\n$/),
  })
  expect(await run(people.ann, target)).toMatchObject({
    code: 1,
    err: `inlay: ${target} already exists: choose a new folder.\n`,
  })
  expect(await run('--all', join(folder, 'inside'))).toMatchObject({
    code: 1,
    err: `inlay: An export inside the data folder would be lost with it: choose a folder outside ${folder}.\n`,
  })
  expect((await run('nobody', join(path, 'none'))).err).toContain('Nothing is stored of nobody.')
  expect((await run('--all', join(path, 'all'), '--json')).out).toContain('"chat_sessions":1')
  for (const words of [['ann'], ['--all'], ['ann', 'folder', '--all']]) expect((await run(...words)).code).toBe(2)
})
