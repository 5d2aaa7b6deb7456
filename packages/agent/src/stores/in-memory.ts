import { InlayError } from '@inlay/protocol'
import type { ChatSessionCreationRequest, FileDescriptor } from '@inlay/protocol'
import type {
  AnswerModel,
  AnswerOutcome,
  AnswerStatus,
  BranchHistory,
  ConversationStore,
  HistoryLimits,
  OpenedTurn,
  PastMessage,
  SessionRecord,
  TurnOpening,
} from '../contracts/conversation-store.ts'
import type { RunStore, SendRecord } from '../contracts/run-store.ts'
import type { Services } from '../contracts/services.ts'
import { approvableUntil } from '../tool-calls/approval.ts'
import { placeMessage, toMainline, toPath, type MessageRole } from '../message-tree.ts'

interface HeldMessage {
  readonly id: number
  readonly sessionId: string
  readonly parentId: number | null
  latestChildId: number | null
  readonly role: MessageRole
  readonly files: readonly FileDescriptor[]
  readonly model: AnswerModel | null
  status: AnswerStatus
  text: string
  readonly openedAt: number
  outcome: Partial<AnswerOutcome>
}

interface Memory {
  readonly sessions: Map<string, Omit<SessionRecord, 'hasFiles'>>
  readonly messages: Map<number, HeldMessage>
  readonly summaries: Map<number, string>
  readonly sends: Map<string, SendRecord & { readonly createdAt: number }>
}

const dayMs = 86_400_000

/** Stores conversations in memory: they are lost with the process, and nothing is ever deleted. */
export function inMemoryStores({ now, newId }: Pick<Services, 'now' | 'newId'>): {
  readonly conversations: ConversationStore
  readonly runs: RunStore
} {
  const memory: Memory = { sessions: new Map(), messages: new Map(), summaries: new Map(), sends: new Map() }
  return { conversations: conversationsIn(memory, { now, newId }), runs: runsIn(memory, now) }
}

function conversationsIn(memory: Memory, { now, newId }: Pick<Services, 'now' | 'newId'>): ConversationStore {
  const { sessions, messages, summaries } = memory
  return {
    session: async (id, ownerId) => {
      const session = sessions.get(id)
      if (session?.ownerId !== ownerId) throw new InlayError('SESSION_NOT_FOUND')
      return { ...session, hasFiles: ofSession(memory, id).some(({ files }) => files.length > 0) }
    },
    open: async (opening) => openTurn(memory, opening, now(), newId),
    finish: async (answerId, outcome) => {
      const answer = messages.get(answerId)
      if (!answer) throw new InlayError('SESSION_NOT_FOUND')
      if (outcome.status === 'terminated' && answer.status !== 'running') return
      Object.assign(answer, { status: outcome.status, text: outcome.text, outcome })
    },
    cancelWaiting: async (sessionId) => {
      const last = messages.get(toMainline(ofSession(memory, sessionId)).at(-1) ?? 0)
      const isWaiting = last?.outcome.toolCalls?.some((call) => approvableUntil(call) !== undefined)
      if (last?.status === 'done' && isWaiting) last.status = 'cancelled'
    },
    running: async () =>
      [...messages.values()]
        .filter(({ status }) => status === 'running')
        .map(({ id, sessionId, parentId, openedAt }) => ({ answerId: id, sessionId, parentId, openedAt })),
    branch: async (sessionId, messageId, limits) => {
      const nodes = ofSession(memory, sessionId)
      const ids = messageId === null ? toMainline(nodes) : toPath(nodes, messageId)
      return readBranch(memory, ids.slice(1), limits)
    },
    saveSummary: async ({ messageId, text }) => {
      if (!summaries.has(messageId)) summaries.set(messageId, text)
    },
    generatedFileIds: async (messageIds) =>
      messageIds
        .flatMap((id) => messages.get(id)?.outcome.toolCalls ?? [])
        .toReversed()
        .flatMap(({ images, packets }) => [
          ...(images ?? []).map(({ file_id: id }) => id),
          ...packets.flatMap((packet) => ('file_ids' in packet ? (packet.file_ids ?? []) : [])),
        ]),
  }
}

function runsIn({ sends, messages }: Memory, now: () => number): RunStore {
  return {
    find: async (ownerId, key) => {
      for (const [name, { createdAt }] of sends) if (createdAt <= now() - dayMs) sends.delete(name)
      return sends.get(nameOf(ownerId, key))
    },
    answer: async (messageId) => {
      const answer = messages.get(messageId)
      if (!answer) throw new InlayError('SESSION_NOT_FOUND')
      const { parentId, status, text, outcome } = answer
      const { error = null, documents = null, toolCalls = [], lines = null } = outcome
      return { parentId, status, text, error, documents, toolCalls, lines }
    },
  }
}

const nameOf = (ownerId: string, key: string): string => JSON.stringify([ownerId, key])

const ofSession = ({ messages }: Memory, sessionId: string): HeldMessage[] =>
  [...messages.values()].filter((message) => message.sessionId === sessionId)

function openTurn(memory: Memory, opening: TurnOpening, time: number, newId: () => string): OpenedTurn {
  const { messages, sends } = memory
  const sendName = opening.key && nameOf(opening.ownerId, opening.key.key)
  const earlier = sendName === undefined ? undefined : sends.get(sendName)
  if (earlier?.messageId !== opening.key?.replaces) throw new InlayError('CONFLICT')
  const { newSessionId } = opening
  const isFree = newSessionId !== undefined && !memory.sessions.has(newSessionId)
  const session = opening.session ?? newSession(isFree ? newSessionId : newId(), opening.ownerId, opening.creation)
  const add = (parentId: number | null, role: MessageRole, more: Partial<HeldMessage> = {}): HeldMessage => {
    const fields = { files: [], model: null, status: 'done', text: '', openedAt: time, outcome: {}, ...more } as const
    const message = { id: messages.size + 1, sessionId: session.id, parentId, latestChildId: null, role, ...fields }
    messages.set(message.id, message)
    return message
  }
  const known = ofSession(memory, session.id)
  const { parent, isRepeat, before } = placeMessage(known.length > 0 ? known : [rootAlone], opening.parentId)
  const isLast = toMainline(known).at(-1) === parent.id && messages.get(parent.id)?.status === 'done'
  if (opening.decides && !isLast)
    throw new InlayError('CONFLICT', { message: 'The chat went on before these calls were approved.' })
  const rootId = known[0]?.id ?? add(null, 'system').id
  const { text, files } = opening
  const parentId = parent === rootAlone ? rootId : parent.id
  const question = (isRepeat && messages.get(parent.id)) || add(parentId, 'user', { text, files })
  const answers = opening.models.map((model) => add(question.id, 'assistant', { model, status: 'running' }))
  memory.sessions.set(session.id, session)
  const line = [rootId, ...before, question.id, answers[0]?.id ?? question.id]
  for (const [index, id] of line.entries()) {
    const message = messages.get(id)
    if (message) message.latestChildId = line[index + 1] ?? message.latestChildId
  }
  if (sendName !== undefined) {
    const { bodyHash = '' } = opening.key ?? {}
    const openedSession = earlier?.openedSession ?? opening.session === null
    const messageId = answers[0]?.id ?? 0
    sends.set(sendName, { bodyHash, sessionId: session.id, messageId, openedSession, createdAt: time })
  }
  return {
    ...readBranch(memory, before, opening.history),
    sessionId: session.id,
    isNewSession: opening.session === null,
    userMessageId: question.id,
    userText: question.text,
    files: question.files,
    answerIds: answers.map(({ id }) => id),
  }
}

const rootAlone = { id: 0, parentId: null, latestChildId: null, role: 'system' } as const

function newSession(
  id: string,
  ownerId: string,
  creation: ChatSessionCreationRequest | null,
): Omit<SessionRecord, 'hasFiles'> {
  return {
    id,
    ownerId,
    personaId: creation?.persona_id ?? 0,
    projectId: creation?.project_id ?? null,
  }
}

function readBranch({ messages, summaries }: Memory, ids: readonly number[], limits: HistoryLimits): BranchHistory {
  const branch = ids.flatMap((id) => messages.get(id) ?? [])
  const summaryEnd = branch.findLastIndex(({ id }) => summaries.has(id)) + 1
  const covered = branch.slice(0, summaryEnd)
  const past: PastMessage[] = []
  let chars = 0
  for (const message of branch.slice(summaryEnd).toReversed()) {
    if (chars >= limits.chars) break
    const shown = toPastMessage(message, limits)
    chars += shown.text.length + shown.toolCalls.reduce((sum, { result }) => sum + result.length, 0)
    past.unshift(shown)
  }
  const firstQuestion = past.findIndex(({ role }) => role === 'user')
  return {
    summary: summaries.get(covered.at(-1)?.id ?? 0) ?? null,
    summaryFiles: covered.flatMap(({ files }) => files),
    messages: past.slice(Math.max(0, firstQuestion)),
  }
}

function toPastMessage({ outcome, ...message }: HeldMessage, limits: HistoryLimits): PastMessage {
  const { withoutCallsOf, shorten = (result: string) => result } = limits
  const calls = (outcome.toolCalls ?? []).filter(({ parentCallId }) => parentCallId === undefined)
  return {
    id: message.id,
    role: message.role === 'assistant' ? 'assistant' : 'user',
    status: message.status,
    text: message.text,
    files: message.files,
    toolCalls: calls
      .filter(({ name }) => !withoutCallsOf.includes(name))
      .map((call) => ({ ...call, result: shorten(call.result) })),
    callCount: calls.length,
    params: message.model?.params ?? null,
    modelSteps: outcome.modelSteps ?? null,
  }
}
