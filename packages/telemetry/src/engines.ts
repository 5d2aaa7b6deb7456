import { isInlayError } from '@inlay/protocol'
import { SpanKind, trace, type Attributes } from '@opentelemetry/api'
import type { BeginCall, CreateGauge, Instruments } from './instruments.ts'
import { endFailed, errorType, observedBy, startSpan } from './spans.ts'

export type EngineUse = 'records' | 'index' | 'files' | 'runs'

/** Runs a call of an engine. @param toAttributes further attributes of its span; without a result, it failed */
export type EngineCall = <Result>(
  operation: string,
  work: () => Promise<Result>,
  toAttributes?: (result?: Result) => Attributes | undefined,
) => Promise<Result>

/** Called so often that only what a statement costs counts. Polling would be nothing but traces of one span. */
const often: ReadonlySet<EngineUse> = new Set<EngineUse>(['records', 'runs'])

/** Operations that may take minutes. */
const long: ReadonlySet<string> = new Set(['append', 'maintain', 'open'])

/** @returns measures the calls of an engine; `system` is its name in OpenTelemetry, such as `postgresql` */
export function createEngines(
  gauge: CreateGauge,
  { engineDuration }: Pick<Instruments, 'engineDuration'>,
  beginCall: BeginCall,
): (use: EngineUse, system: string) => EngineCall {
  const names = ['inlay_engine', 'db_system_name']
  const up = gauge('inlay_engine_up', 'Whether the last call of an engine was answered.', names)
  const running = gauge('inlay_engine_calls', 'Calls of the index or the files under way.', [
    ...names,
    'db_operation_name',
  ])
  const answered = new Map<EngineUse, boolean>()
  return (use, system) => async (operation, work, toAttributes) => {
    const start = performance.now()
    const labels = { inlay_engine: use, db_system_name: system }
    const note = (isUp: boolean): void => {
      if (answered.get(use) === isUp) return
      answered.set(use, isUp)
      up.set(labels, isUp ? 1 : 0)
    }
    const attributes = { 'inlay.engine': use, 'db.system.name': system, 'db.operation.name': operation }
    const isTraced = !often.has(use) || trace.getActiveSpan() !== undefined
    const started = isTraced ? startSpan(`${operation} ${use}`, attributes, { kind: SpanKind.CLIENT }) : undefined
    if (!often.has(use)) running.inc({ ...labels, db_operation_name: operation })
    const end = long.has(operation) ? undefined : beginCall(use)
    let failure: Attributes = {}
    try {
      const result = await (started ? started.within(work) : work())
      if (started?.span.isRecording()) started.span.setAttributes(toAttributes?.(result) ?? {}).end()
      note(true)
      return result
    } catch (error) {
      failure = { 'error.type': errorType(error) }
      if (started) endFailed(started.span.setAttributes(toAttributes?.() ?? {}), error)
      note(!(isInlayError(error) && outages.has(error.code)))
      throw error
    } finally {
      end?.()
      if (!often.has(use)) running.dec({ ...labels, db_operation_name: operation })
      engineDuration.record((performance.now() - start) / 1000, { ...attributes, ...failure })
    }
  }
}

const outages: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'CONNECTION_ERROR', 'GATEWAY_TIMEOUT'])

export function observeMethods<Engine extends object>(
  engine: Engine,
  names: readonly string[],
  call: EngineCall,
): Engine {
  const methods = names.flatMap((name) => {
    const method: unknown = Reflect.get(engine, name)
    if (typeof method !== 'function') return []
    return [[name, (...given: unknown[]) => call(name, () => Reflect.apply(method, engine, given))]]
  })
  return observedBy(engine, Object.fromEntries(methods))
}
