import type { ChatSessionDetail, StreamLine } from '@inlay/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { toFailure } from '../service/failure.ts'
import type { AskOptions, Question, Service } from '../service/service.ts'
import { announceChange, onChangeElsewhere } from '../service/tabs.ts'
import { storedTurns } from './stored-turns.ts'
import { ended, failed, newTurn, stopped, withFailures, withLines, type Failure, type Turn } from './turn.ts'

/** A conversation and what can be done with it. */
export interface Conversation {
  readonly turns: readonly Turn[]
  /** Null until the service has opened one. */
  readonly sessionId: string | null
  readonly isAnswering: boolean
  /** Whether a stored conversation is on its way. */
  readonly isLoading: boolean
  /** Why a stored conversation could not be shown. */
  readonly failure: Failure | null
  readonly ask: (question: Question, how?: { readonly isResearch: boolean; readonly agentId?: number }) => void
  /** Asks the last question again, in place of its answer. */
  readonly retry: () => void
  readonly stop: () => void
  /** Leaves the conversation for a new one, at once; an answer on its way goes on at the service. */
  readonly leave: () => void
}

/** What is being read: an answer on its way. */
interface Reading {
  readonly leave: AbortController
  sessionId: string | null
}

/** What is shown. */
interface Shown {
  readonly turns: readonly Turn[]
  readonly isLoading: boolean
  readonly failure: Failure | null
}

const nothing: Shown = { turns: [], isLoading: false, failure: null }

/**
 * Keeps the turns of one conversation; one question is answered at a time.
 * @param wanted the conversation the address names; null for a new one. An answer that is left goes on at the service
 * @param began told the id of a conversation that was begun here
 */
export function useConversation(
  service: Service,
  wanted: string | null,
  began: (sessionId: string) => void,
): Conversation {
  const [{ turns, isLoading, failure }, setShown] = useState<Shown>(nothing)
  const reading = useRef<Reading | null>(null)
  const sessionId = useRef<string | null>(null)
  const nextId = useRef(1)

  const change = useCallback((id: number, update: (turn: Turn) => Turn): void => {
    setShown((shown) => ({ ...shown, turns: shown.turns.map((turn) => (turn.id === id ? update(turn) : turn)) }))
  }, [])

  const { run, stop } = useReading({ service, reading, sessionId, change, began })
  useStored({ service, wanted, current: sessionId, reading, nextId, setShown, run })

  const startTurn = (
    question: Question,
    kept: readonly Turn[],
    how: Pick<AskOptions, 'againId' | 'isResearch' | 'agentId'>,
  ): void => {
    const turn = newTurn(nextId.current++, question, sessionId.current)
    setShown({ ...nothing, turns: [...kept, turn] })
    void run(turn, (signal) => service.ask(question, { sessionId: turn.sessionId, ...how, signal }), 'asked here')
  }
  const isAnswering = turns.at(-1)?.phase === 'answering'
  return useMemo(
    () => ({
      turns,
      sessionId: sessionId.current,
      isAnswering,
      isLoading,
      failure,
      ask: (question, { isResearch, agentId } = { isResearch: false }) => {
        if (!isAnswering && !isLoading) startTurn(question, turns, { againId: null, isResearch, agentId })
      },
      retry: () => {
        const last = turns.at(-1)
        if (last === undefined || isAnswering) return
        // Without an id the question never reached the service.
        startTurn(last, turns.slice(0, -1), { againId: last.fold.state.userMessageId, isResearch: false })
      },
      stop,
      leave: () => {
        reading.current?.leave.abort()
        reading.current = null
        sessionId.current = null
        setShown(nothing)
      },
    }),
    [turns, isAnswering, isLoading, failure, run, stop],
  )
}

/** What reading an answer works with. */
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
      const take = inFrames<StreamLine>((lines) => change(turn.id, (known) => withLines(known, lines)))
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

/** What showing a stored conversation needs of the one that is shown. */
interface Stored {
  readonly service: Service
  readonly wanted: string | null
  readonly current: { current: string | null }
  readonly reading: { current: Reading | null }
  readonly nextId: { current: number }
  readonly setShown: (shown: Shown) => void
  readonly run: (turn: Turn, open: (signal: AbortSignal) => AsyncIterable<StreamLine>) => Promise<void>
}

/** Shows the conversation that is wanted whenever that is another one; an answer still being made is followed. */
function useStored({ service, wanted, current, reading, nextId, setShown, run }: Stored): void {
  const load = (sessionId: string, signal: AbortSignal): void => {
    const isWanted = (): boolean => !signal.aborted && current.current === sessionId && reading.current === null
    service.chat(sessionId).then(
      (session) => {
        if (!isWanted()) return
        const { turns, isRunning } = storedTurns(session, nextId.current)
        nextId.current += turns.length
        setShown({ ...nothing, turns })
        const last = turns.at(-1)
        if (isRunning && last !== undefined) void run(last, (leave) => service.follow(sessionId, leave))
      },
      (error: unknown) => {
        if (isWanted()) setShown({ ...nothing, failure: toFailure(error) })
      },
    )
  }
  useEffect(() => {
    if (wanted === current.current) return undefined
    reading.current?.leave.abort()
    reading.current = null
    current.current = wanted
    if (wanted === null) {
      setShown(nothing)
      return undefined
    }
    const leave = new AbortController()
    setShown({ ...nothing, isLoading: true })
    load(wanted, leave.signal)
    return () => leave.abort()
  }, [wanted, service])
  useEffect(() => {
    const leave = new AbortController()
    const unsubscribe = onChangeElsewhere((change) => {
      // What is being read here needs no second look.
      if (change.kind !== 'chat' || change.sessionId !== current.current || reading.current !== null) return
      load(change.sessionId, leave.signal)
    })
    return () => {
      leave.abort()
      unsubscribe()
    }
  }, [service])
}

/** Gathers values and hands them on once a frame: a fast model sends hundreds of lines in one. */
function inFrames<Value>(hand: (values: readonly Value[]) => void): { add(value: Value): void; flush(): void } {
  let waiting: Value[] = []
  let frame: number | undefined
  const flush = (): void => {
    if (frame !== undefined) cancelAnimationFrame(frame)
    frame = undefined
    const values = waiting
    waiting = []
    if (values.length > 0) hand(values)
  }
  return {
    flush,
    add: (value) => {
      waiting.push(value)
      // No frames are drawn while the page is in the background; its answer should still be there on return.
      if (document.hidden) flush()
      else frame ??= requestAnimationFrame(flush)
    },
  }
}
