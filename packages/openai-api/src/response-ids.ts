import { asUuid, InlayError } from '@inlay/protocol'

/** A stored answer, as the id of its response names it. */
export interface AnswerPlace {
  readonly sessionId: string
  readonly messageId: number
}

const hex = (id: string): string => id.replaceAll('-', '')

/** What the ids of a response and of its items have in common. */
export const answerKey = ({ sessionId, messageId }: AnswerPlace): string => `${hex(sessionId)}${messageId.toString(16)}`

/** The answer behind an id such as `resp_<key>` or `msg_<key>_<index>`; undefined for another form. */
export function answerPlace(id: string): AnswerPlace | undefined {
  const [, session, message] = /^[a-z]{2,4}_([0-9a-f]{32})([0-9a-f]{1,12})(?:_\d{1,6})?$/.exec(id) ?? []
  if (session === undefined || message === undefined) return undefined
  const sessionId = asUuid(session)
  return sessionId === undefined ? undefined : { sessionId, messageId: Number.parseInt(message, 16) }
}

export const conversationId = (sessionId: string): string => `conv_${hex(sessionId)}`

/** The session behind the id of a conversation. @throws SESSION_NOT_FOUND for another form */
export function conversationSession(id: string): string {
  const session = asUuid(/^conv_([0-9a-f]{32})$/.exec(id)?.[1] ?? id)
  if (session === undefined) throw new InlayError('SESSION_NOT_FOUND')
  return session
}
