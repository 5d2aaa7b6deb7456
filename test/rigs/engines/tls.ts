/**
 * Speaks TLS to each engine and service with certificates of an authority of its own: with the authority named it works,
 * without it and with a certificate for another name it is refused in words that say what to set.
 * `npm run -w test/rigs check:tls`, or with names of engines. Needs `openssl`, Debian's `postgresql` and `redis-server`, Go.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../../life/process.ts'
import { startEmbeddings } from '../../stand-in/embeddings.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { startWiki } from '../scale/faulty-engines.ts'
import { freePorts } from '../scale/processes.ts'
import { startCluster } from './opensearch-cluster.ts'
import { bucket, user, versityServer } from './versity.ts'

// Of this process, which makes buckets and users.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const folder = temporaryFolder()
chmodSync(folder.path, 0o755)
const file = (name: string): string => join(folder.path, name)
const openssl = (...words: string[]): void => void execFileSync('openssl', words, { cwd: folder.path, stdio: 'ignore' })

/** A certificate of the authority. */
interface Certificate {
  readonly cert: string
  readonly key: string
}

function certify(name: string, subjects: string): Certificate {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${name}`,
  )
  writeFileSync(file(`${name}.ext`), `subjectAltName=${subjects}\n`)
  const signed = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial', '-days', '2']
  openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-extfile', `${name}.ext`, '-out', `${name}.pem`)
  return { cert: file(`${name}.pem`), key: file(`${name}.key`) }
}

openssl(
  'req',
  '-x509',
  '-newkey',
  'rsa:2048',
  '-nodes',
  '-keyout',
  'authority.key',
  '-out',
  'authority.pem',
  '-days',
  '2',
  '-subj',
  '/CN=Authority of the check',
)
const certificates = {
  here: certify('here', 'DNS:localhost,IP:127.0.0.1'),
  elsewhere: certify('elsewhere', 'DNS:elsewhere.example'),
}
type Name = keyof typeof certificates

/** Codes and sentences of OpenSSL and Node. */
const raw = /UNABLE_TO|SELF_SIGNED|ERR_TLS|unable to verify|altnames/

type Settings = Readonly<Record<string, string>>
interface Engine {
  /** Settings that lead to it. */
  readonly settings: Settings
  stop(): unknown
}

/** Ends TLS in front of a port. */
async function secured(target: string, { cert, key }: Certificate): Promise<{ url: string; stop(): void }> {
  const { port, pathname } = new URL(target)
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (near) => {
    const far = connect(Number(port), '127.0.0.1')
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
  const { port: own } = server.address() as { port: number }
  return { url: `https://127.0.0.1:${own}${pathname === '/' ? '' : pathname}`, stop: () => server.close() }
}

async function postgres(name: Name): Promise<Engine> {
  const [port] = await freePorts(1)
  const data = file(`postgres-${port}`)
  mkdirSync(data)
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const as = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {}
  if ('uid' in as) chownSync(data, id('-u'), id('-g'))
  const version = readdirSync('/usr/lib/postgresql').toSorted().at(-1)!
  const bin = join('/usr/lib/postgresql', version, 'bin')
  const options = { ...as, cwd: data, stdio: 'ignore' as const }
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'inlay', '-A', 'trust', '--encoding=UTF8', '--locale=C'],
    options,
  )
  for (const [part, target] of [
    ['cert', 'server.crt'],
    ['key', 'server.key'],
  ] as const) {
    copyFileSync(certificates[name][part], join(data, target))
    chmodSync(join(data, target), 0o600)
    if ('uid' in as) chownSync(join(data, target), id('-u'), id('-g'))
  }
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', data, '-c', 'ssl=on'],
    options,
  )
  await delay(2_000)
  const url = `postgres://inlay@127.0.0.1:${port}/postgres?sslmode=verify-full`
  return { settings: { INLAY_DATABASE_URL: url, INLAY_INDEX_URL: 'folder' }, stop: () => child.kill('SIGQUIT') }
}

async function redis(name: Name): Promise<Engine> {
  const [port] = await freePorts(1)
  const { cert, key } = certificates[name]
  const tls = [
    '--tls-port',
    String(port),
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    file('authority.pem'),
  ]
  const child = spawn('redis-server', ['--port', '0', '--save', '', '--tls-auth-clients', 'no', ...tls], {
    stdio: 'ignore',
  })
  await delay(1_000)
  return { settings: { INLAY_REDIS_URL: `rediss://127.0.0.1:${port}` }, stop: () => child.kill('SIGKILL') }
}

async function files(name: Name): Promise<Engine> {
  const [port] = await freePorts(1)
  const server = await versityServer(port!, file(`files-${port}`), certificates[name])
  const settings = {
    INLAY_FILES_URL: `s3://${bucket}/inlay/files`,
    INLAY_S3_ENDPOINT: server.url,
    INLAY_S3_ACCESS_KEY_ID: user.accessKeyId,
    INLAY_S3_SECRET_ACCESS_KEY: user.secretAccessKey,
  }
  const Action = ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']
  await server.allow([
    { Effect: 'Allow', Action, Resource: [`arn:aws:s3:::${bucket}/inlay/*`] },
    { Effect: 'Allow', Action: ['s3:ListBucket'], Resource: [`arn:aws:s3:::${bucket}`] },
  ])
  return { settings, stop: () => server.remove() }
}

/** A service over HTTP behind TLS. */
const service =
  (start: () => Promise<{ readonly url: string; close(): Promise<void> }>, settingsOf: (url: string) => Settings) =>
  async (name: Name): Promise<Engine> => {
    const stand = await start()
    const { url, stop } = await secured(stand.url, certificates[name])
    return { settings: settingsOf(url), stop: () => (stop(), stand.close()) }
  }

const engines: Readonly<Record<string, (name: Name) => Promise<Engine>>> = {
  postgres,
  redis,
  files,
  opensearch: service(
    async () => {
      const cluster = await startCluster(undefined, undefined, 1)
      return { url: cluster.nodes[0]!, close: cluster.stop }
    },
    (url) => ({ INLAY_INDEX_URL: url }),
  ),
  bucket: async (name) => {
    const { settings, stop } = await files(name)
    const { INLAY_FILES_URL: _, ...rest } = settings
    return { settings: { ...rest, INLAY_INDEX_URL: `s3://${bucket}/inlay/files/index` }, stop }
  },
  model: service(
    async () => {
      const model = await startOpenAi([[{ text: 'Yes.' }]])
      return { url: `${model.origin}/v1`, close: model.close }
    },
    (url) => ({ INLAY_MODEL: 'scripted', INLAY_MODEL_BASE_URL: url }),
  ),
  embedder: service(
    async () => {
      const { baseUrl: url, close } = await startEmbeddings()
      return { url, close }
    },
    (url) => ({ INLAY_EMBEDDING_MODEL: 'stand-in', INLAY_EMBEDDING_BASE_URL: url }),
  ),
  mcp: service(
    async () => {
      const server = await startWiki()
      return { url: `${server.origin}/mcp`, close: server.close }
    },
    (url) => ({ INLAY_MCP_SERVERS: `wiki=${url}`, INLAY_EGRESS_ALLOW: '127.0.0.1' }),
  ),
}

/** What a command says that uses the engine. */
async function run(
  words: readonly string[],
  settings: Settings,
  authority?: string,
): Promise<[code: unknown, text: string]> {
  const { NODE_EXTRA_CA_CERTS: _, NODE_TLS_REJECT_UNAUTHORIZED: __, ...rest } = process.env
  const env = {
    ...rest,
    PORT: '0',
    INLAY_DATA: file(`data-${crypto.randomUUID()}`),
    LANCEDB_LOG: 'error',
    ...settings,
    ...(authority && { NODE_EXTRA_CA_CERTS: authority, SSL_CERT_FILE: authority }),
  }
  const child = spawn(process.execPath, ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', ...words], { env })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (text += part))
  // What cannot be indexed now is waited for.
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  const [code] = (await once(child, 'exit')) as unknown[]
  clearTimeout(timer)
  return [code, text]
}

const wanted = process.argv.slice(2)
const authority = file('authority.pem')
const sentences = [
  ['works with its authority', 'here', authority, /^(?![^]*FAILED)/],
  ['is refused without it', 'here', undefined, /: name the file of its authority in /],
  [
    'is refused under another name',
    'elsewhere',
    authority,
    /is for another name|a name that (it|the certificate) holds/,
  ],
] as const
let failed = 0
for (const [engine, start] of Object.entries(engines)) {
  if (wanted.length > 0 && !wanted.includes(engine)) continue
  for (const [title, name, given, expected] of sentences) {
    const { settings, stop } = await start(name)
    // An index in a bucket takes longer to open than `doctor` waits.
    const [code, text] = await run(engine === 'bucket' ? ['ingest', 'AGENTS.md'] : ['doctor'], settings, given)
    const isGood = expected.test(text) && (code === 0) === (given === authority && name === 'here') && !raw.test(text)
    say(
      `${isGood ? 'ok' : 'FAILED'}: ${engine} ${title}${isGood && !process.env['INLAY_TEST_SHOW'] ? '' : `: ${code}\n${text}`}`,
    )
    if (!isGood) failed++
    await stop()
  }
}
folder.remove()
say(`${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
