import { isInlayError } from '@inlay/protocol'
import { context, SpanStatusCode, trace, type Attributes, type Span, type SpanOptions } from '@opentelemetry/api'

/**
 * Starts a span below the active one. Does nothing without an OpenTelemetry SDK in the host.
 * @returns the span, and a function that runs work inside it
 */
export function startSpan(
  name: string,
  attributes: Attributes,
  options: Pick<SpanOptions, 'kind' | 'startTime'> = {},
): { readonly span: Span; readonly within: <T>(work: () => T) => T } {
  const parent = context.active()
  const span = trace.getTracer('inlay').startSpan(name, { attributes, ...options }, parent)
  const below = trace.setSpan(parent, span)
  return { span, within: (work) => context.with(below, work) }
}

/** Ends a span that failed. Records only the kind of failure, since messages may contain text of users. */
export function endFailed(span: Span, error: unknown): void {
  const type = errorType(error)
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR, message: type })
  span.end()
}

/** Code of an InlayError, otherwise the class of the error. */
export function errorType(error: unknown): string {
  if (isInlayError(error)) return error.code
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
