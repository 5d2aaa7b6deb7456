import { parseWith, sendMessageRequestSchema, type SendMessageInput, type SendMessageRequest } from '@inlay/protocol'

const anySession = '00000000-0000-4000-8000-000000000000'

/**
 * Reads a message as a host writes it: what is absent takes its default. The id of a session is the store's own, so
 * unlike on the wire it may be of any form.
 * @throws VALIDATION_FAILED
 */
export function readMessage(input: SendMessageInput): SendMessageRequest {
  const id = input.chat_session_id
  if (!id?.trim() || isUuid.test(id)) return parseWith(sendMessageRequestSchema, input, 'body')
  const request = parseWith(sendMessageRequestSchema, { ...input, chat_session_id: anySession }, 'body')
  return { ...request, chat_session_id: id }
}

const isUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
