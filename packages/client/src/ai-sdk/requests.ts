import { InlayError, type SendMessageInput, type ToolApproval } from '@inlay/protocol'
import { isToolUIPart, type ChatTransport } from 'ai'
import type { Client } from '../client.ts'
import type { InlayUIMessage } from './messages.ts'
import { uploadFiles } from './uploads.ts'

export type SendingOptions = Parameters<ChatTransport<InlayUIMessage>['sendMessages']>[0]

export interface Chat {
  sessionId?: string
  /** Stored ids of questions, by their ids in the page. */
  readonly questions: Map<string, number>
  /** The current reader of the answer; replaced by a newer reader of the same run. */
  reader?: object
}

export const isSessionId = (id: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)

/** The session of a chat's answers; undefined before its first message. */
export function sessionIn({ chatId, messages }: SendingOptions): string | undefined {
  const known = messages.findLast(({ metadata }) => metadata?.sessionId !== undefined)?.metadata?.sessionId
  return known ?? (messages.length > 1 && isSessionId(chatId) ? chatId : undefined)
}

/** @throws INVALID_INPUT without a question, or with files that cannot be accepted */
export async function toMessage(
  client: Client,
  chat: Chat,
  { messages, trigger, body, abortSignal }: SendingOptions,
  defaults: Partial<SendMessageInput> = {},
): Promise<SendMessageInput> {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages[at]
  if (question === undefined) throw new InlayError('INVALID_INPUT', { message: 'There is no question to answer.' })
  const { chat_session_info: info, ...fields }: Partial<SendMessageInput> = { ...defaults, ...body }
  const session = chat.sessionId === undefined ? { chat_session_info: info } : { chat_session_id: chat.sessionId }
  if (trigger !== 'regenerate-message' && chat.sessionId !== undefined) {
    const decisions = decisionsIn(messages)
    const place = { chat_session_id: chat.sessionId, parent_message_id: messages.at(-1)?.metadata?.messageId }
    if (decisions.length > 0)
      return { ...fields, message: '', ...place, tool_approvals: decisions.map(({ decision }) => decision) }
  }
  const stored = chat.questions.get(question.id) ?? question.metadata?.messageId
  if (trigger === 'regenerate-message' && stored !== undefined && chat.sessionId !== undefined)
    return { ...fields, message: '', ...session, parent_message_id: stored }
  const text = question.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  const files = await uploadFiles(client, question, abortSignal)
  return { ...fields, message: text, ...session, ...parentOf(chat, messages.slice(0, at)), ...files }
}

/** What the person decided about the calls of the last message, by the id of each call in the page. */
export function decisionsIn(
  messages: readonly InlayUIMessage[],
): { readonly toolCallId: string; readonly decision: ToolApproval }[] {
  return (messages.at(-1)?.parts ?? []).flatMap((part) => {
    if (!isToolUIPart(part) || part.state !== 'approval-responded') return []
    const { id, approved, reason } = part.approval
    return [{ toolCallId: part.toolCallId, decision: { tool_call_id: id, approved, reason } }]
  })
}

/** The answer that precedes a question; null starts a new branch in a session with other answers. */
function parentOf(chat: Chat, before: readonly InlayUIMessage[]): { parent_message_id?: number | null } {
  if (chat.sessionId === undefined) return {}
  const parent = before.findLast(({ role }) => role === 'assistant')?.metadata?.messageId
  return { parent_message_id: parent ?? (before.length === 0 ? null : -1) }
}
