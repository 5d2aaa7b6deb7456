import { type ErrorCode, type ErrorLine, type FailedToolCall, errorTable, InlayError, isPacket } from '@inlay/protocol'
import type { Answer } from '../answer.ts'
import type { Client } from '../client.ts'
import { createChunkWriter, type FileReader } from './chunks.ts'
import type { InlayChunk } from './messages.ts'
import type { Chat } from './requests.ts'

export interface ReadingParts {
  readonly readFile: FileReader
  /** Used to read the reasons of calls that ended without a result. */
  readonly client: Pick<Client, 'sessions'>
  readonly questionId?: string | undefined
  /** See `createChunkWriter`. */
  readonly continued?: ReadonlyMap<string, string>
}

/**
 * Chunks of an answer. Ids that the stream contains are stored in `chat`.
 * @throws the failure of the run, after its last chunk
 */
export async function* readAnswer(
  answer: Answer,
  chat: Chat,
  { readFile, client, questionId, continued }: ReadingParts,
): AsyncGenerator<InlayChunk> {
  const writer = createChunkWriter(chat.sessionId, readFile, { continued })
  for await (const line of answer) {
    if ('chat_session_id' in line) chat.sessionId = line.chat_session_id
    if ('user_message_id' in line && line.user_message_id !== null && questionId !== undefined)
      chat.questions.set(questionId, line.user_message_id)
    // The answer is stored before its stream ends.
    if (isPacket(line) && line.obj.type === 'stop' && writer.lacksResult)
      yield* writer.addFailures(await failedCalls(client, chat.sessionId, writer.state.messageId))
    yield* writer.add(line)
  }
  const { errorLine } = writer.state
  if (errorLine !== null) throw toAnswerError(errorLine)
}

/** Failed calls of a stored answer; none if it cannot be read. */
async function failedCalls(
  client: ReadingParts['client'],
  sessionId: string | undefined,
  messageId: number | null,
): Promise<readonly FailedToolCall[]> {
  if (sessionId === undefined) return []
  const session = await client.sessions.get(sessionId).catch(() => undefined)
  return session?.messages.find(({ message_id: id }) => id === messageId)?.failed_calls ?? []
}

function toAnswerError({ error, error_code: code, is_retryable: isRetryable }: ErrorLine): InlayError {
  const isKnown = (name: string | null): name is ErrorCode => name !== null && Object.hasOwn(errorTable, name)
  return new InlayError(isKnown(code) ? code : 'UNKNOWN_ERROR', { message: error, data: { isRetryable } })
}

/** A stream with back-pressure, so that a failure at its end does not discard earlier chunks. */
export function streamOf(chunks: AsyncGenerator<InlayChunk>): ReadableStream<InlayChunk> {
  return new ReadableStream<InlayChunk>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        // Not awaited: the generator only returns when its next line has arrived.
        void chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
