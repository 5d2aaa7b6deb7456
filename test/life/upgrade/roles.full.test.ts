import { createInlay, readSettings, type Inlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { checkProduction } from 'inlay/internal/cli/doctor-production'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { postgres } from '@inlay/drivers/postgres'
import { migrate, type Migrations } from '@inlay/records'
import { Kysely, sql } from 'kysely'
import { startPostgres } from '../../knowledge/postgres-server.ts'
import { testFolder } from '../harness.ts'

/** A database with a role that owns the tables, and one that only reads and writes rows. */
let urls: { readonly owner: string; readonly server: string }
let admin: pg.Client

beforeAll(async () => {
  const cluster = await startPostgres()
  const base = new URL(await cluster.takeDatabase())
  const urlOf = (user: string, name: string): string =>
    Object.assign(new URL(base), { username: user, pathname: `/${name}` }).href
  const first = new pg.Client({ connectionString: base.href })
  await first.connect()
  await first.query('create database apart')
  await first.end()
  admin = new pg.Client({ connectionString: urlOf('postgres', 'apart') })
  await admin.connect()
  // The lines of docs/10.security.md, and a count of statements that change tables, which a rollback does not undo.
  await admin.query(`
    create role owner login password 'password';
    create role server login password 'password';
    revoke create on schema public from public;
    grant usage, create on schema public to owner;
    grant usage on schema public to server;
    alter default privileges for role owner in schema public
      grant select, insert, update, delete on tables to server;
    create sequence public.changes;
    grant usage on sequence public.changes to public;
    create function public.count_change() returns event_trigger language plpgsql as $$ begin
      if session_user = 'server' then perform nextval('public.changes'); end if;
    end $$;
    create event trigger counted on ddl_command_start execute function public.count_change()`)
  urls = { owner: urlOf('owner', 'apart'), server: urlOf('server', 'apart') }
  return async () => {
    await admin.end()
    await cluster.stop()
  }
})

async function migrateByCommand(url: string, ...words: string[]): Promise<[code: number, text: string]> {
  let text = ''
  const stream = { write: (part: string) => void (text += part), isTTY: false, columns: 200 }
  const env = () => ({ INLAY_DATABASE_URL: url, INLAY_DATA: testFolder() })
  const { signal } = new AbortController()
  const code = await runCommandLine(['migrate', ...words], { env, stdout: stream, stderr: stream, signal } as never)
  return [code, text]
}

function opened(database: string): { readonly inlay: Inlay; readonly errors: string[] } {
  const errors: string[] = []
  const onError = (error: unknown): unknown => errors.push(String(error))
  const inlay = createInlay({ database, dataFolder: testFolder(), apiKey: 'inlay_key-of-roles', onError })
  onTestFinished(() => inlay.close())
  return { inlay, errors }
}

test('one role migrates, and another serves without changing a table', async () => {
  expect(await migrateByCommand(urls.server, '--check')).toEqual([
    1,
    expect.stringContaining('expand server/0001_api_key: due'),
  ])
  await expect(opened(urls.server).inlay.start()).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining('npx inlay migrate') as string,
  })
  const refused = await admin.query('select last_value from changes')
  expect(await migrateByCommand(urls.owner)).toEqual([
    0,
    expect.stringContaining('expand agent/0018-model-steps: done'),
  ])
  expect(await migrateByCommand(urls.server, '--check')).toEqual([0, 'The tables are up to date.\n'])
  const { inlay, errors } = opened(urls.server)
  await inlay.start()
  const send = async (path: string, body: unknown): Promise<unknown> => {
    const headers = { authorization: 'Bearer inlay_key-of-roles', 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await inlay.fetch(new Request(`http://host.example/api${path}`, init))
    expect(answer.status, path).toBe(200)
    return answer.json()
  }
  const document = {
    id: 'heron',
    semantic_identifier: 'Herons',
    sections: [{ text: 'The heron waits.' }],
    metadata: {},
  }
  await send('/service-api/ingestion', { document })
  await expect.poll(() => inlay.knowledge.status('heron')).toMatchObject({ phase: 'indexed' })
  expect(await send('/search', { query: 'heron' })).toMatchObject({ results: [{ title: 'Herons' }] })
  const question = { message: 'What does the heron do?', stream: false }
  expect(await send('/chat/send-chat-message', question)).toMatchObject({ answer: expect.stringContaining('waits') })
  await inlay.keys.create({ name: 'n', owner: 'o', scopes: ['chat'] })
  await inlay.close()
  expect(errors).toEqual([])
  expect((await admin.query('select last_value from changes')).rows).toEqual(refused.rows)
  const roleOf = async (url: string): Promise<string | undefined> => {
    const settings = readSettings({ INLAY_DATABASE_URL: url, INLAY_DATA: testFolder() })
    const findings = await checkProduction({ settings } as never)
    return findings.find(({ check }) => check === 'Role')?.message
  }
  expect(await roleOf(urls.server)).toBe('only reads and writes rows')
  expect(await roleOf(urls.owner)).toBe('the role may change tables')
})

test('a step of an upgrade locks no table that an earlier one has changed, and lets those who wait behind it go first', async () => {
  const [db, reader] = [urls.owner, urls.owner].map(
    (connectionString) => new Kysely<unknown>({ dialect: postgres({ connectionString }) }),
  )
  const add = (table: string) => (tables: Kysely<unknown>) =>
    tables.schema.alterTable(table).addColumn('more', 'text').execute()
  const created: Migrations = {
    '001': {
      up: async (tables) => {
        for (const table of ['one', 'other']) await tables.schema.createTable(table).addColumn('id', 'text').execute()
      },
    },
  }
  await migrate(db!, { name: 'locks', expand: created })
  const upgrade = { name: 'locks', expand: { ...created, '002': { up: add('one') }, '003': { up: add('other') } } }
  let migration: Promise<unknown> | undefined
  await reader!.transaction().execute(async (transaction) => {
    await sql`select * from other`.execute(transaction)
    migration = migrate(db!, upgrade)
    const waiting = `select from pg_locks where not granted and relation = 'other'::regclass`
    await expect.poll(() => admin.query(waiting)).toMatchObject({ rowCount: 1 })
    await sql`select more from one`.execute(transaction)
    // Behind a lock that is only waited for.
    await admin.query('select * from other')
  })
  expect(await migration).toHaveLength(2)
  for (const each of [db!, reader!]) await each.destroy()
})
