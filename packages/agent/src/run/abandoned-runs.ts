import { createFold, encodeLine, type Packet, type Placement, type StreamLine } from '@inlay/protocol'
import { terminatedText, type ConversationStore, type RunningAnswer } from '../contracts/conversation-store.ts'
import type { LogEntry } from '../contracts/run.ts'
import type { Services } from '../contracts/services.ts'
import type { SharedRun, SharedRuns } from '../contracts/shared-runs.ts'
import type { Runs } from './live-runs.ts'
import { recordedLines } from './recorded-lines.ts'
import { createRunLog } from './run-log.ts'

export interface AbandonedRunParts {
  readonly shared: SharedRuns
  readonly conversations: Pick<ConversationStore, 'branch' | 'finish' | 'running'>
  readonly now: () => number
}

const error = { code: 'SERVICE_UNAVAILABLE', message: terminatedText } as const

/** Stores the text so far as `terminated`; an answer that was stored completely before is sent completely. */
export async function endAbandonedRun(run: SharedRun, { shared, ...parts }: AbandonedRunParts): Promise<void> {
  const entries = await readAll(shared, run.messageId)
  const ending: StreamLine[] = []
  for (const answerId of answerIdsOf(run, entries))
    ending.push(...(await endAnswer({ ...run, answerId }, entries, parts)))
  const last = entries.at(-1)?.sequence ?? 0
  await shared.append([
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

/** Encoded by us from lines. */
const linesOf = (entries: readonly LogEntry[]): StreamLine[] =>
  entries.map(({ json }) => JSON.parse(json) as StreamLine)

function answerIdsOf({ messageId }: Pick<SharedRun, 'messageId'>, entries: readonly LogEntry[]): readonly number[] {
  const several = linesOf(entries.slice(0, 2)).find((line) => 'responses' in line)
  return several?.responses.map(({ message_id: id }) => id) ?? [messageId]
}

/** @returns the lines that readers still need */
async function endAnswer(
  { sessionId, answerId, openedAt }: Omit<RunningAnswer, 'parentId'>,
  entries: readonly LogEntry[],
  { conversations, now }: Omit<AbandonedRunParts, 'shared'>,
): Promise<StreamLine[]> {
  const modelIndex = answerIdsOf({ messageId: answerId }, entries).indexOf(answerId)
  const fold = createFold({ chatSessionId: sessionId, messageId: answerId, modelIndex })
  const lines = linesOf(entries)
  for (const line of lines) fold.add(line)
  const packets = lines.filter((line) => 'obj' in line)
  const own = packets.filter(({ placement }) => (placement.model_index ?? 0) === modelIndex)
  const { turn_index: turn } = own.at(-1)?.placement ?? { turn_index: 0 }
  const placement = { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: modelIndex }
  const { messages } = await conversations.branch(sessionId, answerId, { chars: 1, withoutCallsOf: [] })
  const stored = messages.at(-1)
  if (stored?.id === answerId && (stored.status === 'done' || stored.status === 'cancelled'))
    return endingOf(stored, fold.answer, placement, own)
  const { citation_info: citations, top_documents: documents } = fold.result()
  // An earlier version stored the text of running answers, too.
  const rest = stored?.id === answerId ? restOf(stored.text, fold.answer) : ''
  const ending: StreamLine[] = [
    ...textLines(rest, placement, own),
    { placement, obj: { type: 'error', exception: error.message, error_code: error.code, is_retryable: true } },
    { error: error.message, stack_trace: null, error_code: error.code, is_retryable: true, details: null },
  ]
  const log = createRunLog({ maxBytes: Infinity })
  for (const { json } of entries) log.append(json)
  const recorded = recordedLines(log, modelIndex)
  await conversations.finish(answerId, {
    status: 'terminated',
    text: fold.answer + rest,
    reasoning: fold.reasoning,
    error,
    citations: citations.map(({ citation_number: number, document_id: documentId }) => ({ number, documentId })),
    documents: documents.length === 0 ? null : documents,
    toolCalls: [],
    durationMs: Math.max(0, now() - openedAt),
    ...(recorded && entries.length > 0 && { lines: [...recorded, ...ending.map(encodeLine)] }),
  })
  return ending
}

function endingOf(
  stored: { status: string; text: string },
  text: string,
  placement: Placement,
  own: readonly Packet[],
): StreamLine[] {
  if (own.at(-1)?.obj.type === 'stop') return []
  const stop_reason = stored.status === 'cancelled' ? ('user_cancelled' as const) : null
  return [...textLines(restOf(stored.text, text), placement, own), { placement, obj: { type: 'stop', stop_reason } }]
}

/** Lines for text that readers have not received yet. */
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

/** Options for finding abandoned runs; times are milliseconds. */
export interface AbandonedRunPollOptions extends AbandonedRunParts {
  readonly runs: Pick<Runs, 'active'>
  /** Runs work that is retried later; false if it failed. */
  readonly report: (work: () => Promise<void>) => Promise<boolean>
  /** Time without a sign of life after which a run counts as abandoned; checked four times in this time. */
  readonly leaseMs: number
  readonly resumableMs: number
}

export function createAbandonedRunPoll(options: AbandonedRunPollOptions): {
  start(): Promise<void>
  close(): Promise<void>
} {
  const { shared, now, leaseMs, report } = options
  const taken = new Map<number, SharedRun>()
  const endLeft = createLeftAnswers(options)
  let timer: ReturnType<typeof setTimeout> | undefined
  let underway: Promise<void> | undefined
  // After sleep, an outage or a clock change, a lease that seems expired proves nothing.
  let steadySince = now()
  let lookedAt = steadySince

  const look = async (): Promise<void> => {
    const time = now()
    if (Math.abs(time - lookedAt) > leaseMs / 2) steadySince = time
    lookedAt = time
    const silenceMs = time - steadySince >= leaseMs ? leaseMs : Infinity
    for (const run of await shared.takeAbandoned(silenceMs)) taken.set(run.messageId, run)
    for (const run of taken.values()) if (await report(() => endAbandonedRun(run, options))) taken.delete(run.messageId)
    await shared.removeFinished(options.resumableMs)
    await endLeft(time)
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

/** Ends running answers that no process makes: it ended before it shared their run, or could not store their end. */
function createLeftAnswers({ shared, runs, leaseMs, report, ...parts }: AbandonedRunPollOptions) {
  /** When an answer was first found without a run. */
  let foundAt = new Map<number, number>()
  return async (time: number): Promise<void> => {
    const waiting = new Map<number, number>()
    for (const answer of await parts.conversations.running()) {
      const isOf = (run: Pick<SharedRun, 'messageId' | 'runId'>): boolean =>
        run.messageId === answer.answerId || run.runId === answer.parentId
      if (runs.active(answer.sessionId).some(isOf)) continue
      const known = (await shared.ofSession(answer.sessionId)).filter(isOf)
      if (known.some(({ finished }) => !finished)) continue
      const since = foundAt.get(answer.answerId) ?? time
      waiting.set(answer.answerId, since)
      // A store that loses runs may have lost this one, which its process will write again.
      const openedAt = shared.forgotten ? since : Math.min(since, answer.openedAt)
      if (time - openedAt < leaseMs) continue
      const end = async (): Promise<void> =>
        void (await endAnswer(answer, await linesOfAnswer(answer.answerId, known, shared), parts))
      if (await report(end)) waiting.delete(answer.answerId)
    }
    foundAt = waiting
  }
}

/** The lines of the run that an answer is of; [] if it is of none of these. */
async function linesOfAnswer(answerId: number, known: readonly SharedRun[], shared: SharedRuns): Promise<LogEntry[]> {
  for (const run of known) {
    const entries = await readAll(shared, run.messageId)
    if (answerIdsOf(run, entries).includes(answerId)) return entries
  }
  return []
}

/** For a store of one process, before it makes answers: these must not fail for one that cannot be ended. */
export async function endLeftAnswers(
  parts: Omit<AbandonedRunParts, 'shared'> & Pick<Services, 'onError'>,
): Promise<void> {
  for (const answer of await parts.conversations.running()) await endAnswer(answer, [], parts).catch(parts.onError)
}
