import { isJsonObject, readJson } from '@inlay/protocol'
import type { StreamListener } from '@inlay/agent'
import { createEventReader } from '../../http/event-reader.ts'
import { createChunkRepair, isPresent, repairFields } from './chunk-repair.ts'
import { addReasoningLists, hasReasoningLists, reasoningLists } from './reasoning-fields.ts'
import { createTextFrame } from './text-frame.ts'

export interface ChatTapOptions {
  readonly listener: StreamListener
  /** Fields of a delta that hold reasoning, the first that is present counts; [] when the provider's model reads none. */
  readonly reasoningFields: readonly string[]
  /** Takes the stream as the provider is to see it. */
  readonly emit: (text: string) => void
  readonly ahead: Ahead
}

/** Characters that the listener got and that the provider's parts have not brought yet. */
export interface Ahead {
  text: number
  reasoning: number
  onDelta?: () => void
}

/** Longer merged deltas are handed on, so that little is held. */
const mergedChars = 4_096

// Fields besides text in a delta that mean nothing to a provider's model, besides empty ones.
const idleFields = new Set(['role', 'content', 'reasoning', 'reasoning_content', ...reasoningLists])

/**
 * Creates the tap of one answer. Chunks that contain only text or reasoning go to the listener at once and to the
 * provider merged; all others go to the provider unchanged. From the first chunk with anything else (a call, a refusal,
 * text together with its end), only the provider's parts count, so that the order is preserved.
 */
export function createChatTap({ listener, reasoningFields, emit, ahead }: ChatTapOptions) {
  let pending: Pending | undefined
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
    const { field, chunk, text, lists } = pending
    pending = undefined
    // The newest chunk with all that was said since the last one that was handed on.
    const choices = [{ ...chunk.choices[0], delta: { ...lists, [field]: text } }]
    emit(toEvent(JSON.stringify(repairFields({ ...chunk, choices }))))
  }
  const repair = createChunkRepair()
  const hold = (kind: 'text' | 'reasoning', chunk: Chunk, text: string, field: string): void => {
    repair.noteText()
    ahead[kind] += text.length
    ahead.onDelta?.()
    if (kind === 'text') listener.onText(text)
    else listener.onReasoning(text)
    if (pending?.kind !== kind) flush()
    if (pending === undefined) pending = { kind, field, chunk, text, lists: {} }
    else {
      pending.chunk = chunk
      pending.text += text
    }
    if (pending.text.length >= mergedChars) flush()
  }
  const reader = createEventReader(({ data }) => {
    const text = plain && !isLeftToProvider ? frame.read(data) : undefined
    if (plain && text !== undefined) return hold('text', plain, text, 'content')
    const chunk = isLeftToProvider ? undefined : toChunk(data)
    const said = chunk === undefined ? undefined : read(chunk, reasoningFields)
    const isMerged = chunk !== undefined && said !== 'something' && (said !== undefined || saysNothing(chunk))
    const hasLists = isMerged && hasReasoningLists(chunk.choices[0].delta)
    if (hasLists) {
      const field = said?.field || reasoningFields[0] || 'content'
      pending ??= { kind: 'reasoning', field, chunk, text: '', lists: {} }
      addReasoningLists(pending.lists, chunk.choices[0].delta)
    }
    if (isMerged && said === undefined) return
    if (chunk === undefined || said === undefined || said === 'something') {
      if (said === 'something') isLeftToProvider = true
      flush()
      for (const repaired of repair.read(data)) emit(toEvent(repaired))
      return
    }
    if (said.reasoning !== '') hold('reasoning', chunk, said.reasoning, said.field)
    if (said.text === '') return
    hold('text', chunk, said.text, 'content')
    if (said.reasoning !== '' || hasLists) return
    plain = chunk
    frame.learn(data)
  })
  // At its end, the stream gets everything that was held back.
  return { push: reader.push, end: flush }
}

type Fields = Readonly<Record<string, unknown>>
/** What the listener has got and the provider has not. */
interface Pending {
  readonly kind: 'text' | 'reasoning'
  /** Of the delta. */
  readonly field: string
  chunk: Chunk
  text: string
  /** Signed thoughts, which only the provider's model reads. */
  readonly lists: Record<string, unknown>
}
/** A chunk whose first choice has a delta; its other fields are unknown. */
type Chunk = Fields & { readonly choices: readonly [Fields & { readonly delta: Fields }] }

function toChunk(data: string): Chunk | undefined {
  // The end mark, and what some gateways send in its place.
  if (!data.startsWith('{')) return undefined
  const value = readJson(data)
  if (!isJsonObject(value) || isPresent(value['error']) || !Array.isArray(value['choices'])) return undefined
  const choice: unknown = value['choices'][0]
  // Checked here: a list whose first choice has a delta. Providers ignore further choices.
  return isJsonObject(choice) && isJsonObject(choice['delta']) ? (value as Chunk) : undefined
}

/** @returns undefined for an empty chunk, `something` if only the provider's model can interpret it */
function read(
  { choices: [{ delta, finish_reason: end, logprobs }] }: Chunk,
  reasoningFields: readonly string[],
): { readonly text: string; readonly reasoning: string; readonly field: string } | 'something' | undefined {
  const text = delta['content'] ?? ''
  const field = reasoningFields.find((name) => isPresent(delta[name])) ?? ''
  const reasoning = delta[field] ?? ''
  let isPlain = typeof text === 'string' && typeof reasoning === 'string'
  for (const name in delta) if (!idleFields.has(name) && !isEmpty(delta[name])) isPlain = false
  if (!isPlain) return 'something'
  if (text === '' && reasoning === '') return undefined
  if (isPresent(end) || isPresent(logprobs)) return 'something'
  // Both were found to be texts.
  return { text: text as string, reasoning: reasoning as string, field }
}

/** Whether an empty chunk, such as the first one with the role, can be left out: a provider's model reads its rest in the others. */
function saysNothing({ usage, choices: [{ finish_reason: end, error }] }: Chunk): boolean {
  return !isPresent(usage) && !isPresent(end) && !isPresent(error)
}

function isEmpty(value: unknown): boolean {
  return !isPresent(value) || value === '' || (Array.isArray(value) && value.length === 0)
}

function toEvent(data: string): string {
  return `data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`
}
