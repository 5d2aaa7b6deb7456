import { isInlayError } from '@inlay/protocol'
import { context, SpanStatusCode, trace, type Attributes, type Span, type SpanOptions } from '@opentelemetry/api'

/**
 * Starts a span below the active one. Nothing happens without an OpenTelemetry SDK in the host.
 * @returns the span, and what runs work below it
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

/** Ends a span that failed. Only the kind of failure is told: messages may hold what people wrote. */
export function endFailed(span: Span, error: unknown): void {
  const type = errorType(error)
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR, message: type })
  span.end()
}

/** The code of an error of ours, else its class. */
export function errorType(error: unknown): string {
  if (isInlayError(error)) return error.code
  return error instanceof Error ? error.name : 'unknown'
}

/** An object with some members replaced. Other libraries' are classes with private fields: everything else is asked of them. */
export function observedBy<Wrapped extends object>(target: Wrapped, observed: Partial<Wrapped>): Wrapped {
  return new Proxy(target, {
    get: (_, key) => {
      if (Object.hasOwn(observed, key)) return Reflect.get(observed, key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
