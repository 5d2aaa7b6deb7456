import { letterEmbedder } from '../../life/upgrade/letter-embedder.ts'
import { memoryIndex } from '../../knowledge/memory-index.ts'
import type { CompiledQuery, DatabaseConnection, Dialect } from 'kysely'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { busyOwner } from './filled-records.ts'

/** Shows a dialect's statements as they are sent. */
export function watched(dialect: Dialect, note: (query: CompiledQuery) => void): Dialect {
  const known = new WeakSet<DatabaseConnection>()
  return {
    createDriver: () => {
      const driver = dialect.createDriver()
      const acquire = driver.acquireConnection.bind(driver)
      driver.acquireConnection = async (...given) => {
        const connection = await acquire(...given)
        if (known.has(connection)) return connection
        known.add(connection)
        const execute = connection.executeQuery.bind(connection)
        connection.executeQuery = (query, ...more) => {
          note(query)
          return execute(query, ...more)
        }
        return connection
      }
      return driver
    },
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

/** A service over filled records. Keys are names of callers; `admin` administers. @param more options */
export function serviceOver(dialect: Dialect, folder: string, more?: Partial<InlayOptions>): Inlay {
  return createInlay({
    dataFolder: folder,
    database: dialect,
    index: memoryIndex(),
    embedder: letterEmbedder,
    authenticate: (request) => {
      const id = request.headers.get('authorization')?.slice('Bearer '.length) ?? ''
      if (id === 'admin') return { id, scopes: ['admin'] }
      return id === '' ? undefined : { id, scopes: ['chat', 'ingest'], groups: ['staff'] }
    },
    onError: () => {},
    ...more,
  })
}

export interface Call {
  readonly name: string
  readonly as: string
  readonly path: string
  readonly method?: string
  readonly body?: unknown
}

export const get = (path: string, as = 'admin'): Call => ({ name: `GET ${path} (${as})`, as, path })
export const post = (path: string, body: unknown, as = 'admin', method = 'POST'): Call => ({
  name: `${method} ${path} (${as})`,
  as,
  path,
  method,
  body,
})

/** Calls that read lists, counts and single records, as administrator and as a person of a group. */
export function readingCalls(documents: number): Call[] {
  const rare = `title${documents - 7}`
  const shared = ['admin', 'ann'].flatMap((as) => [
    get('/service-api/ingestion?limit=100', as),
    get(`/service-api/ingestion?match=${rare}`, as),
    get('/service-api/ingestion?match=report', as),
    get('/service-api/ingestion?match=absent%20words', as),
    get('/service-api/ingestion?match=q', as),
    get('/service-api/ingestion?order=newest&limit=50', as),
    get('/service-api/ingestion?order=newest&source=web', as),
    get('/service-api/ingestion?order=title&limit=50', as),
    get('/service-api/ingestion?order=largest&limit=50', as),
    get('/service-api/ingestion?phase=failed', as),
    get('/service-api/ingestion?phase=pending', as),
    get('/service-api/ingestion?source=web&phase=indexed', as),
    get('/service-api/connector-docs/7?limit=100', as),
    get('/manage/indexed-sources', as),
    get('/manage/indexing-status', as),
    get('/manage/cc-pair', as),
    get('/manage/admin/cc-pair/7', as),
    get('/manage/admin/connector/status', as),
    get('/manage/connector-status', as),
    post('/manage/admin/connector/indexing-status', {}, as),
    get('/manage/document-set', as),
    get('/query/valid-tags', as),
    get('/query/valid-tags?match_pattern=value77', as),
  ])
  const chats = [busyOwner, 'owner-13'].flatMap((as) => [
    get('/chat/search', as),
    get('/chat/search?query=report', as),
    get('/chat/search?query=said9', as),
    get('/chat/search?query=nowhere', as),
    get('/chat/search?query=report&page=5&page_size=100', as),
    get('/chat/get-user-chat-sessions', as),
  ])
  const session = get('/chat/get-chat-session/00000000-0000-4000-8000-000000000004', busyOwner)
  const audit = [
    get('/admin/audit'),
    get('/admin/audit?caller_id=caller-7'),
    get('/admin/audit?operation=operation-7'),
    get('/admin/audit?caller_id=caller-7&operation=operation-8'),
    get('/admin/audit?caller_id=nobody'),
  ]
  return [...shared, ...chats, session, ...audit]
}

/** Values of path parameters that exist in filled records. */
const pathValues: Readonly<Record<string, string>> = {
  session_id: '00000000-0000-4000-8000-000000000004',
  cc_pair_id: '7',
  persona_id: '0',
  document_id: 'document-14',
  file_id: '00000000-0000-4000-8000-000000000001',
}
const queries: Readonly<Record<string, string>> = {
  '/document/chunk-info': '?document_id=document-14&chunk_id=0',
  '/document/document-size-info': '?document_id=document-14',
}

/** Every GET call that the service describes, as administrator and as the owner of many sessions. */
export async function describedReads(inlay: Inlay): Promise<Call[]> {
  const response = await inlay.fetch(new Request('http://host.example/api/openapi.json'))
  const { paths } = (await response.json()) as { paths: Record<string, { get?: object }> }
  return Object.entries(paths).flatMap(([path, { get: operation }]) => {
    if (!operation) return []
    const filled = path.replace(/^\/api/, '').replaceAll(/\{(\w+)\}/g, (_, name: string) => pathValues[name] ?? '1')
    return ['admin', busyOwner].map((as) => get(filled + (queries[filled] ?? ''), as))
  })
}

/** Calls that write, each with what happens in the background after it. */
export const writingCalls: readonly Call[] = [
  post('/service-api/ingestion', {
    document: {
      id: 'new',
      semantic_identifier: 'New',
      sections: [{ text: 'Some new words.' }],
      metadata: { topic: 'x' },
    },
  }),
  post('/chat/send-chat-message', { message: 'What are the words?', stream: false }, 'ann'),
  post('/manage/admin/cc-pair/7', undefined, 'admin', 'DELETE'),
]

/** Makes a call and returns its status and how long it took, in milliseconds. */
export async function make(inlay: Inlay, call: Call): Promise<{ status: number; ms: number; bytes: number }> {
  const began = performance.now()
  const response = await inlay.fetch(
    new Request(`http://host.example/api${call.path}`, {
      method: call.method ?? 'GET',
      headers: {
        authorization: `Bearer ${call.as}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    }),
  )
  const bytes = (await response.arrayBuffer()).byteLength
  return { status: response.status, ms: performance.now() - began, bytes }
}
