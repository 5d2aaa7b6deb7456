import { isJsonObject } from '@inlay/protocol'
import type { StreamListener } from '@inlay/agent'
import { createEventReader } from '../../http/event-reader.ts'
import { createChunkRepair } from './chunk-repair.ts'
import { createTextFrame } from './text-frame.ts'

/** How a stream of chat completions is tapped. */
export interface ChatTapOptions {
  readonly listener: StreamListener
  /** Fields of a delta that hold reasoning, the first that is present counts; [] when the provider's model reads none. */
  readonly reasoningFields: readonly string[]
  /** Takes the stream as the provider is to see it. */
  readonly emit: (text: string) => void
  /** Counts what was passed to the listener. */
  readonly ahead: Ahead
}

/** Characters that the listener got and that the provider's parts have not brought yet. */
export interface Ahead {
  text: number
  reasoning: number
}

/** Passes the text of a model to a listener as its bytes arrive, and creates the stream that the provider reads. */
export interface ChatTap {
  push(bytes: Uint8Array): void
  /** Emits everything held back; the stream is complete. */
  end(): void
}

/** Longer merged deltas are handed on, so that little is held. */
const mergedChars = 4_096

// Fields besides text in a delta that mean nothing to a provider's model, besides empty ones.
const idleFields = new Set(['role', 'content', 'reasoning', 'reasoning_content', 'reasoning_details'])

/**
 * Creates the tap of one answer. Chunks that contain only text or reasoning go to the listener at once and to the
 * provider merged; all others go to the provider unchanged. From the first chunk with anything else (a call, a refusal,
 * text together with its end), only the provider's parts count, so that the order is preserved.
 */
export function createChatTap({ listener, reasoningFields, emit, ahead }: ChatTapOptions): ChatTap {
  let pending: { readonly kind: 'text' | 'reasoning'; chunk: Chunk; text: string } | undefined
  let isLeftToProvider = false
  // A chunk that says nothing but text, as the merged ones are made of it.
  let plain: Chunk | undefined
  const frame = createTextFrame((data) => {
    const chunk = toChunk(data)
    const said = chunk && read(chunk, reasoningFields)
    return typeof said === 'object' && said.reasoning === '' ? said.text : undefined
  })

  const flush = (): void => {
    if (pending === undefined) return
    const { kind, chunk, text } = pending
    pending = undefined
    emit(toEvent(JSON.stringify(merged(chunk, kind === 'text' ? 'content' : reasoningFields[0], text))))
  }
  const repair = createChunkRepair()
  const hold = (kind: 'text' | 'reasoning', chunk: Chunk, text: string): void => {
    repair.noteText()
    ahead[kind] += text.length
    if (kind === 'text') listener.onText(text)
    else listener.onReasoning(text)
    if (pending?.kind !== kind) flush()
    if (pending === undefined) pending = { kind, chunk, text }
    else {
      pending.chunk = chunk
      pending.text += text
    }
    if (pending.text.length >= mergedChars) flush()
  }
  const reader = createEventReader(({ data }) => {
    const text = plain && !isLeftToProvider ? frame.read(data) : undefined
    if (plain && text !== undefined) return hold('text', plain, text)
    const chunk = isLeftToProvider ? undefined : toChunk(data)
    const said = chunk === undefined ? undefined : read(chunk, reasoningFields)
    if (chunk !== undefined && said === undefined && saysNothing(chunk)) return
    if (chunk === undefined || said === undefined || said === 'something') {
      if (said === 'something') isLeftToProvider = true
      flush()
      for (const repaired of repair.read(data)) emit(toEvent(repaired))
      return
    }
    if (said.reasoning !== '') hold('reasoning', chunk, said.reasoning)
    if (said.text === '') return
    hold('text', chunk, said.text)
    if (said.reasoning !== '') return
    plain = chunk
    frame.learn(data)
  })
  return { push: reader.push, end: flush }
}

type Fields = Readonly<Record<string, unknown>>
/** A chunk whose first choice has a delta; its other fields are unknown. */
type Chunk = Fields & { readonly choices: readonly [Fields & { readonly delta: Fields }] }

function toChunk(data: string): Chunk | undefined {
  // The end mark, and what some gateways send in its place.
  if (!data.startsWith('{')) return undefined
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return undefined
  }
  if (!isJsonObject(value) || isPresent(value['error']) || !Array.isArray(value['choices'])) return undefined
  const choice: unknown = value['choices'][0]
  // Checked here: a list whose first choice has a delta. Providers ignore further choices.
  return isJsonObject(choice) && isJsonObject(choice['delta']) ? (value as Chunk) : undefined
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** @returns undefined for an empty chunk, `something` if only the provider's model can interpret it */
function read(
  { choices: [{ delta, finish_reason: end, logprobs }] }: Chunk,
  reasoningFields: readonly string[],
): { readonly text: string; readonly reasoning: string } | 'something' | undefined {
  const text = delta['content'] ?? ''
  const reasoning = reasoningFields.map((name) => delta[name]).find(isPresent) ?? ''
  let isPlain = typeof text === 'string' && typeof reasoning === 'string'
  for (const name in delta) if (!idleFields.has(name) && !isEmpty(delta[name])) isPlain = false
  if (!isPlain) return 'something'
  if (text === '' && reasoning === '') return undefined
  if (isPresent(end) || isPresent(logprobs)) return 'something'
  // Both were found to be texts.
  return { text: text as string, reasoning: reasoning as string }
}

/** Whether an empty chunk, such as the first one with the role, can be left out: a provider's model reads its rest in the others. */
function saysNothing({ usage, choices: [{ finish_reason: end, error }] }: Chunk): boolean {
  return !isPresent(usage) && !isPresent(end) && !isPresent(error)
}

function isEmpty(value: unknown): boolean {
  return !isPresent(value) || value === '' || (Array.isArray(value) && value.length === 0)
}

/** The newest chunk with all the text since the last one that was handed on. */
function merged(chunk: Chunk, field: string | undefined, text: string): Fields {
  const [choice] = chunk.choices
  const delta = field === undefined ? {} : { [field]: text }
  return { ...chunk, choices: [{ ...choice, delta }] }
}

function toEvent(data: string): string {
  return `data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`
}
