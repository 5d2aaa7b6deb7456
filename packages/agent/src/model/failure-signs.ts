import { isJsonObject, readJson } from '@inlay/protocol'

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

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, mi: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 }
const timePiece =
  /[\s,]*(?:and )?(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli|s|m|h|d)(?:seconds?|econds?|ecs?|inutes?|ins?|ours?|ays?)?(?![a-z])/iy

/** Seconds in a time such as `17s`, `1m30.5s`, `250ms` or `2 minutes` at the beginning of a text. */
function durationIn(text: string): number | undefined {
  let sum: number | undefined
  timePiece.lastIndex = 0
  for (let piece = timePiece.exec(text); piece; piece = timePiece.exec(text)) {
    const unit = piece[2]!.toLowerCase()
    sum = (sum ?? 0) + Number(piece[1]) * (unitSeconds[unit] ?? unitSeconds[unit.slice(0, 2)] ?? 0)
  }
  return sum
}

/** Seconds until a time that a server states: a number of seconds, a duration, a date, or a time since 1970. */
function secondsUntil(value: unknown): number | undefined {
  const text = String(value ?? '').trim()
  const number = text === '' ? Number.NaN : Number(text)
  if (number < 0) return undefined
  const since1970 = number > 1e12 ? number : number > 1e9 ? number * 1000 : Date.parse(text)
  const seconds = number <= 1e9 ? number : (durationIn(text) ?? Math.max(0, (since1970 - Date.now()) / 1000))
  return Number.isNaN(seconds) ? undefined : Math.ceil(seconds)
}

function retryAfter(status: number | undefined, headers: unknown): number | undefined {
  if (!isJsonObject(headers)) return undefined
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (milliseconds >= 0) return Math.ceil(milliseconds / 1000)
  // LiteLLM adds a prefix to the headers of a provider.
  const stated = secondsUntil(headers['retry-after'] ?? headers['llm_provider-retry-after'])
  if (stated !== undefined || status !== 429) return stated
  // When each limit is lifted; the one that was reached counts.
  const limits = Object.keys(headers).filter((name) => /ratelimit.{0,40}reset/.test(name))
  const reached = limits.filter((name) => headers[name.replace('reset', 'remaining')] === '0')
  const delays = (reached.length > 0 ? reached : limits).map((name) => secondsUntil(headers[name]) ?? Infinity)
  const wait = reached.length > 0 ? Math.max(...delays) : Math.min(...delays)
  return Number.isFinite(wait) ? wait : undefined
}

/** The wait in words of OpenAI, Azure, Groq and Gemini, and in fields of a body. */
function waitIn(text: string): number | undefined {
  const [, field] = /"retry_?(?:delay|after)(?:_seconds)?\\?" ?: ?\\?"?([^",}\\]{1,40})/i.exec(text) ?? []
  const [, words = ''] = /(?:try again|retry) (?:in|after) (.{1,60})/i.exec(text) ?? []
  const seconds = secondsUntil(field) ?? durationIn(words)
  return seconds === undefined ? undefined : Math.ceil(seconds)
}

const ofProvider =
  /AI_|APICallError|TimeoutError|AbortError|ResponseAborted|_error\b|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|E(?:HOST|NET)UNREACH|ETIMEDOUT|UND_ERR/
const networkFailure = /fetch failed|failed to fetch|cannot connect|socket|network|timed out/i

/** Reads an error as AI SDK providers, `fetch` and streams throw it; also a plain object or a string. */
export function signsOf(error: unknown): FailureSigns {
  const errors = chain(error)
  const records = errors.filter(isJsonObject)
  const bodies = records.flatMap((record) => [readJson(asText(record['responseBody']) ?? ''), record['data']])
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
    retryAfterSeconds: first((record) => retryAfter(statusIn(record), record['responseHeaders'])) ?? waitIn(text),
    // A value that is not an Error came out of a stream; Inlay's own code throws Errors.
    isOfProvider: isInBand || ofProvider.test(names) || networkFailure.test(text),
  }
}
