import type { ChatSessionDetail, ErrorLine, StreamLine } from '@inlay/protocol'
import { isToolUIPart, readUIMessageStream } from 'ai'
import { exchangesOf, type Exchange } from '../exchanges.ts'
import { streamOf } from './answer-stream.ts'
import { createChunkWriter, type FileReader } from './chunks.ts'
import type { InlayChunk, InlayUIMessage } from './messages.ts'

/** The messages of a stored session, without an answer that is still running: it is resumed. */
export async function storedMessages(session: ChatSessionDetail, readFile: FileReader): Promise<InlayUIMessage[]> {
  const messages: InlayUIMessage[] = []
  for (const exchange of exchangesOf(session)) {
    const before = isDecision(exchange) ? messages.at(-1) : undefined
    const answer = exchange.isRunning ? undefined : await answerOf(exchange, readFile, before)
    if (before && answer) messages.pop()
    else messages.push(await questionOf(exchange, readFile))
    if (answer) messages.push(answer)
  }
  return messages
}

/** Whether an answer goes on in the message before, with calls that a person decided about. */
const isDecision = ({ packets }: Exchange): boolean => packets.some(({ obj }) => obj.type === 'tool_approval_response')

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
  before: InlayUIMessage | undefined,
): Promise<InlayUIMessage | undefined> {
  if (answer === undefined) return undefined
  const lines: StreamLine[] = [
    { user_message_id: question.message_id, reserved_assistant_message_id: answer.message_id },
    ...packets,
    ...(answer.error === null ? [] : [storedFailure(answer.error)]),
  ]
  const requested = (before?.parts ?? []).filter((part) => isToolUIPart(part) && part.state === 'approval-requested')
  const continued = new Map(requested.map((part) => [part.approval.id, part.toolCallId]))
  const { add } = createChunkWriter(answer.chat_session_id, readFile, { failedCalls: answer.failed_calls, continued })
  async function* chunks(): AsyncGenerator<InlayChunk> {
    for (const line of lines) yield* add(line)
  }
  let message = before
  const stream = streamOf(chunks())
  for await (const state of readUIMessageStream<InlayUIMessage>({ message, stream })) message = state
  return message
}

function storedFailure(error: string): ErrorLine {
  return { error, error_code: null, is_retryable: true, stack_trace: null, details: null }
}
