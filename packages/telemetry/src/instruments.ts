import { metrics, type Attributes } from '@opentelemetry/api'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Records measurements; attributes are named as in OpenTelemetry. */
export interface Instrument {
  record(value: number, attributes?: Attributes): void
}

interface Definition {
  /** Dotted name of OpenTelemetry; Prometheus gets underscores and the unit. */
  readonly name: string
  readonly help: string
  /** `s` or `{token}` for a histogram; none for a counter. */
  readonly unit?: 's' | '{token}'
  /** Names of all attributes it may have. */
  readonly attributes: readonly string[]
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const tokenCounts = [1, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]
const modelAttributes = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model']

type InstrumentName =
  | 'requestDuration'
  | 'modelDuration'
  | 'timeToFirstChunk'
  | 'tokens'
  | 'runDuration'
  | 'toolDuration'
  | 'searchDuration'
  | 'engineDuration'
  | 'limitedCalls'
  | 'acceptedDocuments'

const definitions: Readonly<Record<InstrumentName, Definition>> = {
  requestDuration: {
    name: 'http.server.request.duration',
    help: 'Time until a response was ready; for a stream, until it started.',
    unit: 's',
    attributes: ['http.request.method', 'http.route', 'http.response.status_code'],
  },
  modelDuration: {
    name: 'gen_ai.client.operation.duration',
    help: 'Time of one call of a language or embedding model.',
    unit: 's',
    attributes: [...modelAttributes, 'error.type'],
  },
  timeToFirstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    help: 'Time until a language model wrote its first text, reasoning or tool call.',
    unit: 's',
    attributes: modelAttributes,
  },
  tokens: {
    name: 'gen_ai.client.token.usage',
    help: 'Tokens of one model call, as the provider counts them.',
    unit: '{token}',
    attributes: [...modelAttributes, 'gen_ai.token.type'],
  },
  runDuration: {
    name: 'gen_ai.invoke_agent.duration',
    help: 'Time from a message to its finished answer.',
    unit: 's',
    attributes: ['gen_ai.provider.name', 'gen_ai.request.model', 'inlay.run.status', 'error.type'],
  },
  toolDuration: {
    name: 'gen_ai.execute_tool.duration',
    help: 'Time of one tool call.',
    unit: 's',
    attributes: ['gen_ai.tool.name', 'error.type'],
  },
  searchDuration: {
    name: 'inlay.search.duration',
    help: 'Time of one search of the documents.',
    unit: 's',
    attributes: ['error.type'],
  },
  engineDuration: {
    name: 'db.client.operation.duration',
    help: 'Time of one call of the database, the index, the storage of files or the server of running answers.',
    unit: 's',
    attributes: ['inlay.engine', 'db.system.name', 'db.operation.name', 'error.type'],
  },
  limitedCalls: {
    name: 'inlay.limited.calls',
    help: 'Calls that a limit of usage refused.',
    attributes: ['inlay.limit', 'inlay.limit.of', 'inlay.key.id'],
  },
  acceptedDocuments: {
    name: 'inlay.documents.accepted',
    help: 'Documents that were accepted or refused.',
    attributes: ['inlay.result'],
  },
}

export type Instruments = Readonly<Record<InstrumentName, Instrument>>

/** Creates the instruments; each measurement goes to the registry and to the OpenTelemetry SDK of the host, if it has one. */
export function createInstruments(registry: Registry): Instruments {
  const entries = Object.entries(definitions).map(([name, each]) => [name, createInstrument(each, registry)])
  return Object.fromEntries(entries) as Instruments // Each has the name of its definition.
}

export type CreateGauge = (name: string, help: string, labelNames?: readonly string[]) => Gauge

export const gaugesIn =
  (registry: Registry): CreateGauge =>
  (name, help, labelNames = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })

/** Begins a call; what it returns ends the call. */
export type BeginCall = (of: string) => () => void

/** A gauge of calls under way. One that never ends is in no duration. */
export function createOldestCall(registry: Registry): BeginCall {
  const open: Record<string, Set<{ readonly beganAt: number }>> = {}
  const name = 'inlay_oldest_call_seconds'
  const help = 'How long the oldest call has been under way; 0 without one.'
  const collect = (): void => {
    for (const [kind, [oldest]] of Object.entries(open))
      gauge.set({ inlay_call: kind }, oldest ? (performance.now() - oldest.beganAt) / 1000 : 0)
  }
  const gauge = new Gauge({ name, help, labelNames: ['inlay_call'], registers: [registry], collect })
  return (of) => {
    const [calls, call] = [(open[of] ??= new Set()), { beganAt: performance.now() }]
    calls.add(call)
    return () => void calls.delete(call)
  }
}

function createInstrument({ name, help, unit, attributes }: Definition, registry: Registry): Instrument {
  const meter = metrics.getMeter('inlay')
  const options = { description: help, ...(unit && { unit }) }
  const toSdk = unit
    ? meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: bucketsOf(unit) } })
    : meter.createCounter(name, options)
  const labelNames = attributes.map(toLabel)
  const base = { help, labelNames, registers: [registry] }
  const toRegistry = unit
    ? new Histogram({
        ...base,
        name: `${toLabel(name)}_${unit === 's' ? 'seconds' : 'tokens'}`,
        buckets: bucketsOf(unit),
      })
    : new Counter({ ...base, name: `${toLabel(name)}_total` })
  return {
    record: (value, measured = {}) => {
      // Every series of a metric has the same labels.
      const labels = Object.fromEntries(
        attributes.map((attribute) => [toLabel(attribute), String(measured[attribute] ?? '')]),
      )
      if (toRegistry instanceof Histogram) toRegistry.observe(labels, value)
      else toRegistry.inc(labels, value)
      if ('record' in toSdk) toSdk.record(value, measured)
      else toSdk.add(value, measured)
    },
  }
}

function bucketsOf(unit: 's' | '{token}'): number[] {
  return unit === 's' ? seconds : tokenCounts
}

function toLabel(name: string): string {
  return name.replaceAll(/[.]/g, '_')
}
