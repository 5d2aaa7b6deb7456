import type { Agent, EndedToolCall, EndedTurn, ModelProvider } from '@inlay/agent'
import type { Embedder, Knowledge, SampledFigures, VectorIndex } from '@inlay/knowledge'
import { untilAborted } from '@inlay/scheduling'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { createInstruments } from './instruments.ts'
import { observeIndex, observeKnowledge } from './knowledge.ts'
import { observeEmbedder, observeModels } from './models.ts'
import { observeRequest } from './requests.ts'
import { observeToolCall, RunSpans } from './runs.ts'
import { activeTrace, type ActiveTrace } from './spans.ts'

/** How much a table of the records holds. */
export interface TableSize {
  readonly table: string
  readonly rows: number
  /** Null where the database does not tell. */
  readonly bytes: number | null
}

/**
 * Wraps the parts of an assistant, so that traces and metrics tell what they do. Both reach the OpenTelemetry SDK that
 * the host has registered; the metrics are kept as Prometheus text too. Neither holds questions, answers, text of
 * documents, or names of people.
 */
export interface Telemetry {
  /** Tells of each call of a language model. */
  models(provider: ModelProvider): ModelProvider
  /** Tells of each call of an embedding model. */
  embedder(embedder: Embedder): Embedder
  /** Tells of searches and accepted documents. */
  knowledge(knowledge: Knowledge): Knowledge
  /** Tells of each commit of documents to the index, and of its upkeep. */
  index(index: VectorIndex): VectorIndex
  /** Makes each run one span, the parent of what it does. */
  agent<Wrapped extends Agent>(agent: Wrapped): Wrapped
  /** To be called with each answer that is stored. */
  onTurnEnded(turn: EndedTurn): void
  /** To be called with each tool call that has ended, within its run. */
  onToolCallEnded(call: Pick<EndedToolCall, 'name' | 'failed' | 'durationMs'>): void
  /** Ids of the span in which it is called, for the log; none without an OpenTelemetry SDK. */
  activeTrace(): ActiveTrace
  /**
   * Answers a request in a span that continues the trace of its caller; a stream may go on after it.
   * @param route its path, with `{name}` in place of values
   */
  request(request: Request, route: string, work: () => Promise<Response>): Promise<Response>
  /**
   * All measurements as Prometheus text, with the figures of the documents as they were counted last.
   * @param tables how much each table holds; asked once in ten minutes
   */
  metrics(
    figures: () => Promise<SampledFigures | undefined>,
    tables?: () => Promise<readonly TableSize[]>,
  ): Promise<{ readonly type: string; readonly text: string }>
}

/** Memory, event loop and garbage collection: collected once for all assistants of a process. */
let ofProcess: Registry | undefined

/** Creates the telemetry of one assistant. */
export function createTelemetry(): Telemetry {
  const registry = new Registry()
  ofProcess ??= processRegistry()
  const registries = [registry, ofProcess]
  const instruments = createInstruments(registry)
  const setGauges = createGauges(registry)
  const setSizes = createTableGauges(registry)
  const runs = new RunSpans(instruments)
  return {
    models: (provider) => observeModels(provider, instruments),
    embedder: (embedder) => observeEmbedder(embedder, instruments),
    knowledge: (knowledge) => observeKnowledge(knowledge, instruments),
    index: (index) => observeIndex(index, instruments),
    agent: (agent) => runs.observe(agent),
    onTurnEnded: (turn) => runs.end(turn),
    onToolCallEnded: (call) => observeToolCall(call, instruments),
    activeTrace,
    request: (request, route, work) => observeRequest(request, route, work, instruments),
    metrics: async (figures, tables) => {
      setGauges(await figures(), runs.size)
      if (tables) await setSizes(tables)
      const texts = await Promise.all(registries.map((each) => each.metrics()))
      return { type: registry.contentType, text: texts.join('') }
    },
  }
}

function processRegistry(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

/** Gauges of what is kept and waiting; set when they are read. */
function createGauges(registry: Registry): (figures: SampledFigures | undefined, runs: number) => void {
  const registers = [registry]
  const documents = new Gauge({
    name: 'inlay_documents',
    help: 'Documents by state.',
    labelNames: ['state'],
    registers,
  })
  const waiting = new Gauge({
    name: 'inlay_oldest_waiting_seconds',
    help: 'How long the document that has waited longest has been due, when documents were counted.',
    registers,
  })
  const rebuilding = new Gauge({
    name: 'inlay_rebuild_documents',
    help: 'Documents still to be indexed again.',
    registers,
  })
  const age = new Gauge({
    name: 'inlay_figures_age_seconds',
    help: 'Age of the counts of documents; one process at a time counts them.',
    registers,
  })
  const embedder = new Gauge({
    name: 'inlay_embedder_in_use',
    help: 'Whether this process uses the embedding model of the documents (1) or is set to another one (0).',
    labelNames: ['recorded', 'configured'],
    registers,
  })
  const running = new Gauge({ name: 'inlay_runs', help: 'Answers being written by this process.', registers })
  return (figures, runs) => {
    for (const [state, count] of Object.entries(figures?.documents ?? {})) documents.set({ state }, count)
    // Before the first count, 0 would be a figure.
    waiting.set(figures ? figures.oldestWaitingMs / 1000 : NaN)
    rebuilding.set(figures ? (figures.rebuild?.documents ?? 0) : NaN)
    age.set(figures ? figures.ageMs / 1000 : NaN)
    running.set(runs)
    embedder.reset()
    if (figures?.embedder) {
      const { recorded, configured, isUsed } = figures.embedder
      embedder.set({ recorded: recorded ?? 'none', configured: configured ?? 'none' }, isUsed ? 1 : 0)
    }
  }
}

/** How old sizes of tables may be; they change slowly, and several scrapers may ask. */
const sizesAgeMs = 10 * 60_000
/** Longest wait of a scrape for them. */
const sizesWaitMs = 1_000

/** Gauges of what the tables hold. */
function createTableGauges(registry: Registry): (tables: () => Promise<readonly TableSize[]>) => Promise<void> {
  const shared = { labelNames: ['table'], registers: [registry] }
  const rows = new Gauge({ ...shared, name: 'inlay_table_rows', help: 'Rows of a table; large ones are estimated.' })
  const bytes = new Gauge({
    ...shared,
    name: 'inlay_table_bytes',
    help: 'Bytes of a table on disk with its indexes; Postgres alone tells.',
  })
  let readAt = -Infinity
  let reading: Promise<void> | undefined
  const read = async (tables: () => Promise<readonly TableSize[]>): Promise<void> => {
    for (const size of await tables()) {
      rows.set({ table: size.table }, size.rows)
      if (size.bytes !== null) bytes.set({ table: size.table }, size.bytes)
    }
    readAt = performance.now()
  }
  return async (tables) => {
    if (performance.now() - readAt < sizesAgeMs) return
    reading ??= read(tables).finally(() => (reading = undefined))
    // A database that is away or slow fails no scrape: the last sizes stand.
    await untilAborted(reading, AbortSignal.timeout(sizesWaitMs)).catch(() => {})
  }
}
