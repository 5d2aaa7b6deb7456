import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { isJsonObject } from '@inlay/protocol'
import { noteWindow, type ModelMemory } from './model-memory.ts'
import { fieldStep, withoutFields } from './refused-fields.ts'
import { forgottenThoughts, historyAsText, messageSteps } from './refused-messages.ts'
import { allPictures, pictureStep } from './refused-pictures.ts'
import { foreignTools, toolSteps, unknownTools } from './refused-tools.ts'
import { knownChanges, schemaStep } from './refused-schemas.ts'
import { responsesSteps } from './responses-api.ts'
import type { Refusal, Step } from './step.ts'

/** Steps for refusals that name what they refuse; the first that reads something counts. */
const namedSteps: readonly Step[] = [
  forgottenThoughts,
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

// Limits, payment, access and outages, in which names of models and tools are no refusals of them.
const aboutNoPart: ReadonlySet<number> = new Set([401, 402, 403, 408, 429, 502, 503, 504, 529])
const notIn404: ReadonlySet<Step> = new Set([schemaStep, ...messageSteps])

/** The steps for a status. A model that is not found may have a name that reads like a part of a request. */
function stepsFor(status: number): readonly Step[] {
  if (aboutNoPart.has(status)) return [forgottenThoughts]
  return status === 404 ? namedSteps.filter((step) => !notIn404.has(step)) : namedSteps
}

// What a model wrote, in the words of Groq: it may well write something else.
const slip =
  /tool call validation failed|did not match schema|failed to call a function|failed_generation|tool_use_failed/i

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
 * Calls a model without what its server has refused before. If a refusal names a part of the request, the call is
 * repeated without it. If it names none, the call is repeated as it is, then with less and less that servers are known
 * to stumble over. What helped is remembered. A refusal of all tools is thrown, since the caller can then search in
 * another way; later calls omit tools.
 */
export async function fallBack<T>(
  call: LanguageModelV4CallOptions,
  { memory, onLearn, work }: FallBackOptions<T>,
): Promise<T> {
  const refused = new Set(memory?.refused)
  if (!memory) return work(call, refused)
  const tried: Tried[] = []
  const add = (part: string): unknown => memory.refused.size < maxParts && memory.refused.add(part)
  const learn = ({ parts, said }: Tried): void => {
    for (const part of parts) add(part)
    onLearn(parts.slice(0, 5).join(', '), said)
  }
  const fail = (error: unknown): never => {
    for (const part of tried.flatMap(({ parts }) => parts)) memory.refused.delete(part)
    throw error
  }
  let mayPass = true
  let guess: (Tried & { readonly error: unknown }) | undefined
  for (let repeats = 0; ; repeats++) {
    let sent = call
    for (const step of [...guesses, ...namedSteps]) sent = (await step.mend?.(sent, refused)) ?? sent
    for (const change of knownChanges(call, sent, refused)) onLearn(change, '')
    try {
      const result = await work(sent, refused)
      for (const each of guess ? [...tried, guess] : tried) learn(each)
      return result
    } catch (error) {
      const refusal = readRefusal(error, call, refused)
      if (!refusal || repeats >= maxRepeats) return fail(error)
      noteWindow(memory, refusal.text)
      const freshOf = (steps: readonly Step[]): readonly string[] | undefined =>
        steps.map(({ read }) => read(refusal).filter((part) => !refused.has(part))).find(({ length }) => length > 0)
      const isSlip = slip.test(refusal.text)
      const named = isSlip ? undefined : freshOf(stepsFor(refusal.status))
      const parts = named ?? (isUnexplained(refusal) && !isSlip ? freshOf(guesses) : undefined)
      const isOdd = named ? refusal.status === 500 && schemaStep.read(refusal).length > 0 : parts !== undefined
      if (mayPass && (isOdd || isSlip)) {
        mayPass = false
        continue
      }
      if (!parts) return fail(guess?.error ?? error)
      for (const part of parts) refused.add(part)
      // The memory is what leaves out fields.
      for (const part of named ?? []) add(part)
      if (named) tried.push({ parts, said: refusal.said })
      else guess = { parts, error: guess?.error ?? error, said: guess?.said ?? refusal.said }
      if (!parts.includes('tools')) continue
      for (const each of tried) learn(each)
      // Some servers return a 5xx for it, which would only be retried.
      throw Object.assign(Object(error), { statusCode: 400, isRetryable: false })
    }
  }
}

interface Tried {
  readonly parts: readonly string[]
  readonly said: string
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
