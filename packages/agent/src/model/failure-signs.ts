import { isJsonObject } from '@inlay/protocol'
/** Properties of an error and its causes that help to classify it. */
export interface FailureSigns {
  /** HTTP status of the provider's answer, when there was one. */
  readonly status: number | undefined
  /** Names of the errors, their codes and types, joined. */
  readonly names: string
  /** All messages and bodies, joined; never shown. */
  readonly text: string
  /** Error message of the provider, from the usual place in error bodies. */
  readonly said: string | undefined
  readonly retryAfterSeconds: number | undefined
  /** Whether it comes from a provider or the connection to it, rather than from Inlay's own code. */
  readonly isOfProvider: boolean
}

const maxTextLength = 20_000
const maxReasonLength = 200
const hidden = '[hidden]'

const secrets: readonly (readonly [RegExp, string | ((text: string) => string)])[] = [
  [/(:\/\/)[^/\s@]*@/g, `$1${hidden}@`],
  [/\b(bearer|basic)\s+[^\s"',;]+/gi, `$1 ${hidden}`],
  [
    /\b((?:x-)?(?:api|access|auth|secret|private|client)[-_ ]?(?:key|token|secret)|key|token|password|secret|authorization)(["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi,
    `$1$2${hidden}`,
  ],
  [/\b(?:sk|pk|rk|xai|gsk|hf|ghp|gho|AIza|AKIA|ya29|on)[-_.A-Za-z0-9*]{8,}/g, hidden],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, hidden],
  // Any other long mix of letters and digits looks like a key, and is of no use to a reader.
  [/\w[\w-]{23,}/g, (run) => (/\d/.test(run) && /[A-Za-z]/.test(run) ? hidden : run)],
]

/** Removes keys, tokens, passwords and user names in addresses from a text. */
export function withoutCredentials(text: string): string {
  return secrets.reduce(
    // Both forms of the second argument are meant.
    (clean, [pattern, replacement]) => clean.replace(pattern, replacement as string),
    text,
  )
}

/** A short reason that may be shown, ending as a sentence; undefined when the provider gave none in a known place. */
export function reasonOf(signs: Pick<FailureSigns, 'said'>): string | undefined {
  const line = withoutCredentials(signs.said ?? '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  if (line === '' || /<\w[^<>]*>/.test(line)) return undefined
  const short =
    line.length > maxReasonLength ? `${line.slice(0, maxReasonLength).replace(/(?:\s|(?<!\S))\S*$/, '')} …` : line
  return /[.!?…]$/.test(short) ? short : `${short}.`
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function parsed(body: string | undefined): unknown {
  try {
    return body === undefined ? undefined : JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The message of an error body in the formats of OpenAI, Anthropic, Google, vLLM, Ollama and others. */
function saidIn(body: unknown): string | undefined {
  const record: unknown = Array.isArray(body) ? body[0] : body
  if (!isJsonObject(record)) return undefined
  const inner = record['error']
  const said = isJsonObject(inner) ? inner['message'] : (inner ?? record['message'] ?? record['detail'])
  return asText(said)
}

/** The error and all its causes, outermost first. */
function chain(error: unknown): unknown[] {
  const errors: unknown[] = []
  const open = [error]
  while (open.length > 0 && errors.length < 10) {
    const next = open.shift()
    if (next === undefined || next === null || errors.includes(next)) continue
    errors.push(next)
    if (!isJsonObject(next)) continue
    open.push(next['cause'], next['lastError'], isJsonObject(next['error']) ? next['error'] : undefined)
  }
  return errors
}

function statusIn(record: Record<string, unknown>): number | undefined {
  for (const name of ['statusCode', 'status', 'code']) {
    const status = Number(record[name])
    if (Number.isInteger(status) && status >= 100 && status < 600) return status
  }
  return undefined
}

function retryAfter(headers: unknown): number | undefined {
  if (!isJsonObject(headers)) return undefined
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN)
  // LiteLLM adds a prefix to the headers of a provider.
  const given = headers['retry-after'] ?? headers['llm_provider-retry-after'] ?? Number.NaN
  if (milliseconds >= 0) return Math.ceil(milliseconds / 1000)
  const seconds = Number(given)
  if (!Number.isNaN(seconds)) return seconds >= 0 ? seconds : undefined
  // HTTP also allows a date.
  const waitMs = Date.parse(String(given)) - Date.now()
  return Number.isNaN(waitMs) ? undefined : Math.max(0, Math.ceil(waitMs / 1000))
}

const statedWait = /(?:try again|retry) (?:in|after) (?:(\d{1,4})m)?(\d{1,9}(?:\.\d{1,9})?)\s?(ms|s)/i

/** The wait that OpenAI, Groq and Gemini state in words. */
function waitIn(text: string): number | undefined {
  const [, minutes = '0', number, unit] = statedWait.exec(text) ?? []
  if (number === undefined) return undefined
  return Number(minutes) * 60 + Math.ceil(Number(number) / (unit?.toLowerCase() === 'ms' ? 1000 : 1))
}

const ofProvider =
  /AI_|APICallError|TimeoutError|AbortError|ResponseAborted|_error\b|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|E(?:HOST|NET)UNREACH|ETIMEDOUT|UND_ERR/
const networkFailure = /fetch failed|failed to fetch|cannot connect|socket|network|timed out/i

/** Reads an error as AI SDK providers, `fetch` and streams throw it; also a plain object or a string. */
export function signsOf(error: unknown): FailureSigns {
  const errors = chain(error)
  const records = errors.filter(isJsonObject)
  const bodies = records.flatMap((record) => [parsed(asText(record['responseBody'])), record['data']])
  const first = <T>(read: (record: Record<string, unknown>) => T | undefined): T | undefined =>
    records.map(read).find((value) => value !== undefined)

  const names = records.flatMap((record) => [record['name'], record['code'], record['type']].map(String)).join(' ')
  const messages = errors.map((record) =>
    isJsonObject(record)
      ? `${asText(record['message']) ?? ''} ${asText(record['responseBody']) ?? ''}`
      : String(record),
  )
  const text = `${names} ${messages.join(' ')}`.slice(0, maxTextLength)
  const isInBand = !(error instanceof Error)
  const inBand = typeof error === 'string' ? error : isInBand ? (saidIn(error) ?? saidIn({ error })) : undefined
  return {
    status: first(statusIn),
    names,
    text,
    said: bodies.map(saidIn).find((said) => said !== undefined) ?? inBand,
    retryAfterSeconds: first((record) => retryAfter(record['responseHeaders'])) ?? waitIn(text),
    // A value that is not an Error came out of a stream; Inlay's own code throws Errors.
    isOfProvider: isInBand || ofProvider.test(names) || networkFailure.test(text),
  }
}
