import { endsWithin } from '@inlay/scheduling'
import { diag, DiagLogLevel, type Attributes } from '@opentelemetry/api'

/** The SDK of OpenTelemetry, sending traces, metrics and logs over OTLP. */
export interface Otlp {
  /** Sends an entry of the log, with the trace it is written in. */
  log(entry: { readonly event: string; readonly level?: string; readonly report?: string }): void
  /** Sends what is left, and ends; a collector that does not answer is not waited for any longer, and the result is false. Never rejects. */
  shutdown(timeoutMs: number): Promise<boolean>
}

const severities: Readonly<Record<string, number>> = { error: 17, warning: 13 }

const missing =
  'OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing is sent there: run `npm install @opentelemetry/sdk-node ' +
  '@opentelemetry/instrumentation-undici`.'

/**
 * Starts the SDK, which reads the variables `OTEL_…` of the process. To be called before anything is traced or measured.
 * @param onNotice receives a sentence when a package is missing, and what the SDK warns of
 * @returns undefined if a package is missing
 */
export async function startOtlp(version: string, onNotice: (sentence: string) => void): Promise<Otlp | undefined> {
  const loaded = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/instrumentation-undici'),
    import('@opentelemetry/api'),
  ]).catch((error: NodeJS.ErrnoException) => {
    // An installed package may lack one of its own dependencies.
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/'@opentelemetry\//.test(error.message)) throw error
  })
  if (loaded === undefined) return void onNotice(missing)
  const [{ NodeSDK }, { UndiciInstrumentation }, { logs }] = loaded
  const { OTEL_RESOURCE_ATTRIBUTES: given = '', OTEL_LOG_LEVEL: level = '' } = process.env
  // Later pairs win, and the name of the service has a variable of its own.
  process.env['OTEL_RESOURCE_ATTRIBUTES'] = `service.name=inlay,service.version=${version}${given && `,${given}`}`
  // Without that of the process: its owner is a person, and its arguments may be anything.
  process.env['OTEL_NODE_RESOURCE_DETECTORS'] ||= 'env,host,os,serviceinstance'
  if (level === '') {
    // The SDK writes errors as JSON with their stacks.
    const warn = (text: string): void => onNotice(`OpenTelemetry: ${/"message":"([^"]+)"/.exec(text)?.[1] ?? text}`)
    const ignore = (): void => {}
    diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
  }
  const sdk = new NodeSDK({ instrumentations: [new UndiciInstrumentation(calls)] })
  sdk.start()
  const logger = logs.getLogger('inlay', version)
  return {
    log: ({ event, level = 'info', report, ...fields }) =>
      logger.emit({
        eventName: `inlay.${event}`,
        severityText: level,
        severityNumber: severities[level] ?? 9,
        body: report ?? event,
        attributes: fields as Attributes,
      }),
    shutdown: (timeoutMs) => endsWithin(sdk.shutdown(), timeoutMs).catch(() => false),
  }
}

/** Calls by `fetch` within a span. Their addresses are cut, since a path may be a secret, and a query words of people. */
const calls = {
  requireParentforSpans: true,
  startSpanHook: ({ origin }: { readonly origin: string }) => ({ 'url.full': origin, 'url.path': '', 'url.query': '' }),
}
