import type { LogEntry, PassageQuery, Run } from '@inlay/agent'
import type { Conversations } from '@inlay/conversations'
import type { DocumentStatus, Knowledge, KnowledgeFigures } from '@inlay/knowledge'
import { encodeLine, InlayError, type ChatFullResponse, type Principal, type StreamLine } from '@inlay/protocol'
import { createServer, type Server, type ServerOptions } from '@inlay/server'
import { nobody } from '../conversations/memories/nobody.ts'

export const apiBase = 'http://host.example/api'
export const alice: Principal = { id: 'alice', scopes: ['chat'] }
export const bob: Principal = { id: 'bob', scopes: ['chat'] }
export const importer: Principal = { id: 'importer', scopes: ['ingest'] }
export const operator: Principal = { id: 'operator', scopes: ['admin'] }
const callers: Record<string, Principal> = {
  'key-alice': alice,
  'key-bob': bob,
  'key-importer': importer,
  'key-operator': operator,
}

export const sessionId = '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11'
export const unknownSessionId = '00000000-0000-4000-8000-000000000000'

export const delta = (content: string): StreamLine => ({
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 },
  obj: { type: 'message_delta', content },
})
export const stop: StreamLine = {
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 },
  obj: { type: 'stop', stop_reason: null },
}

export const wholeAnswer: ChatFullResponse = {
  answer: 'Hello',
  answer_citationless: 'Hello',
  pre_answer_reasoning: null,
  tool_calls: [],
  top_documents: [],
  citation_info: [],
  message_id: 2,
  chat_session_id: sessionId,
  incognito: false,
  error_msg: null,
}

/** A run whose lines a test says; readers come and go as with a real one. */
export interface SpokenRun extends Run {
  say(...lines: StreamLine[]): void
  end(): void
  fail(error: unknown): void
  readonly readers: number
}

export function spokenRun(): SpokenRun {
  const log: LogEntry[] = []
  const waiting = new Set<() => void>()
  let finished = false
  let failure: unknown
  let readers = 0
  const release = (): void => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  return {
    sessionId,
    messageId: 2,
    get finished() {
      return finished
    },
    get readers() {
      return readers
    },
    say(...lines) {
      for (const line of lines) log.push({ sequence: log.length + 1, json: encodeLine(line) })
      release()
    },
    end() {
      finished = true
      release()
    },
    fail(error) {
      failure = error
      release()
    },
    async *read(cursor = 0, signal) {
      readers++
      signal?.addEventListener('abort', release)
      try {
        let at = cursor
        for (;;) {
          if (signal?.aborted === true) return
          if (failure !== undefined) throw failure
          if (log.length > at) {
            const step = log.slice(at)
            at = log.length
            yield step
          } else if (finished) return
          else await new Promise<void>((resolve) => waiting.add(resolve))
        }
      } finally {
        readers--
      }
    },
    whole: async () => wholeAnswer,
  }
}

/** An agent that answers with one run, and remembers what it was asked. */
export interface FakeAgent extends Conversations {
  readonly run: SpokenRun
  readonly sent: Parameters<Conversations['send']>[]
  readonly stopped: string[]
}

const unexpected = (name: string) => (): never => {
  throw new Error(`the fake does not ${name}`)
}

export function fakeAgent(run: SpokenRun = spokenRun()): FakeAgent {
  const sent: Parameters<Conversations['send']>[] = []
  const stopped: string[] = []
  const ownSession = (id: string, caller: Principal): void => {
    if (id !== sessionId || caller.id === 'bob') throw new InlayError('SESSION_NOT_FOUND')
  }
  const fake: Partial<FakeAgent> = {
    run,
    sent,
    stopped,
    async send(request, options) {
      if (request.chat_session_id) ownSession(request.chat_session_id, options?.caller ?? operator)
      sent.push([request, options])
      return run
    },
    async resume(id, caller) {
      ownSession(id, caller)
      return run
    },
    async stop(id, caller) {
      ownSession(id, caller)
      stopped.push(id)
    },
    actions: async () => [],
    memories: completed({ get: async () => nobody }, 'memories'),
    tools: completed({ list: async () => [] }, 'tools'),
    models: async () => [
      {
        provider: 'inlay',
        providerType: 'extractive',
        providerDisplayName: 'Inlay',
        name: 'extractive',
        displayName: 'Built-in extractive model',
        contextTokens: 64_000,
        takesImages: false,
        isDefault: true,
      },
    ],
    close: async () => {},
  }
  return completed(fake, 'agent')
}

/** Knowledge that keeps documents in a map; `indexed` is at once. */
export interface FakeKnowledge extends Knowledge {
  readonly accepted: Map<string, { title: string; caller: string | undefined }>
  readonly delays: (number | undefined)[]
  /** Called before each accept; may wait or throw. */
  before: (id: string) => Promise<void> | void
}

const noFigures: KnowledgeFigures = {
  documents: { pending: 0, indexing: 0, indexed: 0, failed: 0 },
  oldestWaitingMs: 0,
  embedder: { recorded: null, configured: null, isUsed: true, indexes: true },
  index: { rows: 0, unindexedRows: 0 },
}

export function fakeKnowledge(): FakeKnowledge {
  const accepted: FakeKnowledge['accepted'] = new Map()
  const delays: (number | undefined)[] = []
  const statusOf = (id: string): DocumentStatus => ({
    documentId: id,
    semanticIdentifier: accepted.get(id)?.title ?? '',
    link: '',
    source: 'web',
    phase: 'indexed',
    reason: null,
    attempts: 1,
    nextTryAt: null,
    acceptedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    indexedAt: Date.UTC(2026, 0, 2, 3, 4, 6),
    chunkCount: 1,
    contentBytes: 100,
    pairIds: [1],
  })
  const fake: Partial<FakeKnowledge> = {
    accepted,
    delays,
    before: () => {},
    async accept(request, options) {
      const id = request.document.id ?? 'made-up'
      if ((request.cc_pair_id ?? 1) > 1) throw new InlayError('CONNECTOR_NOT_FOUND')
      delays.push(options?.waitMs)
      const alreadyExisted = accepted.has(id)
      accepted.set(id, { title: request.document.semantic_identifier ?? '', caller: options?.caller?.id })
      await fake.before?.(id)
      return { documentId: id, alreadyExisted, isUnchanged: false }
    },
    async remove(id) {
      if (!accepted.delete(id)) throw new InlayError('DOCUMENT_NOT_FOUND')
    },
    status: async (id) => (accepted.has(id) ? statusOf(id) : undefined),
    async list(query = {}) {
      const ids = [...accepted.keys()].sort().filter((id) => query.after === undefined || id > query.after)
      const page = ids.slice(0, query.limit ?? 100)
      return { documents: page.map(statusOf), next: ids.length > page.length ? page.at(-1)! : null }
    },
    search: async ({ text }) => [
      {
        document: { ...foundDocument, document_id: 'a' },
        content: `about ${text}`,
        headings: [],
        span: { first: 0, last: 0 },
      },
      { document: { ...foundDocument, document_id: 'b' }, content: 'more', headings: [], span: { first: 0, last: 0 } },
      { document: { ...foundDocument, document_id: 'a' }, content: 'again', headings: [], span: { first: 0, last: 0 } },
    ],
    hasDocuments: async () => accepted.size > 0,
    figures: async () => noFigures,
    readiness: async () => ({ embedder: noFigures.embedder }),
    sampledFigures: async () => ({ ...noFigures, ageMs: 0 }),
    embedder: async () => noFigures.embedder,
    namesFile: async () => false,
    readable: async (ids) => new Set(ids),
    close: async () => {},
  }
  return completed(fake, 'knowledge')
}

const foundDocument = {
  document_id: '',
  chunk_ind: 0,
  semantic_identifier: 'A title',
  link: 'https://docs.example/a',
  blurb: '',
  source_type: 'web',
  boost: 0,
  hidden: false,
  metadata: {},
  score: 1,
  is_relevant: null,
  relevance_explanation: null,
  match_highlights: [],
  updated_at: '2026-01-02T03:04:05.000Z',
  primary_owners: null,
  secondary_owners: null,
  is_internet: false,
  file_id: null,
}

/** Methods that a fake leaves out throw when called, so contracts may grow without changes here. */
function completed<Part extends object>(fake: object, name: string): Part {
  return new Proxy(fake, {
    get: (target, property) =>
      property in target || property === 'then'
        ? Reflect.get(target, property)
        : unexpected(`${name}.${String(property)}`),
  }) as Part // A proxy answers for every member of the contract.
}

export interface Setup {
  readonly server: Server
  readonly agent: FakeAgent
  readonly knowledge: FakeKnowledge
  readonly errors: unknown[]
  ask(path: string, init?: RequestInit & { key?: string | null; json?: unknown }): Promise<Response>
}

/** A server over fakes; `ask` calls `/api` as alice by default. */
export function setup(options: Partial<ServerOptions> = {}): Setup {
  const knowledge = fakeKnowledge()
  const searched = options.knowledge ?? knowledge
  const agent = fakeAgent()
  // Connects the parts as `createInlay` does: the agent searches the knowledge.
  Object.assign(agent, {
    search: async ({ text, filters, caller, limit, signal }: PassageQuery) =>
      searched.search({ text, filters, caller, limit, signal }),
  })
  const errors: unknown[] = []
  const server = createServer({
    agent,
    knowledge,
    authenticate: (request) => callers[/^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''],
    onError: (error) => errors.push(error),
    ...options,
  })
  return {
    server,
    agent,
    knowledge,
    errors,
    async ask(path, { key = 'key-alice', json, ...init } = {}) {
      const headers = new Headers(init.headers)
      if (key !== null) headers.set('authorization', `Bearer ${key}`)
      if (json !== undefined) headers.set('content-type', 'application/json')
      const body = json === undefined ? init.body : JSON.stringify(json)
      return server.fetch(
        new Request(apiBase + path, {
          method: body === undefined || body === null ? 'GET' : 'POST',
          ...init,
          headers,
          body,
          ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
        } as RequestInit),
      )
    },
  }
}

export const aDocument = (id: string, text = 'Some text.'): { document: object } => ({
  document: { id, semantic_identifier: `Title of ${id}`, sections: [{ text }], metadata: {} },
})
