import type { StreamLine } from '@inlay/protocol'
import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import { toFailure } from './failure.ts'
import type { Service } from './service.ts'
import { ended, failed, newTurn, stopped, withLines, type Turn } from './turn.ts'

/** A conversation and what can be done with it. */
export interface Conversation {
  readonly turns: readonly Turn[]
  readonly isAnswering: boolean
  readonly ask: (question: string) => void
  /** Asks the last question again, in place of its answer. */
  readonly retry: () => void
  readonly stop: () => void
  /** Forgets the conversation here and stops what runs; the next question opens a new session. */
  readonly clear: () => void
}

/** Keeps the turns of one chat session; one question is answered at a time. */
export function useConversation(service: Service): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const current = useRef<{ id: number; leave: AbortController; sessionId: string | null } | null>(null)
  const nextId = useRef(1)

  const change = useCallback((id: number, update: (turn: Turn) => Turn): void => {
    setTurns((all) => all.map((turn) => (turn.id === id ? update(turn) : turn)))
  }, [])

  const run = useCallback(
    async (turn: Turn): Promise<void> => {
      const leave = new AbortController()
      const mine = { id: turn.id, leave, sessionId: turn.sessionId }
      current.current = mine
      const take = inFrames<StreamLine>((lines) => change(turn.id, (known) => withLines(known, lines)))
      try {
        for await (const line of service.ask(turn.question, { sessionId: turn.sessionId, signal: leave.signal })) {
          if ('chat_session_id' in line) mine.sessionId = line.chat_session_id
          take.add(line)
        }
        take.flush()
        change(turn.id, ended)
      } catch (error) {
        take.flush()
        change(turn.id, (known) => (leave.signal.aborted ? stopped(known) : failed(known, toFailure(error))))
      } finally {
        if (current.current === mine) current.current = null
      }
    },
    [service, change],
  )

  const begin = useCallback(
    (question: string, kept: readonly Turn[]): void => {
      const turn = newTurn(nextId.current++, question, lastSession(kept))
      setTurns([...kept, turn])
      void run(turn)
    },
    [run],
  )

  const stop = useCallback((): void => {
    const running = current.current
    if (running === null) return
    // The server ends the stream by a `stop` packet; without a session yet there is only the connection to close.
    if (running.sessionId === null) running.leave.abort()
    else service.stop(running.sessionId).catch(() => running.leave.abort())
  }, [service])

  const isAnswering = turns.at(-1)?.phase === 'answering'
  return useMemo(
    () => ({
      turns,
      isAnswering,
      ask: (question) => {
        if (!isAnswering) begin(question, turns)
      },
      retry: () => {
        const last = turns.at(-1)
        if (last !== undefined && !isAnswering) begin(last.question, turns.slice(0, -1))
      },
      stop,
      clear: () => {
        stop()
        current.current?.leave.abort()
        setTurns([])
      },
    }),
    [turns, isAnswering, begin, stop],
  )
}

const lastSession = (turns: readonly Turn[]): string | null =>
  turns.findLast((turn) => turn.sessionId !== null)?.sessionId ?? null

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
