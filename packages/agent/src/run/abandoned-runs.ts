import { createFold, encodeLine, type Packet, type Placement, type StreamLine } from '@inlay/protocol'
import { terminatedText, type ConversationStore } from '../contracts/conversation-store.ts'
import type { LogEntry } from '../contracts/run.ts'
import type { SharedRun, SharedRuns } from '../contracts/shared-runs.ts'

/** Dependencies for ending an abandoned run. */
export interface AbandonedRunParts {
  readonly shared: SharedRuns
  readonly conversations: Pick<ConversationStore, 'branch' | 'finish'>
  readonly now: () => number
}

/** An answer that its process left, as far as its lines tell. */
interface Left {
  readonly answerId: number
  readonly text: string
  readonly placement: Placement
}

const error = { code: 'SERVICE_UNAVAILABLE', message: terminatedText } as const

/**
 * Ends a run that this process took over: stores what was said with status `terminated`, and tells its readers so. An
 * answer that was stored whole before its process ended is told whole.
 */
export async function endAbandonedRun(run: SharedRun, parts: AbandonedRunParts): Promise<void> {
  const entries = await readAll(parts.shared, run.messageId)
  // Encoded by us from lines.
  const lines = entries.map(({ json }) => JSON.parse(json) as StreamLine)
  const ending: StreamLine[] = []
  for (const [modelIndex, answerId] of answerIdsOf(run, lines).entries())
    ending.push(...(await endAnswer(run, lines, { answerId, modelIndex }, parts)))
  const last = entries.at(-1)?.sequence ?? 0
  await parts.shared.append([
    {
      messageId: run.messageId,
      entries: ending.map((line, index) => ({ sequence: last + index + 1, json: encodeLine(line) })),
      finished: true,
    },
  ])
}

async function readAll(shared: SharedRuns, messageId: number): Promise<LogEntry[]> {
  const all: LogEntry[] = []
  for (;;) {
    const { entries, finished } = await shared.read(messageId, all.at(-1)?.sequence ?? 0)
    all.push(...entries)
    if (finished || entries.length === 0) return all
  }
}

function answerIdsOf({ messageId }: SharedRun, lines: readonly StreamLine[]): readonly number[] {
  const several = lines.find((line) => 'responses' in line)
  return several?.responses.map(({ message_id: id }) => id) ?? [messageId]
}

/** @returns the lines that end it */
async function endAnswer(
  { sessionId, openedAt }: SharedRun,
  lines: readonly StreamLine[],
  { answerId, modelIndex }: { readonly answerId: number; readonly modelIndex: number },
  { conversations, now }: AbandonedRunParts,
): Promise<StreamLine[]> {
  const fold = createFold({ chatSessionId: sessionId, messageId: answerId, modelIndex })
  for (const line of lines) fold.add(line)
  const packets = lines.filter((line) => 'obj' in line)
  const own = packets.filter(({ placement }) => (placement.model_index ?? 0) === modelIndex)
  const { turn_index: turn } = own.at(-1)?.placement ?? { turn_index: 0 }
  const placement = { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: modelIndex }
  const left: Left = { answerId, text: fold.answer, placement }
  const { messages } = await conversations.branch(sessionId, answerId, { chars: 1, withoutCallsOf: [] })
  const stored = messages.at(-1)
  if (stored?.id === answerId && (stored.status === 'done' || stored.status === 'cancelled'))
    return endingOf(stored, left, own)
  const { citation_info: citations, top_documents: documents } = fold.result()
  // A checkpoint may know more than the lines that were still written.
  const rest = stored?.id === answerId ? restOf(stored.text, fold.answer) : ''
  await conversations.finish(answerId, {
    status: 'terminated',
    text: fold.answer + rest,
    reasoning: fold.reasoning,
    error,
    citations: citations.map(({ citation_number: number, document_id: documentId }) => ({ number, documentId })),
    documents: documents.length === 0 ? null : documents,
    toolCalls: [],
    durationMs: Math.max(0, now() - openedAt),
  })
  return [
    ...textLines(rest, placement, own),
    { placement, obj: { type: 'error', exception: error.message, error_code: error.code, is_retryable: true } },
    { error: error.message, stack_trace: null, error_code: error.code, is_retryable: true, details: null },
  ]
}

function endingOf(
  stored: { status: string; text: string },
  { text, placement }: Left,
  own: readonly Packet[],
): StreamLine[] {
  if (own.at(-1)?.obj.type === 'stop') return []
  const stop_reason = stored.status === 'cancelled' ? ('user_cancelled' as const) : null
  return [...textLines(restOf(stored.text, text), placement, own), { placement, obj: { type: 'stop', stop_reason } }]
}

/** Tells a text that the lines of an answer lack. */
function textLines(text: string, placement: Placement, own: readonly Packet[]): StreamLine[] {
  if (text === '') return []
  const start: Packet = {
    placement,
    obj: { type: 'message_start', final_documents: null, pre_answer_processing_seconds: null },
  }
  const isStarted = own.some(({ obj }) => obj.type === 'message_start')
  return [...(isStarted ? [] : [start]), { placement, obj: { type: 'message_delta', content: text } }]
}

function restOf(stored: string, text: string): string {
  return stored.startsWith(text) ? stored.slice(text.length) : ''
}

/** Looks for runs whose process has ended, and ends them. */
export interface AbandonedLook {
  start(): Promise<void>
  close(): Promise<void>
}

/** Options for finding abandoned runs; times are milliseconds. */
export interface AbandonedLookOptions extends AbandonedRunParts {
  /** Runs work that is tried again; false when it failed. */
  readonly report: (work: () => Promise<void>) => Promise<boolean>
  /** After which silence of its process a run counts as abandoned; it is looked for four times as often. */
  readonly leaseMs: number
  readonly resumableMs: number
}

export function createAbandonedLook(options: AbandonedLookOptions): AbandonedLook {
  const { shared, conversations, now, leaseMs, report } = options
  const taken = new Map<number, SharedRun>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let underway: Promise<void> | undefined
  // A process that was asleep, or cut off like all others, may not judge the others by their silence.
  let steadySince = now()
  let lookedAt = steadySince

  const look = async (): Promise<void> => {
    const time = now()
    if (time - lookedAt > leaseMs / 2) steadySince = time
    lookedAt = time
    const silenceMs = time - steadySince >= leaseMs ? leaseMs : Infinity
    for (const run of await shared.takeAbandoned(silenceMs)) taken.set(run.messageId, run)
    for (const run of taken.values()) {
      await endAbandonedRun(run, { shared, conversations, now })
      taken.delete(run.messageId)
    }
    await shared.removeFinished(options.resumableMs)
  }
  const again = async (): Promise<void> => {
    if (!(await report(look))) steadySince = now()
    timer = setTimeout(() => void (underway = again()), leaseMs / 4)
    timer.unref?.()
  }
  return {
    start: () => (underway ??= again()),
    close: async () => {
      await underway
      clearTimeout(timer)
    },
  }
}
