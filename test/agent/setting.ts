import { Kysely } from 'kysely'
import { repairModels } from '@inlay/small-models'
import { smallModels } from '@inlay/small-models'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createConversations, migrateConversations, type ConversationsOptions } from '@inlay/conversations'
import type { Action, ModelProvider, Passage, PassageSearch, ResolvedModel, Run } from '@inlay/agent'
import { scriptedModel, type Script, type ScriptedModel } from '@inlay/agent/testing'
import { parseWith, sendMessageRequestSchema } from '@inlay/protocol'
import type {
  PacketBody,
  Packet,
  Principal,
  SearchDoc,
  SendMessageInput,
  SendMessageRequest,
  StreamLine,
} from '@inlay/protocol'

export { codeOf } from '../outcomes.ts'

/** The caller of tests that need only one. */
export const ana: Principal = { id: 'ana', scopes: ['chat'] }
/** Another caller, who owns nothing of the first. */
export const ben: Principal = { id: 'ben', scopes: ['chat'] }

/** A migrated database in memory. */
export async function newDatabase(file = ':memory:'): Promise<Kysely<unknown>> {
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file }) })
  await migrateConversations(db)
  return db
}

/** A provider that always resolves to one model. */
export function providerOf(model: ResolvedModel['model'], more: Partial<ResolvedModel> = {}): ModelProvider {
  const resolved: ResolvedModel = {
    model,
    provider: 'scripted',
    name: 'script-1',
    displayName: 'Scripted',
    contextTokens: 100_000,
    takesImages: false,
    ...more,
  }
  return { resolve: async () => resolved, list: async () => [] }
}

/** An agent over a script, with all that a test may want to look at. */
export interface Setting {
  readonly agent: ReturnType<typeof createConversations>
  readonly db: Kysely<unknown>
  readonly model: ScriptedModel
  readonly errors: unknown[]
  readonly clock: { time: number }
  /** Sends a message as ana; fields not given have their defaults. */
  send(input?: Partial<SendMessageInput>, options?: { caller?: Principal; idempotencyKey?: string }): Promise<Run>
  /** Sends and reads all lines. */
  lines(input?: Partial<SendMessageInput>): Promise<StreamLine[]>
}

/** Creates an agent with scripted answers. The clock stops unless a test moves it; waits are skipped. */
export async function newSetting(script: Script, options: Partial<ConversationsOptions> = {}): Promise<Setting> {
  const db = options.db ?? (await newDatabase())
  const model = scriptedModel(script)
  const errors: unknown[] = []
  const clock = { time: Date.UTC(2026, 0, 12, 9, 30) }
  const agent = createConversations({
    db,
    now: () => clock.time,
    wait: async () => {},
    // Would add an action that other tests do not expect.
    memories: false,
    // Would add a model call after the first answer.
    sessionNames: 'off',
    // Auxiliary questions would come between the steps of a script.
    searchHelp: { expand: false },
    smallModels: async () => smallModels,
    onError: (error) => void errors.push(error),
    ...options,
    // `createInlay` wraps models of a host in the same way.
    models: repairModels(options.models ?? providerOf(model)),
    // However long a file takes to be read.
    limits: { maxUploadWaitMs: 60_000, maxContextWaitMs: 60_000, ...options.limits },
  })
  const send: Setting['send'] = (input = {}, { caller = ana, idempotencyKey } = {}) =>
    agent.send(toRequest(input), { caller, idempotencyKey })
  return { agent, db, model, errors, clock, send, lines: async (input) => readAll(await send(input)) }
}

/** A request with its defaults. */
export function toRequest(input: Partial<SendMessageInput> = {}): SendMessageRequest {
  return parseWith(sendMessageRequestSchema, { message: 'How many days of leave do I get?', ...input }, 'body')
}

/** All lines of a run, until it ends. */
export async function readAll(run: Run, cursor = 0): Promise<StreamLine[]> {
  const lines: StreamLine[] = []
  for await (const entries of run.read(cursor))
    for (const { json } of entries) lines.push(JSON.parse(json) as StreamLine)
  return lines
}

/** The packets among lines. */
export function packetsOf(lines: readonly StreamLine[]): Packet[] {
  return lines.filter((line) => 'obj' in line)
}

/** A packet in short: `turn.tab type`, with the text, number or queries that make it what it is. */
export function inShort(line: StreamLine): string {
  if (!('obj' in line)) return 'error' in line ? `error line ${line.error_code}` : `line ${Object.keys(line).join(' ')}`
  const { placement, obj } = line
  const tail = toTail(obj)
  return `${placement.turn_index}.${placement.tab_index} ${obj.type}${tail === '' ? '' : ` ${tail}`}`
}

function toTail(obj: PacketBody): string {
  switch (obj.type) {
    case 'message_delta':
      return JSON.stringify(obj.content)
    case 'reasoning_delta':
      return JSON.stringify(obj.reasoning)
    case 'citation_info':
      return `${obj.citation_number} ${obj.document_id}`
    case 'message_start':
      return obj.final_documents === null ? 'null' : `[${obj.final_documents.map((doc) => doc.document_id).join(', ')}]`
    case 'search_tool_start':
      return obj.is_internet_search ? 'web' : 'internal'
    case 'search_tool_queries_delta':
      return JSON.stringify(obj.queries)
    case 'search_tool_filter_delta':
      return JSON.stringify(obj.sources)
    case 'search_tool_documents_delta':
      return `[${obj.documents.map((doc) => doc.document_id).join(', ')}]`
    case 'top_level_branching':
      return String(obj.num_parallel_branches)
    case 'stop':
      return String(obj.stop_reason)
    case 'error':
      return String(obj.error_code)
    default:
      return ''
  }
}

/** A document in the form that search returns. */
export function newDoc(id: string, more: Partial<SearchDoc> = {}): SearchDoc {
  return {
    document_id: id,
    chunk_ind: 0,
    semantic_identifier: `Title of ${id}`,
    link: `https://wiki.example/${id}`,
    blurb: `Blurb of ${id}.`,
    source_type: 'web',
    boost: 0,
    hidden: false,
    metadata: {},
    score: 0.5,
    is_relevant: null,
    relevance_explanation: null,
    match_highlights: [],
    updated_at: null,
    primary_owners: null,
    secondary_owners: null,
    is_internet: false,
    file_id: null,
    ...more,
  }
}

/** A passage in the form that search returns. */
export function newPassage(id: string, content: string, more: Partial<SearchDoc> = {}): Passage {
  return { document: newDoc(id, more), content }
}

/** A search that always finds the same. */
export function findsAlways(...passages: Passage[]): PassageSearch {
  return async () => passages
}

/** Resolves once the condition holds; fails after a minute. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('The condition did not come to hold.')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** An action list typed for options. */
export const actionsOf = (...actions: Action[]): Action[] => actions
