import { type ChatFullResponse, createFold, type FoldState, type StreamLine } from '@inlay/protocol'
import { type AnswerSource, followRun } from './reconnect.ts'

/** A running answer. It continues whether it is read or not, and can be iterated by any number of readers. */
export interface Answer extends AsyncIterable<StreamLine> {
  /** The folded answer so far; the same object changes with each line, see its `revision`. */
  readonly state: FoldState
  /** Text of the latest step so far. */
  readonly text: string
  /** The session, as soon as it is known. */
  readonly sessionId: string | null
  /**
   * Resolves when the run has ended. A failed run resolves with an answer that has `error_msg`, as on the server.
   * @throws the error that ended the connection for good
   */
  whole(): Promise<ChatFullResponse>
}

/** Reads an answer; starts at once. */
export function createAnswer(source: AnswerSource): Answer {
  const fold = createFold({ chatSessionId: source.sessionId })
  const sessionId = (): string | null => fold.state.chatSessionId ?? source.sessionId
  const lines: StreamLine[] = []
  let hasEnded = false
  let changed = Promise.withResolvers<void>()
  const announce = (): void => {
    changed.resolve()
    changed = Promise.withResolvers<void>()
  }
  const run = async (): Promise<void> => {
    try {
      for await (const line of followRun(source, sessionId)) {
        lines.push(line)
        fold.add(line)
        announce()
      }
    } finally {
      hasEnded = true
      announce()
    }
  }
  const ended = run()
  // Avoids an unhandled rejection; readers of the answer still receive the error.
  ended.catch(() => {})
  return {
    get state() {
      return fold.state
    },
    get text() {
      return fold.answer
    },
    get sessionId() {
      return sessionId()
    },
    async whole() {
      await ended
      return fold.result()
    },
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ;) {
        for (let line = lines[at]; line; line = lines[++at]) yield line
        if (hasEnded) break
        await changed.promise
      }
      await ended
    },
  }
}
