import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { bucketTimes } from '@inlay/drivers/internal/blobs/s3-blobs'
import { clusterTimes } from '@inlay/drivers/internal/opensearch/transport'
import { redisTimes } from '@inlay/drivers/internal/redis/connection'
import { postgresTimes } from '@inlay/drivers/internal/sql/silent-postgres'
import pg from 'pg'
import { createClient } from 'redis'
import { startEmbeddings } from '../../stand-in/embeddings.ts'
import { listen, send as reply } from '../../stand-in/loopback.ts'
import type { RecordedRequest, ReplyPart } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { startRerank } from '../../stand-in/rerank.ts'
import { startCluster } from '../engines/opensearch-cluster.ts'
import { bucket, user, versityServer } from '../engines/versity.ts'
import { createDisks, faultsOf, serviceFaults, through, type Call, type Disks, type Engine } from './engine-faults.ts'
import { redisServer, signalAll, vectorPostgres, type EngineServer } from './engines.ts'
import { startGate, type Gate } from './gate.ts'
import { apiKey, freePorts, member } from './processes.ts'

/** A process of Inlay. */
export interface Served {
  readonly base: string
  /** A key that the database keeps. */
  readonly key: string
}

interface Installation {
  readonly served: Served
  readonly engines: readonly Engine[]
  /** Looks at what only an end shows. */
  end?(say: (text: string) => void): Promise<void>
  remove(): Promise<void>
}

const page = readFileSync('docs/10.security.md', 'utf8')
/** A block of the page on security, with the password and the bucket of the check. */
function blockOf(language: string, start: string): string {
  const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
  const [, , text = ''] = blocks.find(([, of, text]) => of === language && text!.includes(start)) ?? []
  return text.replaceAll('…', password)
}
const password = 'word-of-the-check-1'

/** A scripted model, which looks up what it is asked to. */
function startModel() {
  return startOpenAi(({ body }: RecordedRequest): ReplyPart[] => {
    const { messages = [] } = body as { messages?: readonly { role: string; content: unknown }[] }
    const question = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '')
    const isAsked = messages.at(-1)?.role === 'user'
    const id = `call_${crypto.randomUUID()}`
    if (isAsked && question.includes('look up'))
      return [{ calls: [{ id, name: 'internal_search', input: { queries: ['heron'] } }] }]
    if (isAsked && question.includes('wiki')) return [{ calls: [{ id, name: 'ask', input: {} }] }]
    return [{ text: 'Herons ' }, { text: 'stand.' }]
  })
}

/** An MCP server with one tool. */
export function startWiki() {
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'wiki', version: '1' },
    },
    'tools/list': { tools: [{ name: 'ask', description: 'Ask the wiki.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'Herons stand.' }] },
  }
  return listen(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { id, method = '' } = (text === '' ? {} : JSON.parse(text)) as { id?: number; method?: string }
    const result = results[method]
    if (result === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end()
    reply(response, 200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': 's1' })
  })
}

/** Runs `inlay serve` by settings alone. */
async function serve(
  env: Readonly<Record<string, string>>,
  data: string,
): Promise<Served & { stop(): Promise<number> }> {
  const words = ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', 'serve', '--json', '--data', data]
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', process.env['INLAY_TEST_SHOW'] ? 'inherit' : 'ignore'],
    env: {
      ...process.env,
      LANCEDB_LOG: 'error',
      PORT: '0',
      INLAY_API_KEY: apiKey,
      INLAY_SEARCH_HELP: 'off',
      INLAY_SESSION_NAMES: 'off',
      ...env,
    },
  })
  const greeting = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (part) => (output += part).includes('\n') && resolve(output))
    child.once('exit', (code) => reject(new Error(`inlay serve ended with ${code}`)))
  })
  const { base_url: base } = JSON.parse(greeting) as { base_url: string }
  return {
    base,
    key: await newKey(base),
    stop: async () => {
      const began = performance.now()
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
      return performance.now() - began
    },
  }
}

async function newKey(base: string): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'check', scopes: ['chat', 'search'] })
  const created = await fetch(`${base}/admin/api-key`, { method: 'POST', headers, body })
  return ((await created.json()) as { api_key: string }).api_key
}

const modelSettings = (origin: string): Record<string, string> => ({
  INLAY_MODEL: 'scripted',
  INLAY_MODEL_GROUNDING: 'tools',
  INLAY_MODEL_BASE_URL: `${origin}/v1`,
  INLAY_MODEL_FIRST_TOKEN_SECONDS: '5',
  INLAY_MODEL_SILENCE_SECONDS: '5',
})

const chats = ['chat', 'chat, tool'] as const
const stores = [...chats, 'ingest', 'upload'] as const
const { queryMs, answerMs, connectMs } = postgresTimes
/** The longest way to a refusal: a query that is looked after, or a connection that does not come about. */
const postgresMs = Math.max(queryMs + answerMs, connectMs) + postgresTimes.silentConnectMs + 1_000
const each = (calls: readonly Call[], ms: number) => Object.fromEntries(calls.map((name) => [name, ms]))
const ofDatabase = ['sign-in', 'search', ...stores, 'list', 'download'] as const

/** A database of the docs' roles, in which the owner has made the tables. */
async function openDatabase(
  server: EngineServer,
): Promise<{ owner: string; url: string; admin(sql: string): Promise<void> }> {
  const admin = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }
  await admin(blockOf('sql', 'create role inlay_owner'))
  const as = (username: string): string => Object.assign(new URL(server.url), { username, password }).href
  return { owner: as('inlay_owner'), url: as('inlay_server'), admin }
}

function migrate(env: Readonly<Record<string, string>>): void {
  execFileSync(process.execPath, ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', 'migrate'], {
    env: { ...process.env, ...env },
    stdio: process.env['INLAY_TEST_SHOW'] ? 'inherit' : 'ignore',
  })
}

const behindGates = ['records', 'index', 'redis', 'files', 'model', 'embedder', 'mcp', 'collector', 'webhook'] as const

async function openServers(): Promise<Installation> {
  const disks = createDisks()
  const ports = await freePorts(4)
  const [records, index] = await Promise.all([
    vectorPostgres(ports[0]!, disks.of('records', 400)),
    vectorPostgres(ports[1]!, disks.of('index', 400)),
  ])
  const databases = { records: await openDatabase(records), index: await openDatabase(index) }
  const redis = redisServer(ports[2]!)
  await redis.start()
  const command = async (...words: string[]): Promise<void> => {
    const client = createClient({ url: redis.url })
    await client.connect()
    await client.sendCommand(words)
    client.destroy()
  }
  const allowRedis = (): Promise<void> => command(...blockOf('text', 'ACL SETUSER').trim().split(/\s+/))
  await allowRedis()
  const files = await versityServer(ports[3]!, disks.of('files', 64))
  const policy = JSON.parse(blockOf('json', 's3:PutObject')) as { Statement: object[] }
  await files.allow(policy.Statement)
  const services = {
    model: await startModel(),
    embedder: await startEmbeddings(),
    mcp: await startWiki(),
    collector: await listen(
      async (request, response) => void request.resume().on('end', () => reply(response, 200, {})),
    ),
    webhook: await listen(async (request, response) => void request.resume().on('end', () => reply(response, 200, {}))),
  }
  const portOf = (url: string): number => Number(new URL(url).port)
  const urls = {
    records: databases.records.url,
    index: databases.index.url,
    redis: redis.url,
    files: files.url,
    model: services.model.origin,
    embedder: services.embedder.baseUrl,
    mcp: services.mcp.origin,
    collector: services.collector.origin,
    webhook: services.webhook.origin,
  }
  const gates = Object.fromEntries(
    await Promise.all(Object.entries(urls).map(async ([name, url]) => [name, await startGate(portOf(url))] as const)),
  ) as Record<keyof typeof urls, Gate>
  const to = (name: keyof typeof urls, url = urls[name]): string => through(gates[name], url)
  const engineEnv = {
    ...modelSettings(to('model').replace(/\/$/, '')),
    INLAY_EMBEDDING_MODEL: 'stand-in',
    INLAY_EMBEDDING_BASE_URL: to('embedder'),
    INLAY_EMBEDDING_DIMENSIONS: '64',
  }
  migrate({ ...engineEnv, INLAY_DATABASE_URL: databases.records.owner, INLAY_INDEX_URL: databases.index.owner })
  const redisUrl = Object.assign(new URL(to('redis')), { username: 'inlay', password }).href
  const data = disks.of('data', 64)
  const served = await serve(
    {
      ...engineEnv,
      INLAY_DATABASE_URL: to('records'),
      INLAY_INDEX_URL: to('index'),
      INLAY_REDIS_URL: redisUrl,
      INLAY_FILES_URL: `s3://${bucket}/inlay/files`,
      INLAY_S3_ENDPOINT: to('files'),
      INLAY_S3_ACCESS_KEY_ID: user.accessKeyId,
      INLAY_S3_SECRET_ACCESS_KEY: user.secretAccessKey,
      INLAY_MCP_SERVERS: `wiki=${to('mcp')}mcp`,
      INLAY_EGRESS_ALLOW: '127.0.0.1',
      INLAY_WEBHOOK_URL: `${to('webhook')}events`,
      INLAY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: to('collector').replace(/\/$/, ''),
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    },
    data,
  )
  return {
    served,
    engines: enginesOf({ records, index, redis, files, databases, command, allowRedis, policy, disks, gates }),
    end: async (say) => {
      await gates.collector.set('silent')
      say(`With a silent collector it ends within ${((await served.stop()) / 1000).toFixed(1)} s.`)
    },
    remove: async () => {
      await served.stop()
      for (const each of [...Object.values(gates), records, index, redis, files]) await each.remove()
      for (const each of Object.values(services)) await each.close()
      disks.remove()
    },
  }
}

interface Servers {
  readonly records: EngineServer
  readonly index: EngineServer
  readonly redis: EngineServer
  readonly files: Awaited<ReturnType<typeof versityServer>>
  readonly databases: Readonly<Record<'records' | 'index', Awaited<ReturnType<typeof openDatabase>>>>
  /** Sends a command to Redis. */
  command(...words: string[]): Promise<void>
  allowRedis(): Promise<void>
  readonly policy: { readonly Statement: object[] }
  readonly disks: Disks
  readonly gates: Readonly<Record<(typeof behindGates)[number], Gate>>
}

/** How each of the servers and services fails, and what fails with it. */
function enginesOf({
  records,
  index,
  redis,
  files,
  databases,
  command,
  allowRedis,
  policy,
  disks,
  gates,
}: Servers): Engine[] {
  const refuse =
    ({ admin }: Servers['databases']['records']) =>
    () =>
      admin(`alter role inlay_server connection limit 0;
      select pg_terminate_backend(pid) from pg_stat_activity where usename = 'inlay_server'`)
  const postgresEngine = (
    name: 'records' | 'index',
    server: EngineServer,
    rest: Pick<Engine, 'fails' | 'failsFull' | 'heldMs'>,
  ): Engine => {
    const freeze = async (): Promise<void> => signalAll(server.pids(), 'SIGSTOP')
    const full = async (): Promise<void> => disks.fill(name)
    const { faults, heal } = faultsOf(server, gates[name], {
      'frozen after a rest': freeze,
      refusing: refuse(databases[name]),
      full,
    })
    return {
      name,
      faults,
      heal: async (fault) => {
        if (fault === 'refusing') await databases[name].admin('alter role inlay_server connection limit -1')
        if (fault === 'full') disks.free(name)
        // It ends when it cannot write its log, and is started again by what watches over it.
        if (fault === 'full')
          await databases[name].admin('select').catch(async () => (await server.kill(), server.start()))
        await heal(fault)
      },
      ...rest,
    }
  }
  return [
    postgresEngine('records', records, { fails: ['ready', ...ofDatabase], heldMs: each(ofDatabase, postgresMs) }),
    postgresEngine('index', index, { fails: ['search'], heldMs: each(['search', 'chat, tool'], postgresMs) }),
    {
      name: 'redis',
      ...faultsOf(redis, gates.redis, {
        refusing: async () => {
          await command('ACL', 'SETUSER', 'inlay', 'off')
          await command('CLIENT', 'KILL', 'USER', 'inlay')
        },
        full: () => command('CONFIG', 'SET', 'maxmemory', '1'),
      }),
      heal: async (fault) => {
        if (fault.startsWith('frozen')) signalAll(redis.pids(), 'SIGCONT')
        if (fault === 'killed') await redis.start()
        if (fault === 'full') await command('CONFIG', 'SET', 'maxmemory', '0')
        await allowRedis()
        await gates.redis.set('open')
      },
      fails: [],
      heldMs: each(chats, redisTimes.quietMs + redisTimes.answerMs),
    },
    {
      name: 'files',
      ...faultsOf(files, gates.files),
      faults: {
        ...faultsOf(files, gates.files).faults,
        refusing: () => files.allow([{ Effect: 'Deny', Action: 's3:*', Resource: [`arn:aws:s3:::${bucket}/*`] }]),
        full: async () => disks.fill('files'),
      },
      heal: async (fault) => {
        if (fault === 'full') disks.free('files')
        if (fault === 'refusing') await files.allow(policy.Statement)
        await faultsOf(files, gates.files).heal(fault)
      },
      fails: ['upload', 'download'],
      heldMs: { upload: bucketTimes.writeMs, download: bucketTimes.answerMs },
      // Three attempts, with pauses.
      atOnceMs: each(['upload', 'download'], 1_000),
    },
    {
      name: 'model',
      ...serviceFaults(gates.model),
      fails: chats,
      heldMs: each(chats, 5_000),
      atOnceMs: each(chats, 20_000),
    },
    { name: 'embedder', ...serviceFaults(gates.embedder), fails: [], heldMs: each(['search', 'chat, tool'], 300) },
    { name: 'mcp', ...serviceFaults(gates.mcp), fails: [], heldMs: each(chats, 12_000), toolMessage: 'Ask the wiki.' },
    { name: 'collector', ...serviceFaults(gates.collector), fails: [] },
    { name: 'webhook', ...serviceFaults(gates.webhook), fails: [] },
  ]
}

/** One node, so that nothing else answers. */
async function openCluster(): Promise<Installation> {
  const disks = createDisks()
  const [port] = await freePorts(1)
  const records = await vectorPostgres(port!, disks.of('records', 400))
  const cluster = await startCluster(undefined, undefined, 1)
  const model = await startModel()
  const embedder = await startEmbeddings()
  const gate = await startGate(Number(new URL(cluster.nodes[0]!).port))
  const served = await serve(
    {
      ...modelSettings(model.origin),
      INLAY_EMBEDDING_MODEL: 'stand-in',
      INLAY_EMBEDDING_BASE_URL: embedder.baseUrl,
      INLAY_EMBEDDING_DIMENSIONS: '64',
      INLAY_DATABASE_URL: records.url,
      INLAY_INDEX_URL: through(gate, cluster.nodes[0]!),
    },
    disks.of('data', 64),
  )
  const block = async (isBlocked: boolean | null): Promise<void> => {
    const body = JSON.stringify({ 'index.blocks.read_only_allow_delete': isBlocked })
    const headers = { 'content-type': 'application/json' }
    await fetch(`${cluster.nodes[0]}/_all/_settings`, { method: 'PUT', headers, body })
  }
  const server: EngineServer = {
    url: cluster.nodes[0]!,
    start: () => cluster.startNode(1),
    kill: () => cluster.killNode(1),
    pids: () => cluster.pids,
    remove: () => cluster.stop(),
  }
  const { faults, heal } = faultsOf(server, gate, { refusing: () => gate.set('refusing'), full: () => block(true) })
  return {
    served,
    engines: [
      {
        name: 'opensearch',
        faults,
        heal: async (fault) => {
          if (fault === 'full') await block(null)
          await heal(fault)
        },
        fails: ['search'],
        // A search looks after the index once more before it fails.
        heldMs: each(
          ['search', 'chat, tool'],
          clusterTimes.quietMs + clusterTimes.silentMs + 2 * clusterTimes.answerMs,
        ),
        atOnceMs: each(['search', 'chat, tool'], 2_000),
      },
    ],
    remove: async () => {
      await served.stop()
      for (const each of [gate, records, server]) await each.remove()
      await model.close()
      await embedder.close()
      disks.remove()
    },
  }
}

/** One machine: SQLite, LanceDB and files in a data folder, and a reranker. */
async function openFolder(): Promise<Installation> {
  const disks = createDisks()
  const rerank = await startRerank()
  const gate = await startGate(Number(new URL(rerank.baseUrls.tei).port))
  const [port] = await freePorts(1)
  const assistant = member({
    port: port!,
    dataFolder: disks.of('data', 200),
    reranker: through(gate, rerank.baseUrls.tei),
    telemetry: true,
    hasVectors: true,
  })
  await assistant.start()
  return {
    served: { base: assistant.base, key: await newKey(assistant.base) },
    engines: [
      {
        name: 'reranker',
        ...serviceFaults(gate),
        fails: [],
        heldMs: each(['search', 'chat, tool'], 5_000),
        atOnceMs: each(['search', 'chat, tool'], 1_000),
      },
      {
        name: 'data folder',
        faults: { full: async () => disks.fill('data') },
        heal: async () => disks.free('data'),
        fails: stores,
      },
    ],
    remove: async () => {
      await assistant.kill()
      await gate.remove()
      await rerank.close()
      disks.remove()
    },
  }
}

/** Names of engines by installation. */
export const sets: readonly (readonly [readonly string[], () => Promise<Installation>])[] = [
  [behindGates, openServers],
  [['opensearch'], openCluster],
  [['reranker', 'data folder'], openFolder],
]
