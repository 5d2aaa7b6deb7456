import type { AnyDatabase } from './dialect.ts'

interface TurnIds {
  readonly chat_session_id: string
  readonly message_id: number
  readonly user_id: string
}

/** The data of each type of event. */
export interface EventData {
  'document.indexed': { readonly document_id: string; readonly revision: number; readonly chunk_count: number }
  'document.failed': { readonly document_id: string; readonly reason: string | null }
  'answer.finished': TurnIds & {
    readonly status: 'done' | 'failed' | 'cancelled' | 'terminated'
    readonly error_code: string | null
  }
  'feedback.given': TurnIds & {
    readonly is_positive: boolean | null
    readonly feedback_text: string | null
    readonly predefined_feedback: string | null
  }
  'approval.requested': TurnIds & { readonly tool_call_id: string; readonly tool_name: string }
}

/** Something that happened: a type such as `document.indexed`, and its data as JSON. */
export type OutgoingEvent = {
  readonly [Type in keyof EventData]: { readonly type: Type; readonly data: EventData[Type] }
}[keyof EventData]

/** Stores events in the transaction of what they report, so that neither exists without the other. */
export type RecordEvents = (transaction: AnyDatabase, events: readonly OutgoingEvent[]) => Promise<void>
