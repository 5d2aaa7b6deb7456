import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { isJsonObject } from '@inlay/protocol'
import { noteWindow, type ModelMemory } from './model-memory.ts'
import { fieldStep, withoutFields } from './refused-fields.ts'
import { historyAsText, messageSteps } from './refused-messages.ts'
import { allPictures, pictureStep } from './refused-pictures.ts'
import { foreignTools, toolSteps, unknownTools } from './refused-tools.ts'
import { knownChanges, schemaStep } from './refused-schemas.ts'
import { responsesSteps } from './responses-api.ts'
import type { Refusal, Step } from './step.ts'

/** Steps for refusals that name what they refuse; the first that reads something counts. */
const namedSteps: readonly Step[] = [
  ...responsesSteps,
  schemaStep,
  ...toolSteps,
  ...messageSteps,
  fieldStep,
  pictureStep,
  unknownTools,
]

/** Steps for refusals without a reason, in order; each is tried in addition to those before it. */
const guesses: readonly Step[] = [historyAsText, allPictures, foreignTools]

const maxParts = 1_000
const maxRepeats = 12

export interface FallBackOptions<T> {
  /** What is known of the model; undefined where nothing is learned. */
  readonly memory: ModelMemory | undefined
  /** Gets what was refused, and what the server said, once it is left out. */
  readonly onLearn: (part: string, said: string) => void
  /** Calls the model; gets what is left out of the call. */
  readonly work: (call: LanguageModelV4CallOptions, refused: ReadonlySet<string>) => PromiseLike<T>
}

/**
 * Calls a model without what its server has refused before. If a refusal names a part of the request, that is
 * remembered, and the call is repeated without it. If it names none, the call is repeated with less and less that
 * servers are known to stumble over; what helped is remembered. A refusal of all tools is thrown, since the caller can
 * then search in another way; later calls omit tools.
 */
export async function fallBack<T>(
  call: LanguageModelV4CallOptions,
  { memory, onLearn, work }: FallBackOptions<T>,
): Promise<T> {
  const refused = new Set(memory?.refused)
  if (!memory) return work(call, refused)
  const learn = (parts: readonly string[], said: string): void => {
    for (const part of parts) if (memory.refused.size < maxParts) memory.refused.add(part)
    onLearn(parts.slice(0, 5).join(', '), said)
  }
  let guess: { readonly parts: readonly string[]; readonly error: unknown; readonly said: string } | undefined
  for (let repeats = 0; ; repeats++) {
    let sent = call
    for (const step of [...guesses, ...namedSteps]) sent = await step.mend(sent, refused)
    for (const change of knownChanges(call, sent, refused)) onLearn(change, '')
    try {
      const result = await work(sent, refused)
      if (guess) learn(guess.parts, guess.said)
      return result
    } catch (error) {
      const refusal = readRefusal(error, call, refused)
      if (!refusal || repeats >= maxRepeats) throw error
      noteWindow(memory, refusal.text)
      const freshOf = (steps: readonly Step[]): readonly string[] | undefined =>
        steps.map(({ read }) => read(refusal).filter((part) => !refused.has(part))).find(({ length }) => length > 0)
      const named = freshOf(namedSteps)
      const parts = named ?? (isUnexplained(refusal) ? freshOf(guesses) : undefined)
      if (!parts) throw guess?.error ?? error
      for (const part of parts) refused.add(part)
      if (named) learn(named, refusal.said)
      else guess = { parts, error: guess?.error ?? error, said: guess?.said ?? refusal.said }
      // Some servers return a 5xx for it, which would only be retried.
      if (parts.includes('tools')) throw Object.assign(Object(error), { statusCode: 400, isRetryable: false })
    }
  }
}

const maxRefusalChars = 20_000

const toFields = (error: unknown): Readonly<Record<string, unknown>> => (isJsonObject(error) ? error : {})

/** The status of a refusal, which an error in a stream has as its code. */
export function statusOf(error: unknown): number | undefined {
  const { statusCode, code, type } = toFields(error)
  const status = Number(statusCode ?? (type === 'invalid_request_error' && typeof code !== 'number' ? 400 : code))
  return status >= 400 ? status : undefined
}

function readRefusal(
  error: unknown,
  call: LanguageModelV4CallOptions,
  refused: ReadonlySet<string>,
): Refusal | undefined {
  const status = statusOf(error)
  if (status === undefined) return undefined
  const { responseBody, requestBodyValues: body, message } = toFields(error)
  const text = `${typeof responseBody === 'string' ? responseBody : String(message)}`.slice(0, maxRefusalChars)
  const said = String(message).slice(0, 300)
  return { status, text, said, call, body: withoutFields(isJsonObject(body) ? body : {}, refused), refused }
}

// What a person or the operator has to mend: length, price, policy, key and name of the model.
const explained =
  /context.?(?:length|window|size|limit)|tokens\b|(?:input|prompt)(?: is)? too long|quota|billing|credit|balance|budget|polic|safety|filter|moderat|flagged|api.?key|\bmodel\b.{0,80}(?:not (?:found|exist)|invalid|unknown)/i

/** Whether a request was refused as it is, for no reason that is known. Words of an address in the error are none. */
const isUnexplained = ({ status, text }: Refusal): boolean =>
  (status === 400 || status === 413 || status === 422) && !explained.test(text.replaceAll(/https?:\S+/g, ''))
