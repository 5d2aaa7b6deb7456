import type { Agent, EndedToolCall, EndedTurn, ModelProvider } from '@inlay/agent'
import type { Embedder, Knowledge, SampledFigures, VectorIndex } from '@inlay/knowledge'
import { untilAborted } from '@inlay/scheduling'
import { context, metrics, ROOT_CONTEXT, type Attributes, type BatchObservableCallback } from '@opentelemetry/api'
import { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { createEngines, observeMethods, type EngineCall, type EngineUse } from './engines.ts'
import { createInstruments, createOldestCall, gaugesIn, type CreateGauge } from './instruments.ts'
import { observeIndex, observeKnowledge } from './knowledge.ts'
import { observeEmbedder, observeModels } from './models.ts'
import { observeRequest } from './requests.ts'
import { observeToolCall, RunSpans } from './runs.ts'
import { activeTrace, type ActiveTrace } from './spans.ts'

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
  models(provider: ModelProvider): ModelProvider
  embedder(embedder: Embedder): Embedder
  knowledge(knowledge: Knowledge): Knowledge
  /** Measures the calls of an engine; `system` is its name in OpenTelemetry, such as `postgresql`. */
  engine(use: EngineUse, system: string): EngineCall
  index(index: VectorIndex, system: string): VectorIndex
  /** Tells of each call of a storage of files, or of a server of running answers. */
  calls<Engine extends object>(use: 'files' | 'runs', engine: Engine, system: string): Engine
  /** Counts a call that a limit of usage refused. */
  onLimited(limit: string, of: string, keyId: number | undefined): void
  /** Makes each run one span, the parent of what it does. */
  agent<Wrapped extends Agent>(agent: Wrapped): Wrapped
  /** To be called with each answer that is stored. */
  onTurnEnded(turn: EndedTurn): void
  /** To be called with each tool call that has ended, within its run. */
  onToolCallEnded(call: Pick<EndedToolCall, 'name' | 'failed' | 'durationMs'>): void
  /** Starts work that goes on after the request it is started in, and is no part of its trace. */
  apart<Result>(work: () => Result): Result
  /** Ids of the span in which it is called, for the log; none without an OpenTelemetry SDK. */
  activeTrace(): ActiveTrace
  /**
   * Answers a request in a span that continues the trace of its caller; a stream may go on after it.
   * @param route its path, with `{name}` in place of values
   */
  request(request: Request, route: string, work: () => Promise<Response>): Promise<Response>
  /** Sets what is read when somebody collects measurements. */
  readFrom(sources: Sources): void
  /** All measurements as Prometheus text. */
  metrics(): Promise<{ readonly type: string; readonly text: string }>
  /** The measurements of this assistant alone. */
  values(): ReturnType<Registry['getMetricsAsJSON']>
}

export interface Sources {
  /** Figures of the documents, as they were counted last. */
  readonly figures: () => Promise<SampledFigures | undefined>
  /** How much each table holds; called once in ten minutes. */
  readonly tables?: () => Promise<readonly TableSize[]>
  readonly pools?: readonly ConnectionPool[]
}

/** A pool of `pg`, which counts its connections. */
export interface ConnectionPool {
  readonly use: EngineUse
  readonly pool: object
  readonly max: number
}

/** Memory, event loop and garbage collection: collected once for all assistants of a process. */
let ofProcess: Registry | undefined

export function createTelemetry(version: string): Telemetry {
  const registry = new Registry()
  ofProcess ??= processRegistry()
  const registries = [registry, ofProcess]
  const instruments = createInstruments(registry)
  const gauge = gaugesIn(registry)
  const setGauges = createGauges(gauge)
  const setSizes = createTableGauges(gauge)
  const setPools = createPoolGauges(gauge)
  const beginCall = createOldestCall(registry)
  const engine = createEngines(gauge, instruments, beginCall)
  gauge('inlay_build_info', 'The version.', ['version']).set({ version }, 1)
  const runs = new RunSpans(instruments)
  let sources: Sources = { figures: async () => undefined }
  const refresh = async (): Promise<void> => {
    setGauges(await sources.figures(), runs.size)
    setPools(sources.pools ?? [])
    if (sources.tables) await setSizes(sources.tables)
  }
  sendGauges(registries, refresh)
  return {
    models: (provider) => observeModels(provider, instruments),
    embedder: (embedder) => observeEmbedder(embedder, instruments),
    knowledge: (knowledge) => observeKnowledge(knowledge, instruments),
    engine,
    index: (index, system) => observeIndex(index, engine('index', system)),
    calls: (use, target, system) => observeMethods(target, methods[use], engine(use, system)),
    onLimited: (limit, of, keyId) =>
      instruments.limitedCalls.record(1, { 'inlay.limit': limit, 'inlay.limit.of': of, 'inlay.key.id': keyId ?? '' }),
    agent: (agent) => runs.observe(agent),
    onTurnEnded: (turn) => runs.end(turn),
    onToolCallEnded: (call) => observeToolCall(call, instruments),
    apart: (work) => context.with(ROOT_CONTEXT, work),
    activeTrace,
    request: (request, route, work) => observeRequest(request, route, work, instruments).finally(beginCall('request')),
    readFrom: (given) => void (sources = given),
    metrics: async () => {
      await refresh()
      const texts = await Promise.all(registries.map((each) => each.metrics()))
      return { type: registry.contentType, text: texts.join('') }
    },
    values: () => refresh().then(() => registry.getMetricsAsJSON()),
  }
}

/** Metrics of a tenant, with the labels that are kept: few, since there may be many tenants. */
const tenantMetrics: Readonly<Record<string, readonly string[]>> = {
  inlay_documents: ['state'],
  inlay_oldest_waiting_seconds: [],
  inlay_figures_age_seconds: [],
  inlay_documents_accepted_total: ['inlay_result'],
  inlay_search_duration_seconds: [],
  inlay_runs: [],
  inlay_oldest_call_seconds: ['inlay_call'],
  gen_ai_invoke_agent_duration_seconds: ['inlay_run_status'],
  gen_ai_client_token_usage_tokens: ['gen_ai_token_type'],
  inlay_limited_calls_total: ['inlay_limit'],
}

/** What several assistants measure, as Prometheus text with the label `tenant`; durations without their buckets. */
export async function metricsByTenant(tenants: ReadonlyMap<string, Telemetry>): ReturnType<Telemetry['metrics']> {
  const measured = [...tenants].map(async ([tenant, telemetry]) =>
    (await telemetry.values()).flatMap((metric) => {
      const labelNames = tenantMetrics[metric.name]
      if (!labelNames) return []
      // Its values say of which part they are.
      const isBucket = (value: object): boolean => 'metricName' in value && value.metricName === `${metric.name}_bucket`
      const values = metric.values
        .filter((each) => !isBucket(each))
        .map((each) => ({
          ...each,
          labels: { tenant, ...Object.fromEntries(labelNames.map((name) => [name, each.labels[name] ?? ''])) },
        }))
      // Without buckets, a histogram is a summary.
      return [Object.assign(metric, { values, ...(String(metric.type) === 'histogram' && { type: 'summary' }) })]
    }),
  )
  const all = AggregatorRegistry.aggregate(await Promise.all(measured))
  return { type: all.contentType, text: await all.metrics() }
}

const methods = {
  files: ['getItemRaw', 'setItemRaw', 'removeItem'],
  runs: ['open', 'append', 'forgotten', 'ofSession', 'read', 'requestStop', 'stopRequests', 'takeAbandoned'],
}

/** Has the OpenTelemetry SDK of the host read every gauge that Prometheus reads. */
function sendGauges(registries: readonly Registry[], refresh: () => Promise<void>): void {
  const meter = metrics.getMeter('inlay')
  const gauges = registries
    .flatMap((each) => each.getMetricsAsArray())
    .filter((metric) => metric instanceof Gauge)
    .map((gauge) => [gauge, meter.createObservableGauge(nameOf(gauge))] as const)
  const observe: BatchObservableCallback = async (observer) => {
    await refresh()
    for (const [gauge, sent] of gauges)
      for (const { value, labels } of (await gauge.get()).values)
        if (Number.isFinite(value)) observer.observe(sent, value, labels as Attributes)
  }
  meter.addBatchObservableCallback(
    observe,
    gauges.map(([, sent]) => sent),
  )
}

/** `prom-client` keeps the name to itself. */
const nameOf = (gauge: Gauge): string => String(Reflect.get(gauge, 'name'))

function createPoolGauges(gauge: CreateGauge): (pools: readonly ConnectionPool[]) => void {
  const name = 'db_client_connection_pool_name'
  const count = gauge('db_client_connection_count', 'Connections, idle and used.', [name, 'db_client_connection_state'])
  const waiting = gauge('db_client_connection_pending_requests', 'Calls that wait for a connection.', [name])
  const most = gauge('db_client_connection_max', 'Maximum number of connections.', [name])
  return (pools) => {
    for (const { use, max, pool } of pools) {
      const { totalCount: total = 0, idleCount: idle = 0, waitingCount = 0 } = pool as Readonly<Record<string, number>>
      const labels = { [name]: use }
      count.set({ ...labels, db_client_connection_state: 'idle' }, idle)
      count.set({ ...labels, db_client_connection_state: 'used' }, total - idle)
      waiting.set(labels, waitingCount)
      most.set(labels, max)
    }
  }
}

function processRegistry(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

/** Gauges of what is kept and waiting; set when they are read. */
function createGauges(gauge: CreateGauge): (figures: SampledFigures | undefined, runs: number) => void {
  const documents = gauge('inlay_documents', 'Documents by state.', ['state'])
  const waiting = gauge(
    'inlay_oldest_waiting_seconds',
    'How long the document that has waited longest has been due, when documents were counted.',
  )
  const rebuilding = gauge('inlay_rebuild_documents', 'Documents still to be indexed again.')
  const age = gauge('inlay_figures_age_seconds', 'Age of the counts of documents; one process at a time counts them.')
  const embedder = gauge(
    'inlay_embedder_in_use',
    'Whether this process uses the embedding model of the documents (1) or is set to another one (0).',
    ['recorded', 'configured'],
  )
  const running = gauge('inlay_runs', 'Answers being written by this process.')
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

function createTableGauges(gauge: CreateGauge): (tables: () => Promise<readonly TableSize[]>) => Promise<void> {
  const rows = gauge('inlay_table_rows', 'Rows of a table; large ones are estimated.', ['table'])
  const bytes = gauge(
    'inlay_table_bytes',
    'Bytes of a table on disk with its indexes; not of a SQLite database above 40 MB.',
    ['table'],
  )
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
