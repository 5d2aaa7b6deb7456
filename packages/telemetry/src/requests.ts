import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import type { Instruments } from './instruments.ts'
import { startSpan } from './spans.ts'

/** Answers a request in a span, and measures the time until its response is ready. */
export async function observeRequest(
  request: Request,
  route: string,
  work: () => Promise<Response>,
  { requestDuration }: Pick<Instruments, 'requestDuration'>,
): Promise<Response> {
  const start = performance.now()
  const attributes = { 'http.request.method': request.method, 'http.route': route }
  const isTracedByHost = trace.getActiveSpan() !== undefined
  const { span, within } = startSpan(`${request.method} ${route}`, attributes, {
    kind: isTracedByHost ? SpanKind.INTERNAL : SpanKind.SERVER,
    parentOf: () => (isTracedByHost ? context.active() : callerContext(request.headers)),
  })
  const response = await within(work)
  const { status } = response
  if (span.isRecording()) {
    const { protocol, pathname } = new URL(request.url)
    // Without the query, which may hold words of people.
    span.setAttributes({ 'url.scheme': protocol.slice(0, -1), 'url.path': pathname })
    span.setAttributes({
      'http.response.status_code': status,
      'inlay.request.id': response.headers.get('x-request-id')!,
    })
    if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }
  requestDuration.record((performance.now() - start) / 1000, { ...attributes, 'http.response.status_code': status })
  return response
}

/** The trace of the caller alone: what else it sends, such as baggage, would reach every service that is called. */
function callerContext(headers: Headers): Context {
  const given = propagation.extract(ROOT_CONTEXT, headers, {
    get: (from, name) => from.get(name) ?? undefined,
    keys: (from) => [...from.keys()],
  })
  const caller = trace.getSpanContext(given)
  return caller === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller)
}
