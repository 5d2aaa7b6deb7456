import {
  context,
  INVALID_SPAN_CONTEXT,
  ProxyTracerProvider,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api'

interface Started {
  readonly span: Span
  readonly within: <T>(work: () => T) => T
}

interface StartOptions extends Pick<SpanOptions, 'kind' | 'startTime'> {
  readonly parentOf?: () => Context
}

/** Shared by all work while nothing is traced. */
const untraced: Started = { span: trace.wrapSpanContext(INVALID_SPAN_CONTEXT), within: (work) => work() }

/** Whether an OpenTelemetry SDK receives spans; the host may register it at any time. */
function isTracing(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('inlay') !== undefined
}

/** Starts a span, by default below the active one. Creates nothing without an OpenTelemetry SDK. */
export function startSpan(
  name: string,
  attributes: Attributes,
  { parentOf = () => context.active(), ...options }: StartOptions = {},
): Started {
  if (!isTracing()) return untraced
  const parent = parentOf()
  const span = trace.getTracer('inlay').startSpan(name, { attributes, ...options }, parent)
  const below = trace.setSpan(parent, span)
  return { span, within: (work) => context.with(below, work) }
}

/** The trace and the span in which a log entry is written. */
export interface ActiveTrace {
  readonly traceId?: string
  readonly spanId?: string
}

/** Ids of the active span; none without an OpenTelemetry SDK. */
export function activeTrace(): ActiveTrace {
  const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {}
  return traceId === undefined || spanId === undefined ? {} : { traceId, spanId }
}

/** Ends a span that failed. Records only the kind of failure, since messages may contain text of users. */
export function endFailed(span: Span, error: unknown): void {
  const type = errorType(error)
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR, message: type })
  span.end()
}

/** Status or code of an error, as services, databases, connections and InlayErrors have; otherwise its class. */
export function errorType(error: unknown): string {
  const { code, statusCode } = Object(error) as { readonly code?: unknown; readonly statusCode?: unknown }
  if (typeof statusCode === 'number') return String(statusCode)
  if (typeof code === 'string' && code !== '') return code
  return error instanceof Error ? error.name : 'unknown'
}

/**
 * Returns a proxy that replaces some members. All other calls go to the original, since classes of other libraries may
 * have private fields.
 */
export function observedBy<Wrapped extends object>(target: Wrapped, observed: Partial<Wrapped>): Wrapped {
  return new Proxy(target, {
    get: (_, key) => {
      if (Object.hasOwn(observed, key)) return Reflect.get(observed, key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
