import { NoOpObservability, type ObservabilityEntrypoint } from '@mastra/core/observability'

/** Observability that keeps the kind and metadata of each span it starts. */
export function recordSpans(): { readonly observability: ObservabilityEntrypoint; readonly spans: readonly unknown[] } {
  const spans: { type: string; metadata: unknown }[] = []
  interface StartOptions {
    readonly type: string
    readonly metadata?: unknown
  }
  const start = ({ type, metadata }: StartOptions): object => {
    spans.push({ type, metadata })
    const methods: Record<string, unknown> = {
      id: `span-${spans.length}`,
      traceId: 'trace',
      isValid: true,
      isRootSpan: true,
      type,
      createChildSpan: start,
      createEventSpan: start,
      startSpan: start,
      observabilityInstance: instance,
      executeInContext: (work: () => unknown) => work(),
      executeInContextSync: (work: () => unknown) => work(),
    }
    return new Proxy(
      {},
      { get: (_target, name) => (name === 'then' ? undefined : (methods[String(name)] ?? (() => undefined))) },
    )
  }
  const instance = new Proxy(
    { startSpan: start },
    {
      get: (target, name) => (name === 'then' ? undefined : name === 'startSpan' ? target.startSpan : () => undefined),
    },
  )
  class Recording extends NoOpObservability {
    override getSelectedInstance(): ReturnType<NoOpObservability['getSelectedInstance']> {
      return instance as never
    }
  }
  return { observability: new Recording(), spans }
}
