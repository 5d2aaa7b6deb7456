import { isInlayError, type ChatSessionDetail, type StreamLine } from '@inlay/protocol'
import type { ChatClient } from '../client.ts'
import type { OnConnectionChange } from '../reconnect.ts'
import { branchTo, storedTurns } from './stored-turns.ts'
import {
  ended,
  failed,
  hasMessage,
  keptColumn,
  newTurn,
  stopped,
  usualColumn,
  withConnection,
  withFailures,
  withLines,
  type ConversationTexts,
  type Failure,
  type Feedback,
  type FeedbackReason,
  type Question,
  type Turn,
} from './turn.ts'

/** Where a question stands in its conversation. */
export interface AskedAt {
  /** The session to continue; null starts one. */
  readonly sessionId: string | null
  /** A question of the session to answer again; null asks a new one. */
  readonly againId: number | null
  /**
   * The message that the question follows: the answer shown above it, or null for the first question of a session in
   * other words; undefined follows the last message.
   */
  readonly parentId?: number | null | undefined
  readonly signal: AbortSignal
  readonly onConnectionChange?: OnConnectionChange | undefined
}

/** The service as a conversation calls it. */
export interface ConversationService<How> {
  /** Asks, and returns the lines of the answer as they arrive. Leaving the loop does not stop the run. */
  ask(question: Question, options: How & AskedAt): AsyncIterable<StreamLine>
  /** The lines of the newest answer of a session, from the first. */
  follow(sessionId: string, options: Following): AsyncIterable<StreamLine>
  stop(sessionId: string): Promise<void>
  chat(sessionId: string): Promise<ChatSessionDetail>
  /** Makes the branch of a message the active one. */
  selectBranch(messageId: number): Promise<void>
  /** Continues with one of several answers to a question. */
  keepAnswer(questionId: number, answerId: number): Promise<void>
  /** Stores feedback on an answer; null removes it. */
  rate(answerId: number, feedback: Feedback, reason?: FeedbackReason): Promise<void>
}

/** The calls of a conversation that depend on no user interface. */
export function conversationCalls(client: ChatClient): Omit<ConversationService<unknown>, 'ask'> {
  const { sessions } = client
  return {
    follow: (sessionId, options) => client.resume(sessionId, options),
    stop: (sessionId) => client.stop(sessionId),
    chat: (sessionId) => sessions.get(sessionId),
    selectBranch: (messageId) => sessions.selectBranch(messageId),
    keepAnswer: (questionId, answerId) => sessions.prefer(questionId, answerId),
    rate: (answerId, feedback, { offered, text } = {}) =>
      feedback === null
        ? sessions.unrate(answerId)
        : sessions.rate(answerId, {
            isPositive: feedback === 'like',
            ...(offered !== undefined && { predefined: offered }),
            ...(text !== undefined && { text }),
          }),
  }
}

/** What a conversation shows. A new object with every change. */
export interface ConversationState {
  readonly turns: readonly Turn[]
  /** Null until the service has created one. */
  readonly sessionId: string | null
  /** The agent that answers; null while unknown. */
  readonly agentId: number | null
  readonly isAnswering: boolean
  /** Whether a stored conversation is being loaded. */
  readonly isLoading: boolean
  /** Why a stored conversation could not be shown or changed. */
  readonly failure: Failure | null
  /** Questions that wait for an answer or for the stored conversation. */
  readonly queue: readonly Question[]
}

/** A conversation and the actions on it; one question is answered at a time. */
export interface Conversation<How> {
  readonly state: ConversationState
  ask(question: Question, how: How): void
  /** Answers a question again, next to its answer. */
  retry(turn: Turn, how: How): void
  /** Asks a question in other words; what followed it stays as another branch. */
  edit(turn: Turn, words: string, how: How): void
  /** Shows another version of a question or an answer, with what followed it. */
  choose(messageId: number): void
  /** Continues with one of the answers that several models gave. */
  keep(turn: Turn, column: Turn): void
  rate(turn: Turn, feedback: Feedback, reason?: FeedbackReason): void
  unqueue(question: Question): void
  stop(): void
  /**
   * Shows a stored conversation and follows its running answer; null shows a new one. Nothing happens if it is shown
   * already. An answer that is left continues on the server.
   * @param messageId a message whose branch is selected first
   */
  open(sessionId: string | null, messageId?: number): void
  /** Shows a new conversation. */
  leave(): void
  /** Loads a session again that was changed elsewhere, if it is the one shown and no answer is being read. */
  changedElsewhere(sessionId: string): void
}

export interface ConversationOptions<How> {
  readonly service: ConversationService<How>
  readonly texts: ConversationTexts
  /** Converts an error to a message for people. */
  readonly toFailure: (error: unknown) => Failure
  /** Called after every change. */
  readonly onChange: (state: ConversationState) => void
  /**
   * Called with the session of a conversation that was started here, and its first question.
   * @param isShown false if the conversation was left before it had a session
   */
  readonly onBegin?: (sessionId: string, question: string, isShown: boolean) => void
  /**
   * Called when a question asked here has reached its session, when it is answered, and when another version or one of
   * several answers was selected.
   */
  readonly onSessionChange?: (sessionId: string) => void
}

type Following = Pick<AskedAt, 'signal' | 'onConnectionChange'>

interface Reading {
  readonly leave: AbortController
  sessionId: string | null
  /** Whether its first line has come: before, there may be no run to stop. */
  hasBegun: boolean
  /** Whether to stop the run as soon as it has begun. */
  isUnwanted: boolean
  /** Waits until it has ended: a stop ends whatever run its session has. */
  next: (() => void) | undefined
}

interface Queued<How> extends Question {
  readonly how: How
}

const nothing: Omit<ConversationState, 'sessionId'> = {
  turns: [],
  agentId: null,
  isAnswering: false,
  isLoading: false,
  failure: null,
  queue: [],
}

/** Creates a conversation: its tree of messages, its runs and its queue, without a user interface. */
export function createConversation<How extends { readonly agentId?: number | undefined }>({
  service,
  texts,
  toFailure,
  onChange,
  onBegin,
  onSessionChange,
}: ConversationOptions<How>): Conversation<How> {
  let state: ConversationState = { ...nothing, sessionId: null }
  let queue: readonly Queued<How>[] = []
  let reading: Reading | undefined
  let loading: { readonly leave: AbortController; readonly messageId: number | undefined } | undefined
  let waiting: ReturnType<typeof setTimeout> | undefined
  let nextId = 1
  /** The session that was loaded again since its run was over; a second time it is a failure. */
  let overIn: string | undefined
  /** How the latest question was asked. Until there is a session, a retry starts it the same way. */
  let latest: How | undefined

  const set = (part: Partial<ConversationState>): void => {
    const turns = part.turns ?? state.turns
    state = { ...state, ...part, queue, isAnswering: turns.at(-1)?.phase === 'answering' }
    onChange(state)
  }
  const change = (id: number, update: (turn: Turn) => Turn): void =>
    set({ turns: state.turns.map((turn) => (turn.id === id ? update(turn) : turn)) })
  const fail = (error: unknown): void => set({ failure: toFailure(error) })
  const setQueue = (questions: readonly Queued<How>[]): void => {
    queue = questions
    set({})
  }

  const startTurn = (
    question: Question,
    kept: readonly Turn[],
    how: How,
    at: Pick<AskedAt, 'parentId'> & { readonly againId?: number | null },
    isBranch: boolean,
  ): void => {
    clearTimeout(waiting)
    latest = how
    const { sessionId } = state
    const turn = newTurn(nextId++, question, sessionId)
    const settled = kept.map((each) => keptColumn(each, usualColumn(each.columns)))
    const { columns } = kept.at(-1) ?? turn
    set({ turns: [...settled, turn], agentId: state.agentId ?? how.agentId ?? 0, isLoading: false, failure: null })
    const open = async function* (options: Following): AsyncGenerator<StreamLine> {
      // It has to be decided first which of the answers before is continued.
      const column = usualColumn(columns)
      if (column !== undefined) await keepAnswer(column)
      yield* service.ask(question, { ...how, sessionId, againId: null, ...at, ...options })
    }
    const answer = run(turn, open, true)
    // The service knows the other branches.
    const grown = [...(isBranch ? [turn] : []), ...(columns === null ? [] : settled.slice(-1))]
    for (const each of grown) void answer.then(() => learnVersions(each.id, each.fold))
  }

  /** Reads the lines of an answer into its turn. */
  const run = async (
    turn: Turn,
    open: (options: Following) => AsyncIterable<StreamLine>,
    isAskedHere: boolean,
  ): Promise<void> => {
    const mine: Reading = {
      leave: new AbortController(),
      sessionId: turn.sessionId,
      hasBegun: !isAskedHere,
      isUnwanted: false,
      next: undefined,
    }
    reading = mine
    const take = inIntervals<StreamLine>(
      (lines) => change(turn.id, (known) => withLines(known, lines)),
      () => flushMs(turn.fold.answer.length),
    )
    const onConnectionChange = (isConnected: boolean): void => {
      change(turn.id, (known) => withConnection(known, isConnected))
      if (!isConnected && mine.isUnwanted && !mine.hasBegun) mine.leave.abort()
    }
    let isAnnounced = !isAskedHere
    try {
      for await (const line of open({ signal: mine.leave.signal, onConnectionChange })) {
        if ('chat_session_id' in line && mine.sessionId === null) {
          mine.sessionId = line.chat_session_id
          if (reading === mine) set({ sessionId: line.chat_session_id })
          onBegin?.(line.chat_session_id, turn.question, reading === mine)
        }
        if (!mine.hasBegun && mine.sessionId !== null) {
          mine.hasBegun = true
          if (mine.isUnwanted) stopRun(mine)
        }
        if (!isAnnounced && mine.sessionId !== null) {
          isAnnounced = true
          onSessionChange?.(mine.sessionId)
        }
        if (reading === mine) take.add(line)
        else if (!mine.isUnwanted && mine.sessionId !== null) return mine.leave.abort()
      }
      take.flush()
      overIn = undefined
      change(turn.id, (known) => ended(known, texts))
      if (mine.sessionId !== null) {
        if (turn.fold.lacksResult) void learnFailures(turn.id, mine.sessionId)
        if (isAskedHere) onSessionChange?.(mine.sessionId)
      }
    } catch (error) {
      take.flush()
      const isStopped = mine.leave.signal.aborted || mine.isUnwanted
      // The run ended while nobody read it: what is stored of its answer is shown.
      const isOver = isInlayError(error) && error.code === 'NOT_FOUND' && mine.hasBegun && !isStopped
      if (isOver && reading === mine && mine.sessionId !== null && overIn !== mine.sessionId) {
        overIn = mine.sessionId
        reading = undefined
        return load(mine.sessionId)
      }
      change(turn.id, (known) =>
        isStopped
          ? stopped(known)
          : failed(known, isOver ? { ...toFailure(error), retryable: true } : toFailure(error)),
      )
    }
    if (reading !== mine) return
    reading = undefined
    if (mine.next !== undefined) return mine.next()
    const { phase, failure } = state.turns.at(-1) ?? turn
    if (phase !== 'failed') sendNext()
    else if (latest !== undefined && failure?.waitSeconds !== undefined)
      waiting = setTimeout(retryLast, failure.waitSeconds * 1000, turn.id, latest)
  }
  const retryLast = (turnId: number, how: How): void => {
    const last = state.turns.at(-1)
    if (last?.id === turnId) conversation.retry(last, how)
  }

  /** Does something now, or once a question that was stopped has ended; nothing during an answer. */
  const whenIdle = (work: () => void): void => {
    if (reading?.isUnwanted) reading.next = work
    else if (reading === undefined) work()
  }

  const sendNext = (): void => {
    const [next] = queue
    if (next === undefined) return
    queue = queue.slice(1)
    // Another tab may have selected another branch, or asked on.
    startTurn(next, state.turns, next.how, { parentId: answerOf(state.turns.at(-1)) }, false)
  }

  /** The server ends the stream by a `stop` packet; if it cannot be reached, reading ends. */
  const stopRun = ({ sessionId, leave }: Reading): void => {
    if (sessionId !== null) service.stop(sessionId).catch(() => leave.abort())
  }

  /** Learns which versions of a question and its answer exist, as another may have been made just now. */
  const learnVersions = async (turnId: number, { state: answer }: Turn['fold']): Promise<void> => {
    const { userMessageId, messageId } = answer
    const { sessionId } = state
    const session = sessionId === null ? null : await service.chat(sessionId).catch(() => null)
    if (session === null || userMessageId === null) return
    const stored = storedTurns(session, 0, texts).turns.find((turn) => hasMessage(turn, userMessageId))
    if (stored === undefined) return
    const modelName = stored.fold.state.messageId === messageId ? stored.modelName : undefined
    change(turnId, (turn) => ({ ...turn, versions: stored.versions, modelName: modelName ?? turn.modelName }))
  }
  const learnFailures = async (turnId: number, sessionId: string): Promise<void> => {
    const session = await service.chat(sessionId).catch(() => null)
    if (session !== null) change(turnId, (known) => withFailures(known, session))
  }
  const keepAnswer = async ({ fold }: Turn): Promise<void> => {
    const { userMessageId, messageId } = fold.state
    if (userMessageId !== null && messageId !== null) await service.keepAnswer(userMessageId, messageId)
  }

  /** The turn that is shown in the place of a stored one: with a version of its question. */
  const shownAt = ({ versions }: Turn): Turn | undefined =>
    state.turns.find(({ fold }) => versions.questions.includes(fold.state.userMessageId ?? -1))

  const load = async (sessionId: string, messageId?: number): Promise<void> => {
    loading?.leave.abort()
    const leave = new AbortController()
    loading = { leave, messageId }
    const isWanted = (): boolean => !leave.signal.aborted && state.sessionId === sessionId && reading === undefined
    try {
      const session = await withMessage(service, sessionId, messageId, leave.signal)
      if (!isWanted()) return
      const { turns: stored, isRunning } = storedTurns(session, nextId, texts)
      nextId += stored.length
      const turns = stored.map((turn) => ({ ...turn, id: shownAt(turn)?.id ?? turn.id }))
      clearTimeout(waiting)
      set({ turns, agentId: session.persona_id, isLoading: false, failure: null })
      const last = turns.at(-1)
      if (isRunning && last !== undefined) void run(last, (options) => service.follow(sessionId, options), false)
      else sendNext()
    } catch (error) {
      if (!isWanted()) return
      // The next question starts another session in place of one that is gone.
      const isGone = isInlayError(error) && error.data.status === 404
      if (isGone) set({ ...nothing, sessionId: null })
      set({ isLoading: false, failure: toFailure(error) })
      if (isGone) sendNext()
    } finally {
      if (loading?.leave === leave) loading = undefined
    }
  }

  const conversation: Conversation<How> = {
    get state() {
      return state
    },
    ask(question, how) {
      setQueue([...queue, { ...question, how }])
      if (reading === undefined && !state.isLoading) sendNext()
    },
    retry({ id: turnId }, how) {
      whenIdle(() => {
        const at = state.turns.findIndex(({ id }) => id === turnId)
        const turn = state.turns[at]
        if (turn === undefined) return
        // Without an id the question never reached the service.
        const { userMessageId: againId } = turn.fold.state
        startTurn(turn, state.turns.slice(0, at), { ...latest, ...how }, { againId }, againId !== null)
      })
    },
    edit(turn, words, how) {
      whenIdle(() => {
        const at = state.turns.findIndex(({ id }) => id === turn.id)
        if (at < 0) return
        const parentId = at === 0 ? null : (state.turns[at - 1]?.fold.state.messageId ?? undefined)
        startTurn({ question: words, files: turn.files }, state.turns.slice(0, at), how, { parentId }, true)
      })
    },
    choose(messageId) {
      whenIdle(() => {
        const { sessionId } = state
        if (sessionId === null) return
        service.selectBranch(messageId).then(() => {
          onSessionChange?.(sessionId)
          // The user may have opened another session meanwhile.
          if (state.sessionId === sessionId) void load(sessionId)
        }, fail)
      })
    },
    keep(turn, column) {
      const { sessionId } = state
      keepAnswer(column).then(() => {
        set({ failure: null })
        change(turn.id, (known) => keptColumn(known, column))
        void learnVersions(turn.id, column.fold)
        if (sessionId !== null) onSessionChange?.(sessionId)
      }, fail)
    },
    rate(turn, feedback, reason) {
      const { messageId } = turn.fold.state
      if (messageId === null) return
      const { feedback: before } = turn
      change(turn.id, (known) => ({ ...known, feedback }))
      service.rate(messageId, feedback, reason).catch(() =>
        // Another version of the answer may be shown by now.
        change(turn.id, (known) => (known.fold.state.messageId === messageId ? { ...known, feedback: before } : known)),
      )
    },
    unqueue: (question) => setQueue(queue.filter((queued) => queued !== question)),
    stop() {
      const last = state.turns.at(-1)
      if (reading === undefined || last === undefined) return
      if (reading.hasBegun) stopRun(reading)
      else {
        reading.isUnwanted = true
        change(last.id, stopped)
        // There may never be a run to stop, and nobody wants it sent later.
        if (last.isDisconnected) reading.leave.abort()
      }
    },
    open(sessionId, messageId) {
      if (sessionId === state.sessionId) {
        if (sessionId === null || reading !== undefined) return
        // The message may be in a branch that is not shown.
        const isShown = messageId === undefined || state.turns.some((turn) => hasMessage(turn, messageId))
        if (!state.isLoading && isShown) return
      } else {
        conversation.leave()
        if (sessionId === null) return
        set({ sessionId, isLoading: true })
      }
      void load(sessionId, messageId)
    },
    leave() {
      // A run to be stopped is read until it has begun, and a new conversation until it has a session to find it by.
      if (reading?.isUnwanted === false && reading.sessionId !== null) reading.leave.abort()
      reading = undefined
      loading?.leave.abort()
      clearTimeout(waiting)
      queue = []
      latest = undefined
      set({ ...nothing, sessionId: null })
    },
    changedElsewhere(sessionId) {
      if (sessionId === state.sessionId && reading === undefined) void load(sessionId, loading?.messageId)
    },
  }
  return conversation
}

/** The stored answer of a turn, or the one that goes on if several models answered; undefined for none. */
function answerOf(turn: Turn | undefined): number | undefined {
  const { phase, fold } = usualColumn(turn?.columns) ?? turn ?? {}
  return phase === 'finished' || phase === 'stopped' ? (fold?.state.messageId ?? undefined) : undefined
}

/** A stored conversation whose active branch has a message, unless it is gone or an answer is running. */
async function withMessage(
  service: Pick<ConversationService<unknown>, 'chat' | 'selectBranch'>,
  sessionId: string,
  messageId: number | undefined,
  signal: AbortSignal,
): Promise<ChatSessionDetail> {
  const session = await service.chat(sessionId)
  const hidden = messageId === undefined || session.current_run !== null ? [] : branchTo(session, messageId)
  if (hidden.length === 0 || signal.aborted) return session
  try {
    for (const id of hidden) await service.selectBranch(id)
    return await service.chat(sessionId)
  } catch {
    // The conversation as it was is better than none.
    return session
  }
}

/**
 * Time between two updates of an answer that comes in, in milliseconds: text that grows faster reads no better. It
 * takes longer the longer the answer is, as the browser lays out and paints more with each update.
 */
export function flushMs(characters: number): number {
  return Math.min(240, 80 + characters / 500)
}

/** Collects values and passes them on now and then: the first at once, then those of each interval. */
function inIntervals<Value>(
  pass: (values: readonly Value[]) => void,
  intervalMs: () => number,
): { add(value: Value): void; flush(): void } {
  let waiting: Value[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Number.NEGATIVE_INFINITY
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const values = waiting
    waiting = []
    last = performance.now()
    if (values.length > 0) pass(values)
  }
  return {
    flush,
    add(value) {
      waiting.push(value)
      timer ??= setTimeout(flush, Math.max(0, intervalMs() - (performance.now() - last)))
    },
  }
}
