import type { ChatSessionDetail, ErrorLine, StreamLine } from '@inlay/protocol'
import { readUIMessageStream } from 'ai'
import { exchangesOf, type Exchange } from '../exchanges.ts'
import { streamOf } from './answer-stream.ts'
import { createChunkWriter, type FileReader } from './chunks.ts'
import type { InlayChunk, InlayUIMessage } from './messages.ts'

/** The messages of a stored session, without an answer that is still running: it is resumed. */
export async function storedMessages(session: ChatSessionDetail, readFile: FileReader): Promise<InlayUIMessage[]> {
  const messages: InlayUIMessage[] = []
  for (const exchange of exchangesOf(session)) {
    messages.push(await questionOf(exchange, readFile))
    const answer = exchange.isRunning ? undefined : await answerOf(exchange, readFile)
    if (answer) messages.push(answer)
  }
  return messages
}

async function questionOf({ question }: Exchange, readFile: FileReader): Promise<InlayUIMessage> {
  const { message_id: messageId, chat_session_id: sessionId, message: text } = question
  const files: InlayUIMessage['parts'] = []
  for (const { id: fileId } of question.files) {
    const file = await readFile(fileId)
    if (file === undefined) continue
    const { name, ...shown } = file
    files.push({ type: 'file', ...shown, filename: name, providerMetadata: { inlay: { fileId, name } } })
  }
  const parts: InlayUIMessage['parts'] = [...files, { type: 'text', text }]
  return { id: String(messageId), role: 'user', metadata: { sessionId, messageId }, parts }
}

async function answerOf(
  { question, answer, packets }: Exchange,
  readFile: FileReader,
): Promise<InlayUIMessage | undefined> {
  if (answer === undefined) return undefined
  const lines: StreamLine[] = [
    { user_message_id: question.message_id, reserved_assistant_message_id: answer.message_id },
    ...packets,
    ...(answer.error === null ? [] : [storedFailure(answer.error)]),
  ]
  const { add } = createChunkWriter(answer.chat_session_id, readFile, answer.failed_calls)
  async function* chunks(): AsyncGenerator<InlayChunk> {
    for (const line of lines) yield* add(line)
  }
  let message: InlayUIMessage | undefined
  for await (const state of readUIMessageStream<InlayUIMessage>({ stream: streamOf(chunks()) })) message = state
  return message
}

function storedFailure(error: string): ErrorLine {
  return { error, error_code: null, is_retryable: true, stack_trace: null, details: null }
}
