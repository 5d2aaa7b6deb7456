/**
 * Writes the data folder of this version as `data-<version>.zip` beside this file, and the statements that it sent to
 * its database as `statements-<version>.zip`. Run it once for each release and commit both files: every later version
 * must open the data, and the next one must take the statements. It refuses to replace what is there.
 *
 *   node --conditions=@inlay/source test/life/upgrade/write-data.ts
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient, type Client } from '@inlay/client'
import { postgres } from '@inlay/drivers/postgres'
import { zipSync } from 'fflate'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import { letterEmbedder } from './letter-embedder.ts'
import type { Manifest } from './manifest.ts'

const base = 'http://host.example/api'
const adminKey = 'key-of-the-fixture-writer'

const clientOf = (inlay: Inlay, apiKey: string): Client =>
  createClient({ baseUrl: base, apiKey, fetch: (input, init) => inlay.fetch(new Request(input, init)) })

async function administer(inlay: Inlay, path: string, body: object): Promise<{ readonly id: number }> {
  const headers = { authorization: `Bearer ${adminKey}` }
  const answer = await inlay.fetch(
    new Request(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  )
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { id: number }
}

const documents = [
  ['leave', 'Staff receive 25 days of paid leave a year. Leave that is not taken by March is lost.'],
  ['urlaub', 'Angestellte erhalten 25 Urlaubstage im Jahr. Überstunden werden mit Freizeit ausgeglichen.'],
  ['congés', 'Les salariés ont droit à un congé parental de seize semaines, payé intégralement.'],
  ['休假', '员工每年享有二十五天带薪年假。病假需要医生证明。'],
  ['إجازة', 'يحصل الموظفون على إجازة سنوية مدفوعة الأجر مدتها خمسة وعشرون يوما.'],
] as const

async function ingest(inlay: Inlay, admin: Client): Promise<void> {
  for (const [id, text] of documents)
    await admin.ingest(
      {
        id,
        semantic_identifier: id,
        metadata: { language: id },
        sections: [{ text, link: `https://docs.example/${id}` }],
      },
      { waitSeconds: 60 },
    )
  const sections = Array.from({ length: 12 }, (_, at) => ({
    heading: `Rule ${at + 1}`,
    text: `The workshop rule number ${at + 1} concerns machine ${at + 1}. ${'Wear gloves and goggles. '.repeat(30)}`,
  }))
  await admin.ingest(
    { id: 'workshop', semantic_identifier: 'Workshop rules', metadata: {}, sections },
    { waitSeconds: 60 },
  )
  const pair = { name: 'Board', access_type: 'private', users: [], groups: ['board'] }
  const { id: ccPairId } = await administer(inlay, '/manage/admin/cc-pair', pair)
  const salaries = {
    id: 'salaries',
    semantic_identifier: 'Salaries',
    metadata: {},
    sections: [{ text: 'The director earns 90,000 euros.' }],
  }
  await admin.ingest(salaries, { ccPairId, waitSeconds: 60 })
  await administer(inlay, '/manage/admin/document-set', { name: 'Secrets', description: '', cc_pair_ids: [ccPairId] })
  const gone = {
    id: 'gone',
    semantic_identifier: 'Gone',
    metadata: {},
    sections: [{ text: 'The zeppelin mooring is closed.' }],
  }
  await admin.ingest(gone, { waitSeconds: 60 })
  await admin.deleteDocument('gone')
  for (const message of ['Leave?', 'Leave?'])
    await inlay.fetch(
      new Request(`${base}/chat/send-chat-message`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminKey}`, 'idempotency-key': 'once' },
        body: JSON.stringify({ message, stream: false }),
      }),
    )
}

async function converse(ann: Client): Promise<Pick<Manifest, 'session' | 'answer' | 'file' | 'persona' | 'project'>> {
  const first = await ann.ask('How many days of paid leave do staff receive?')
  const session = first.chat_session_id ?? ''
  await ann.ask({ message: 'What happens to leave that is not taken?', chat_session_id: session })
  await ann.sessions.rename(session, 'Leave')
  await ann.sessions.rate(first.message_id, { isPositive: true })
  const upload = await ann.files.upload([
    { name: 'canteen.md', content: new Blob(['# Canteen\n\nSoup is served at noon.\n']) },
  ])
  const [file] = await ann.files.whenRead(upload.user_files.map(({ id }) => id))
  const project = await ann.projects.create('Lunch')
  await ann.projects.update(project.id, { instructions: 'Answer briefly.' })
  await ann.projects.link(project.id, file!.id)
  const persona = await ann.agents.create({
    name: 'Clerk',
    description: 'Knows the rules.',
    system_prompt: 'You are a clerk: quote the rule.',
    task_prompt: '',
    datetime_aware: true,
    tool_ids: [],
    document_set_ids: [],
  })
  await ann.memories.add('Ann works in Bremen.')
  const { answer } = first
  return { session, answer, file: file!.file_id, persona: persona.id, project: project.id }
}

async function writeFolder(dataFolder: string, more: InlayOptions = {}): Promise<Manifest> {
  const options: InlayOptions = { ...more, dataFolder, apiKey: adminKey, embedder: letterEmbedder }
  const inlay = createInlay(options)
  const admin = clientOf(inlay, adminKey)
  await ingest(inlay, admin)
  const { key } = await inlay.keys.create({ name: 'Ann', scopes: ['chat'], owner: 'ann' })
  const { key: boardKey } = await inlay.keys.create({
    name: 'Board',
    scopes: ['search'],
    owner: 'bob',
    groups: ['board'],
  })
  const { key: revokedKey, record } = await inlay.keys.create({ name: 'Old', scopes: ['chat'], owner: 'cid' })
  await inlay.keys.revoke(record.id)
  const conversation = await converse(clientOf(inlay, key))
  await inlay.close()
  // Accepted but not indexed when the process ended.
  const embed = (): Promise<never> => Promise.reject(new Error('The embedding model is down.'))
  const last = createInlay({ ...options, embedder: { ...letterEmbedder, embed } })
  const pending = {
    id: 'pending',
    semantic_identifier: 'Pending',
    metadata: {},
    sections: [{ text: 'The ferry leaves at dawn.' }],
  }
  await clientOf(last, adminKey).ingest(pending)
  await last.close()
  return { key, boardKey, revokedKey, documents: documents.map(([id]) => id), ...conversation }
}

const { version } = JSON.parse(readFileSync('packages/inlay/package.json', 'utf8')) as { version: string }
const target = process.argv[2] ?? join(import.meta.dirname, `data-${version}.zip`)
if (existsSync(target)) throw new Error(`${target} is there already: data of a released version never changes`)
const folder = mkdtempSync(join(tmpdir(), 'inlay-data-'))
const statements = target.replace(/data-([^/]*)$/, 'statements-$1')
if (existsSync(statements)) throw new Error(`${statements} is there already`)
const onSqlite = new Set<string>()
const { prepare } = DatabaseSync.prototype
DatabaseSync.prototype.prepare = function (this: DatabaseSync, text, ...more) {
  onSqlite.add(text)
  return prepare.call(this, text, ...more)
}
try {
  const manifest = await writeFolder(join(folder, 'sqlite'))
  const names = globSync('**/*', { cwd: join(folder, 'sqlite') })
  const paths = names.filter((name) => statSync(join(folder, 'sqlite', name)).isFile())
  const files = Object.fromEntries(paths.map((name) => [`data/${name}`, readFileSync(join(folder, 'sqlite', name))]))
  const bytes = zipSync({ ...files, 'manifest.json': Buffer.from(JSON.stringify(manifest)) }, { level: 9 })
  writeFileSync(target, bytes)
  process.stdout.write(`${target}: ${paths.length} files, ${bytes.length} bytes\n`)
  writeFileSync(statements, zipSync({ 'statements.json': Buffer.from(await recordStatements()) }, { level: 9 }))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}

/** The statements on rows of both databases, and those that made the tables of PostgreSQL. */
async function recordStatements(): Promise<string> {
  const database = await startPostgres()
  const pool = poolOf(database)
  const onPostgres = new Set<string>()
  const connect: typeof pool.connect = async () => {
    const client = await pool.connect()
    const query = (text: string, values: readonly unknown[]) => {
      onPostgres.add(text)
      return client.query(text, values)
    }
    return { ...client, query } as typeof client
  }
  await writeFolder(join(folder, 'postgres'), { database: postgres({ pool: { ...pool, connect } }) })
  await database.close()
  const onRows = (texts: ReadonlySet<string>): string[] =>
    [...texts].filter(
      (text) => /inlay_/.test(text) && !/_migration|pg_|sqlite_master|^\s*(create|alter|drop)/i.test(text),
    )
  const schema = [...onPostgres].filter((text) => /^\s*(create|alter|drop)/i.test(text))
  return JSON.stringify({
    sqlite: { statements: onRows(onSqlite) },
    postgres: { schema, statements: onRows(onPostgres) },
  })
}
