import { exchangesOf, type Answer, type Client } from '@inlay/client'
import { createFold, isInlayError, type Fold, type SendMessageInput } from '@inlay/protocol'
import type { PastChats } from './past-chats.ts'

/** Reason why there is no complete answer. */
export interface Failure {
  readonly message: string
  /** Whether a retry may succeed. */
  readonly isRetryable: boolean
}

/** A question and its answer so far. */
export interface Turn {
  readonly question: string
  readonly fold: Fold
  phase: 'answering' | 'done' | 'stopped' | 'failed'
  failure?: Failure
}

/** The conversation shown by the element. `onChange` is called after every change. */
export interface Conversation {
  readonly turns: readonly Turn[]
  readonly isAnswering: boolean
  /** Reason why a stored chat could not be opened. */
  readonly failure: Failure | undefined
  readonly sessionId: string | undefined
  ask(question: string): void
  /** Asks the last question again. */
  retry(): void
  stop(): void
  /** Opens a stored chat; a running answer is resumed. */
  open(sessionId: string): Promise<void>
  /** Starts a new chat. A running answer continues, and its chat can be opened again. */
  reset(): void
}

export interface ConversationOptions {
  readonly client: Client
  /** Fields of every message. */
  readonly message: Partial<SendMessageInput>
  readonly past: PastChats
  readonly onChange: () => void
}

/** A chat; its answer may still be running while another chat is shown. */
interface Chat {
  turns: Turn[]
  sessionId?: string
  failure?: Failure
  /** The answer being read, and how to stop reading. */
  reading?: { readonly answer: Answer; readonly connection: AbortController }
}

export function createConversation(options: ConversationOptions): Conversation {
  const { client, onChange } = options
  let chat: Chat = { turns: [] }
  const lastTurn = (): Turn | undefined => chat.turns.at(-1)
  return {
    get turns() {
      return chat.turns
    },
    get isAnswering() {
      return lastTurn()?.phase === 'answering'
    },
    get failure() {
      return chat.failure
    },
    get sessionId() {
      return chat.sessionId
    },
    ask(question) {
      if (question.trim() !== '' && lastTurn()?.phase !== 'answering') void send(chat, question.trim(), options)
    },
    retry() {
      const last = lastTurn()
      if (last === undefined || last.phase === 'answering') return
      chat.turns = chat.turns.slice(0, -1)
      void send(chat, last.question, options)
    },
    stop() {
      const turn = lastTurn()
      if (turn?.phase !== 'answering') return
      turn.phase = 'stopped'
      if (chat.reading) void stopRun(client, chat.reading)
      onChange()
    },
    async open(sessionId) {
      chat = { turns: [], sessionId }
      onChange()
      await restore(chat, sessionId, options)
    },
    reset() {
      chat = { turns: [] }
      onChange()
    },
  }
}

async function send(chat: Chat, question: string, options: ConversationOptions): Promise<void> {
  const turn: Turn = { question, fold: createFold(), phase: 'answering' }
  chat.turns = [...chat.turns, turn]
  const { chat_session_info: info, ...fields } = options.message
  const session = chat.sessionId === undefined ? { chat_session_info: info } : { chat_session_id: chat.sessionId }
  const connection = new AbortController()
  const message: SendMessageInput = { ...fields, message: question, ...session, origin: 'widget' }
  const answer = options.client.send(message, { signal: connection.signal })
  await follow(chat, turn, { answer, connection }, options)
}

/** Reads an answer to its end. */
async function follow(
  chat: Chat,
  turn: Turn,
  reading: NonNullable<Chat['reading']>,
  { past, onChange }: ConversationOptions,
): Promise<void> {
  chat.reading = reading
  onChange()
  try {
    for await (const line of reading.answer) {
      turn.fold.add(line)
      if ('chat_session_id' in line) {
        chat.sessionId = line.chat_session_id
        past.add(line.chat_session_id, turn.question)
      }
      onChange()
    }
    settle(turn)
  } catch (error) {
    if (turn.phase === 'answering') fail(turn, toFailure(error))
  }
  if (chat.reading === reading) delete chat.reading
  onChange()
}

/** Loads the stored messages of a chat. */
async function restore(chat: Chat, sessionId: string, options: ConversationOptions): Promise<void> {
  const { client, past, onChange } = options
  try {
    chat.turns = exchangesOf(await client.sessions.get(sessionId)).map(storedTurn)
  } catch (error) {
    if (isInlayError(error) && error.data.status === 404) past.remove(sessionId)
    chat.failure = toFailure(error)
    delete chat.sessionId
  }
  onChange()
  const turn = chat.turns.at(-1)
  if (turn?.phase !== 'answering') return
  const connection = new AbortController()
  const answer = client.resume(sessionId, { signal: connection.signal })
  await follow(chat, turn, { answer, connection }, options)
}

function storedTurn({ question, answer, packets, isRunning }: ReturnType<typeof exchangesOf>[number]): Turn {
  const turn: Turn = { question: question.message, fold: createFold(), phase: 'answering' }
  if (isRunning) return turn
  for (const packet of packets) turn.fold.add(packet)
  settle(turn)
  if (turn.phase === 'failed')
    fail(turn, { message: answer?.error ?? 'This question was not answered.', isRetryable: true })
  return turn
}

/** Updates the turn with the result of its run. */
function settle(turn: Turn): void {
  const { phase, errorLine } = turn.fold.state
  if (turn.phase === 'stopped') return
  if (phase === 'done' || phase === 'stopped') turn.phase = phase
  else if (errorLine !== null) fail(turn, { message: errorLine.error, isRetryable: errorLine.is_retryable })
  else fail(turn, { message: 'The answer is incomplete.', isRetryable: true })
}

function fail(turn: Turn, failure: Failure): void {
  turn.phase = 'failed'
  turn.failure = failure
}

/** Stops a run on the server; before its first line, the run may not exist yet. */
async function stopRun(client: Client, { answer, connection }: NonNullable<Chat['reading']>): Promise<void> {
  try {
    for await (const _ of answer) break
    if (answer.sessionId !== null) await client.stop(answer.sessionId)
  } catch {
    // Ignored: it is shown as stopped anyway, and a run that could not be stopped ends on its own.
  } finally {
    connection.abort()
  }
}

function toFailure(error: unknown): Failure {
  if (!isInlayError(error)) return { message: 'Something went wrong.', isRetryable: true }
  const { status } = error.data
  const isOurs = status === 401 || status === 403 || status === 404
  return { message: error.message, isRetryable: !isOurs }
}
