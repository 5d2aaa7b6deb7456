import { type ErrorCode, type ErrorLine, errorTable, InlayError } from '@inlay/protocol'
import type { Answer } from '../answer.ts'
import { createChunkWriter, type FileReader } from './chunks.ts'
import type { InlayChunk } from './messages.ts'
import type { Chat } from './requests.ts'

/**
 * Chunks of an answer; what the stream tells about the chat is remembered.
 * @throws the failure of the run, after its last chunk
 */
export async function* readAnswer(
  answer: Answer,
  chat: Chat,
  { readFile, questionId }: { readonly readFile: FileReader; readonly questionId?: string },
): AsyncGenerator<InlayChunk> {
  const writer = createChunkWriter(chat.sessionId, readFile)
  for await (const line of answer) {
    if ('chat_session_id' in line) chat.sessionId = line.chat_session_id
    if ('user_message_id' in line && line.user_message_id !== null && questionId !== undefined)
      chat.questions.set(questionId, line.user_message_id)
    yield* writer.add(line)
  }
  const { errorLine } = writer.state
  if (errorLine !== null) throw toFailure(errorLine)
}

function toFailure({ error, error_code: code, is_retryable: isRetryable }: ErrorLine): InlayError {
  const isKnown = (name: string | null): name is ErrorCode => name !== null && Object.hasOwn(errorTable, name)
  return new InlayError(isKnown(code) ? code : 'UNKNOWN_ERROR', { message: error, data: { isRetryable } })
}

/** A stream that is written no faster than it is read, so that a failure at its end loses nothing before it. */
export function streamOf(chunks: AsyncGenerator<InlayChunk>): ReadableStream<InlayChunk> {
  return new ReadableStream<InlayChunk>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        // Not awaited: the generator returns when the line it waits for has come.
        void chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
