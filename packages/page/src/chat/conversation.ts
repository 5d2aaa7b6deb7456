import type { ChatSessionDetail, StreamLine } from '@inlay/protocol'
import { useCallback, useEffect, useMemo, useRef, useState, type Dispatch, type StateUpdater } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import type { AnswerSettings, AskOptions, FeedbackReason, Question, Service } from '../service/service.ts'
import { announceChange, onChangeElsewhere } from '../service/tabs.ts'
import { branchTo, storedTurns } from './stored-turns.ts'
import {
  ended,
  failed,
  hasMessage,
  keptColumn,
  newTurn,
  stopped,
  usualColumn,
  withFailures,
  withLines,
  type Feedback,
  type Turn,
} from './turn.ts'

/** A conversation and what can be done with it. */
export interface Conversation {
  readonly turns: readonly Turn[]
  /** Null until the service has created one. */
  readonly sessionId: string | null
  /** The agent that answers in it; null until it is known. */
  readonly agentId: number | null
  readonly isAnswering: boolean
  /** Whether a stored conversation is being loaded. */
  readonly isLoading: boolean
  /** Why a stored conversation could not be shown. */
  readonly failure: Failure | null
  readonly ask: (
    question: Question,
    how?: { readonly isResearch: boolean; readonly agentId?: number; readonly projectId?: number | undefined },
  ) => void
  /** Asks a question again for another answer, by default the last one. The branch then ends with it. */
  readonly retry: (turn?: Turn, modelId?: number) => void
  /** Asks a question of the conversation in other words; what followed it stays as another branch. */
  readonly edit: (turn: Turn, words: string) => void
  /** Shows another version of a question or an answer, with what followed it. */
  readonly choose: (messageId: number) => void
  /** Continues with one of several parallel answers. */
  readonly keep: (turn: Turn, column: Turn) => void
  readonly rate: (turn: Turn, feedback: Feedback, reason?: FeedbackReason) => void
  /** Questions entered while an answer streams; each is sent when the one before is answered. */
  readonly queue: readonly Question[]
  readonly unqueue: (question: Question) => void
  readonly stop: () => void
  /** Leaves the conversation for a new one at once; a running answer continues on the server. */
  readonly leave: () => void
}

/** An answer that is being received. */
interface Reading {
  readonly leave: AbortController
  sessionId: string | null
}

interface Shown {
  readonly turns: readonly Turn[]
  readonly agentId: number | null
  readonly isLoading: boolean
  readonly failure: Failure | null
}

/** A question that waits for the answer before it. */
interface Queued extends Question {
  readonly isResearch: boolean
  readonly settings: AnswerSettings
}

/** Reads which other versions there are of a question and an answer, as another may have been made just now. */
async function learnVersions(
  service: Service,
  sessionId: string | null,
  change: (id: number, update: (turn: Turn) => Turn) => void,
  turnId: number,
  { state }: Turn['fold'],
): Promise<void> {
  if (sessionId === null) return
  const session = await service.chat(sessionId).catch(() => null)
  const { userMessageId, messageId } = state
  if (session === null || userMessageId === null) return
  const stored = storedTurns(session, 0).turns.find((turn) => hasMessage(turn, userMessageId))
  if (stored === undefined) return
  const modelName = stored.fold.state.messageId === messageId ? stored.modelName : undefined
  change(turnId, (turn) => ({ ...turn, versions: stored.versions, modelName: modelName ?? turn.modelName }))
}

const nothing: Shown = { turns: [], agentId: null, isLoading: false, failure: null }

/**
 * Keeps the turns of one conversation; one question is answered at a time.
 * @param wanted the conversation the address names; null for a new one. An answer that is left goes on at the service
 * @param goal the message the address names, in an object of its own for each time it is gone to
 * @param began told the id of a conversation that was begun here
 * @param settings what people chose for the questions they ask now
 */
export function useConversation(
  service: Service,
  wanted: string | null,
  goal: { readonly messageId?: number },
  began: (sessionId: string) => void,
  settings: AnswerSettings,
): Conversation {
  const [{ turns, agentId, isLoading, failure }, setShown] = useState<Shown>(nothing)
  const reading = useRef<Reading | null>(null)
  const sessionId = useRef<string | null>(null)
  const nextId = useRef(1)
  // Until there is a session, each question that is asked would begin it.
  const beginning = useRef<Pick<AskOptions, 'agentId' | 'projectId'>>({})
  // Questions that wait for the answer of the shown conversation.
  const [queue, setQueue] = useState<readonly Queued[]>([])

  const change = useCallback((id: number, update: (turn: Turn) => Turn): void => {
    setShown((shown) => ({ ...shown, turns: shown.turns.map((turn) => (turn.id === id ? update(turn) : turn)) }))
  }, [])

  const shownTurns = useRef(turns)
  shownTurns.current = turns
  const loading = useRef(isLoading)
  loading.current = isLoading
  const { run, stop } = useReading({ service, reading, sessionId, change, began })
  const reload = useStored({
    service,
    wanted,
    goal,
    isShown: (messageId) => shownTurns.current.some((turn) => hasMessage(turn, messageId)),
    isLoading: () => loading.current,
    isUndecided: () => (shownTurns.current.at(-1)?.columns ?? null) !== null,
    current: sessionId,
    reading,
    nextId,
    setShown,
    run,
    left: () => setQueue([]),
  })

  const startTurn = (
    question: Question,
    kept: readonly Turn[],
    how: Pick<AskOptions, 'againId' | 'parentId' | 'isResearch' | 'settings'>,
  ): void => {
    const turn = newTurn(nextId.current++, question, sessionId.current)
    const settled = kept.map((each) => keptColumn(each, usualColumn(each.columns)))
    setShown((shown) => ({
      ...nothing,
      agentId: shown.agentId ?? beginning.current.agentId ?? 0,
      turns: [...settled, turn],
    }))
    const isBranch = how.againId !== null || how.parentId !== undefined
    const answer = run(
      turn,
      (signal) =>
        askAfter(service, kept, question, { sessionId: turn.sessionId, ...beginning.current, ...how, signal }),
      'asked here',
    )
    // The service knows the other branches.
    const { columns } = kept.at(-1) ?? turn
    const grown = [...(isBranch ? [turn] : []), ...(columns === null ? [] : settled.slice(-1))]
    for (const { id, fold } of grown)
      void answer.then(() => learnVersions(service, turn.fold.state.chatSessionId ?? turn.sessionId, change, id, fold))
  }
  const isAnswering = turns.at(-1)?.phase === 'answering'
  const latest = turns.at(-1)
  useEffect(() => {
    const [next] = queue
    if (next === undefined) return
    if (latest?.phase !== 'finished' && latest?.phase !== 'stopped') return
    setQueue((known) => known.filter((queued) => queued !== next))
    startTurn(next, turns, { againId: null, isResearch: next.isResearch, settings: next.settings })
  }, [latest?.phase, latest?.id, queue])
  useEffect(() => {
    if (latest?.phase !== 'failed' || latest.failure?.waitSeconds === undefined) return undefined
    const timer = setTimeout(() => again.current(), latest.failure.waitSeconds * 1000)
    return () => clearTimeout(timer)
  }, [latest?.id, latest?.phase, latest?.failure])
  const retry = (turn = turns.at(-1), modelId = settings.modelId): void => {
    const at = turns.findIndex(({ id }) => id === turn?.id)
    if (turn === undefined || at < 0 || isAnswering) return
    startTurn(turn, turns.slice(0, at), {
      // Without an id the question never reached the service.
      againId: turn.fold.state.userMessageId,
      isResearch: false,
      settings: { ...settings, modelId },
    })
  }
  const again = useRef(retry)
  again.current = retry
  return useMemo(
    () => ({
      turns,
      sessionId: sessionId.current,
      agentId,
      isAnswering,
      isLoading,
      failure,
      ask: (question, { isResearch, agentId: wantedAgent, projectId } = { isResearch: false }) => {
        if (isLoading) return
        if (isAnswering) setQueue((known) => [...known, { ...question, isResearch, settings }])
        else {
          beginning.current = { agentId: wantedAgent, projectId }
          startTurn(question, turns, { againId: null, isResearch, settings })
        }
      },
      retry,
      edit: (turn, words) => {
        const at = turns.findIndex(({ id }) => id === turn.id)
        if (isAnswering || at < 0) return
        const parentId = at === 0 ? null : (turns[at - 1]?.fold.state.messageId ?? undefined)
        const question = { question: words, files: turn.files }
        startTurn(question, turns.slice(0, at), { againId: null, parentId, isResearch: false, settings })
      },
      choose: (messageId) => {
        const { current } = sessionId
        if (isAnswering || current === null) return
        service.selectBranch(messageId).then(
          () => reload(current),
          (error: unknown) => setShown((shown) => ({ ...shown, failure: toFailure(error) })),
        )
      },
      keep: (turn, column) => {
        keepAnswer(service, column).then(
          () => {
            setShown((shown) => ({ ...shown, failure: null }))
            change(turn.id, (known) => keptColumn(known, column))
            void learnVersions(service, sessionId.current, change, turn.id, column.fold)
          },
          (error: unknown) => setShown((shown) => ({ ...shown, failure: toFailure(error) })),
        )
      },
      rate: (turn, feedback, reason) => {
        const { messageId } = turn.fold.state
        if (messageId === null) return
        const before = turn.feedback
        change(turn.id, (known) => ({ ...known, feedback }))
        service
          .rate(messageId, feedback, reason)
          .catch(() => change(turn.id, (known) => ({ ...known, feedback: before })))
      },
      queue,
      unqueue: (question) => setQueue((known) => known.filter((queued) => queued !== question)),
      stop,
      leave: () => {
        reading.current?.leave.abort()
        reading.current = null
        sessionId.current = null
        setQueue([])
        setShown(nothing)
      },
    }),
    [turns, agentId, isAnswering, isLoading, failure, queue, settings, run, stop, reload],
  )
}

async function keepAnswer(service: Service, { fold }: Turn): Promise<void> {
  const { userMessageId, messageId } = fold.state
  if (userMessageId !== null && messageId !== null) await service.keepAnswer(userMessageId, messageId)
}

/** Selects one of the parallel answers, unless that was done, and then asks. */
async function* askAfter(
  service: Service,
  turns: readonly Turn[],
  question: Question,
  options: AskOptions,
): AsyncIterable<StreamLine> {
  const column = usualColumn(turns.at(-1)?.columns)
  if (column !== undefined) await keepAnswer(service, column)
  yield* service.ask(question, options)
}

interface ReadingParts {
  readonly service: Service
  readonly reading: { current: Reading | null }
  readonly sessionId: { current: string | null }
  readonly change: (id: number, update: (turn: Turn) => Turn) => void
  readonly began: (sessionId: string) => void
}

/** Reads the lines of an answer into its turn. */
function useReading({ service, reading, sessionId, change, began }: ReadingParts): {
  run(turn: Turn, open: (signal: AbortSignal) => AsyncIterable<StreamLine>, origin?: 'asked here'): Promise<void>
  stop(): void
} {
  const run = useCallback(
    async (
      turn: Turn,
      open: (signal: AbortSignal) => AsyncIterable<StreamLine>,
      origin?: 'asked here',
    ): Promise<void> => {
      const mine: Reading = { leave: new AbortController(), sessionId: turn.sessionId }
      reading.current = mine
      // Tabs that only follow an answer have nothing to tell.
      let isAnnounced = origin === undefined
      const take = inIntervals<StreamLine>(
        (lines) => change(turn.id, (known) => withLines(known, lines)),
        () => flushMs(turn.fold.answer.length),
      )
      try {
        for await (const line of open(mine.leave.signal)) {
          if ('chat_session_id' in line && mine.sessionId === null && reading.current === mine) {
            mine.sessionId = line.chat_session_id
            sessionId.current = line.chat_session_id
            began(line.chat_session_id)
          }
          if (!isAnnounced && mine.sessionId !== null) {
            isAnnounced = true
            // From now on other tabs can follow the answer.
            announceChange({ kind: 'chat', sessionId: mine.sessionId })
          }
          take.add(line)
        }
        take.flush()
        change(turn.id, ended)
        if (turn.fold.lacksResult && mine.sessionId !== null) {
          const update = (session: ChatSessionDetail): void => change(turn.id, (known) => withFailures(known, session))
          service.chat(mine.sessionId).then(update, () => {})
        }
        if (origin !== undefined && mine.sessionId !== null) announceChange({ kind: 'chat', sessionId: mine.sessionId })
      } catch (error) {
        take.flush()
        change(turn.id, (known) => (mine.leave.signal.aborted ? stopped(known) : failed(known, toFailure(error))))
      } finally {
        if (reading.current === mine) reading.current = null
      }
    },
    [service, change, began],
  )
  const stop = useCallback((): void => {
    const running = reading.current
    if (running === null) return
    // The server ends the stream by a `stop` packet; without a session yet there is only the connection to close.
    if (running.sessionId === null) running.leave.abort()
    else service.stop(running.sessionId).catch(() => running.leave.abort())
  }, [service])
  return { run, stop }
}

/** Access to the conversation that is shown, for loading a stored one in its place. */
interface Stored {
  readonly service: Service
  readonly wanted: string | null
  readonly goal: { readonly messageId?: number }
  /** Whether the branch that is shown has a message. */
  readonly isShown: (messageId: number) => boolean
  /** Whether nothing is shown yet of the conversation that is wanted. */
  readonly isLoading: () => boolean
  /** Whether the last question has several answers without a selection; the stored conversation shows one of them. */
  readonly isUndecided: () => boolean
  readonly current: { current: string | null }
  readonly reading: { current: Reading | null }
  readonly nextId: { current: number }
  readonly setShown: Dispatch<StateUpdater<Shown>>
  readonly run: (turn: Turn, open: (signal: AbortSignal) => AsyncIterable<StreamLine>) => Promise<void>
  /** Called when another conversation replaces this one. */
  readonly left: () => void
}

/** Loads the wanted conversation when it changes, and follows an answer that is still running. */
function useStored({
  service,
  wanted,
  goal,
  isShown,
  isLoading,
  isUndecided,
  current,
  reading,
  nextId,
  setShown,
  run,
  left,
}: Stored): (sessionId: string) => void {
  const load = (sessionId: string, signal: AbortSignal, messageId?: number): void => {
    const isWanted = (): boolean => !signal.aborted && current.current === sessionId && reading.current === null
    withMessage(service, sessionId, messageId).then(
      (session) => {
        if (!isWanted()) return
        const { turns, isRunning } = storedTurns(session, nextId.current)
        nextId.current += turns.length
        setShown({ ...nothing, agentId: session.persona_id, turns })
        const last = turns.at(-1)
        if (isRunning && last !== undefined) void run(last, (leave) => service.follow(sessionId, leave))
      },
      (error: unknown) => {
        if (isWanted()) setShown({ ...nothing, failure: toFailure(error) })
      },
    )
  }
  useEffect(() => {
    if (wanted === current.current) {
      if (wanted === null || reading.current !== null) return undefined
      // The message may be in another branch. If still loading, the request for the previous goal was aborted.
      if (!isLoading() && (goal.messageId === undefined || isShown(goal.messageId))) return undefined
      const leave = new AbortController()
      load(wanted, leave.signal, goal.messageId)
      return () => leave.abort()
    }
    reading.current?.leave.abort()
    reading.current = null
    current.current = wanted
    left()
    if (wanted === null) {
      setShown(nothing)
      return undefined
    }
    const leave = new AbortController()
    setShown({ ...nothing, isLoading: true })
    load(wanted, leave.signal, goal.messageId)
    return () => leave.abort()
  }, [wanted, service, goal])
  useEffect(() => {
    const leave = new AbortController()
    const unsubscribe = onChangeElsewhere((change) => {
      // An answer that streams into this tab is up to date anyway.
      if (change.kind !== 'chat' || change.sessionId !== current.current || reading.current !== null) return
      if (isUndecided()) return
      load(change.sessionId, leave.signal)
    })
    return () => {
      leave.abort()
      unsubscribe()
    }
  }, [service])
  return useCallback((sessionId: string) => load(sessionId, new AbortController().signal), [service])
}

/** A stored conversation with the branch of a message selected, unless the message is gone or an answer is running. */
async function withMessage(
  service: Service,
  sessionId: string,
  messageId: number | undefined,
): Promise<ChatSessionDetail> {
  const session = await service.chat(sessionId)
  const hidden = messageId === undefined || session.current_run !== null ? [] : branchTo(session, messageId)
  if (hidden.length === 0) return session
  try {
    for (const id of hidden) await service.selectBranch(id)
    return await service.chat(sessionId)
  } catch {
    // Shows the previous branch rather than nothing.
    return session
  }
}

/**
 * Time between two looks at an answer that comes in, in milliseconds: text that grows faster reads no better. It takes
 * longer the longer the answer is, as the browser lays out and paints more with each look.
 */
export function flushMs(characters: number): number {
  return Math.min(240, 80 + characters / 500)
}

/** Gathers values and hands them on now and then: the first at once, then those of each interval. */
function inIntervals<Value>(
  hand: (values: readonly Value[]) => void,
  intervalMs: () => number,
): { add(value: Value): void; flush(): void } {
  let waiting: Value[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = 0
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const values = waiting
    waiting = []
    last = performance.now()
    if (values.length > 0) hand(values)
  }
  return {
    flush,
    add: (value) => {
      waiting.push(value)
      timer ??= setTimeout(flush, Math.max(0, intervalMs() - (performance.now() - last)))
    },
  }
}
