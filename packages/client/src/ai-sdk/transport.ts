import { isInlayError, type SendMessageInput } from '@inlay/protocol'
import type { ChatTransport } from 'ai'
import type { Answer } from '../answer.ts'
import { createClient, type Client, type ClientOptions } from '../client.ts'
import { readAnswer, streamOf } from './answer-stream.ts'
import { fileReader } from './files.ts'
import { storedMessages } from './history.ts'
import type { InlayUIMessage } from './messages.ts'
import { decisionsIn, isSessionId, sessionIn, toMessage, type Chat, type SendingOptions } from './requests.ts'

/** URL of the service, and options sent with every message. */
export interface InlayTransportOptions extends ClientOptions {
  /**
   * Fields for every message, such as `chat_session_info: { persona_id: 3 }`. `body` of a `sendMessage` call takes
   * precedence.
   */
  readonly message?: Partial<SendMessageInput>
  /**
   * How generated files are shown: as `link` to the service, for pages that authenticate with cookies, or `inline` as
   * data URL. Default: `inline` with an `apiKey`, otherwise `link`.
   */
  readonly files?: 'link' | 'inline'
}

/** Connects `useChat` to an Inlay service. */
export interface InlayTransport extends ChatTransport<InlayUIMessage> {
  /** The session of a chat; undefined until it is known. */
  sessionOf(chatId: string): string | undefined
  /**
   * The messages of a stored session, for `useChat({ id: sessionId, messages, transport, resume: true })`.
   * @throws SESSION_NOT_FOUND
   */
  messages(sessionId: string): Promise<InlayUIMessage[]>
}

/**
 * A transport for `useChat` of the AI SDK. The first message of a chat creates its session; a chat whose id is a
 * session id continues that session. Stopping a chat stops the answer on the server. Errors are `InlayError`s with
 * `error.code`, `error.data.isRetryable` and `error.data.retryAfterSeconds`.
 * @example useChat({ transport: inlayTransport({ baseUrl: '/api' }) })
 */
export function inlayTransport(options: InlayTransportOptions): InlayTransport {
  const chats = new Map<string, Chat>()
  const { files = options.apiKey === undefined ? 'link' : 'inline', message: _, ...clientOptions } = options
  const client = createClient(clientOptions)
  const readFile = fileReader(client, files, options.baseUrl)
  const clientFor = (headers: SendingOptions['headers']): Client =>
    headers === undefined ? client : clientWith(headers, clientOptions)
  const chatOf = (chatId: string): Chat => {
    const chat = chats.get(chatId) ?? { questions: new Map() }
    chats.set(chatId, chat)
    return chat
  }
  return {
    resumeStreamIsReplay: true,
    sessionOf: (chatId) => chats.get(chatId)?.sessionId,
    messages: async (sessionId) => storedMessages(await client.sessions.get(sessionId), readFile),
    async sendMessages(sending) {
      const chat = chatOf(sending.chatId)
      chat.sessionId ??= sessionIn(sending)
      const sender = clientFor(sending.headers)
      const message = await toMessage(sender, chat, sending, options.message)
      const connection = new AbortController()
      const answer = sender.send(message, { signal: connection.signal })
      stopOnAbort({ answer, chat, connection, client: sender, signal: sending.abortSignal })
      const decisions = message.tool_approvals ? decisionsIn(sending.messages) : []
      const continued = new Map(decisions.map(({ decision, toolCallId }) => [decision.tool_call_id, toolCallId]))
      const questionId = sending.messages.findLast(({ role }) => role === 'user')?.id
      const reading = continued.size > 0 ? { continued } : { questionId }
      return streamOf(readAnswer(answer, chat, { readFile, client: sender, ...reading }))
    },
    async reconnectToStream({ chatId, abortSignal, headers }) {
      const chat = chatOf(chatId)
      const sessionId = chat.sessionId ?? (isSessionId(chatId) ? chatId : undefined)
      if (sessionId === undefined) return null
      const sender = clientFor(headers)
      const reader = (chat.reader = {})
      const session = await sender.sessions.get(sessionId, { signal: abortSignal }).catch(missing)
      if (session) chat.sessionId = sessionId
      if (!session?.current_run || chat.reader !== reader) return null
      const connection = new AbortController()
      const answer = sender.resume(sessionId, { signal: connection.signal })
      stopOnAbort({ answer, chat, connection, client: sender, signal: abortSignal })
      return streamOf(readAnswer(answer, chat, { readFile, client: sender }))
    },
  }
}

function stopOnAbort(reading: {
  readonly answer: Answer
  readonly chat: Chat
  readonly connection: AbortController
  readonly client: Client
  readonly signal: AbortSignal | undefined
}): void {
  const { answer, chat, connection, client, signal } = reading
  const reader = (chat.reader = {})
  const leave = (): void => {
    // A page that resumes again aborts its first connection, which must not stop the run.
    queueMicrotask(() => {
      if (chat.reader !== reader) connection.abort()
      else void stopRun(client, answer).finally(() => connection.abort())
    })
  }
  if (signal?.aborted) leave()
  else signal?.addEventListener('abort', leave, { once: true })
}

async function stopRun(client: Client, answer: Answer): Promise<void> {
  try {
    // Before its first line, the run may not exist yet and could not be stopped.
    for await (const _ of answer) break
    if (answer.sessionId !== null) await client.stop(answer.sessionId)
  } catch {
    // Ignored: a run that could not be stopped ends on its own.
  }
}

function missing(error: unknown): undefined {
  if (isInlayError(error) && error.data.status === 404) return undefined
  throw error
}

function clientWith(headers: NonNullable<SendingOptions['headers']>, options: ClientOptions): Client {
  const send = options.fetch ?? ((input: string, init: RequestInit) => globalThis.fetch(input, init))
  const merged = (init: RequestInit): Record<string, string> =>
    Object.fromEntries([...new Headers(init.headers), ...new Headers(headers)])
  return createClient({ ...options, fetch: (input, init) => send(input, { ...init, headers: merged(init) }) })
}
