import * as v from 'valibot'
import { float, integer, model, orNull, text, uuid, type WireSchema } from '../fields.ts'
import { queryBoolean } from '../query.ts'
import { sharingStatus, type SharingStatus } from './sessions.ts'

/** Answer of `PUT /chat/rename-chat-session`. */
export interface ChatSessionRenamed {
  /** The new name. */
  readonly new_name: string
}

export const chatSessionRenamedSchema: WireSchema<ChatSessionRenamed> = model('ChatSessionRenamed', {
  new_name: v.string(),
})

/** Body of `PATCH /chat/chat-session/{session_id}`. */
export interface ChatSessionUpdate {
  /** New read access for others. */
  readonly sharing_status: SharingStatus
}

export const chatSessionUpdateSchema: WireSchema<ChatSessionUpdate> = model('ChatSessionUpdate', {
  sharing_status: sharingStatus,
})

/** Query of the addresses that delete sessions. */
export interface SessionDeletionQuery {
  /** Whether to delete permanently instead of hiding. */
  readonly hard_delete: boolean
}

export const sessionDeletionQuerySchema: WireSchema<SessionDeletionQuery> = model('SessionDeletionQuery', {
  hard_delete: v.optional(queryBoolean, 'false'),
})

/** Body of `PUT /chat/set-message-as-latest`. */
export interface BranchSelection {
  /** Message that the active branch should lead to. */
  readonly message_id: number
}

export const branchSelectionSchema: WireSchema<BranchSelection> = model('BranchSelection', { message_id: integer })

/** Body of `PUT /chat/set-preferred-response`. */
export interface PreferredResponse {
  /** The question that several models answered. */
  readonly user_message_id: number
  /** The preferred answer. */
  readonly preferred_response_id: number
}

export const preferredResponseSchema: WireSchema<PreferredResponse> = model('PreferredResponse', {
  user_message_id: integer,
  preferred_response_id: integer,
})

/** Body of `PUT /chat/update-chat-session-model`. */
export interface SessionModel {
  /** The session. */
  readonly chat_session_id: string
  /** Model to pin; null or blank unpins. */
  readonly new_alternate_model: string | null
}

export const sessionModelSchema: WireSchema<SessionModel> = model('SessionModel', {
  chat_session_id: uuid,
  new_alternate_model: v.nullable(text),
})

/** Body of `PUT /chat/update-chat-session-temperature`. */
export interface SessionTemperature {
  /** The session. */
  readonly chat_session_id: string
  /** Temperature to pin; null: the model's default. */
  readonly temperature_override: number | null
}

export const sessionTemperatureSchema: WireSchema<SessionTemperature> = model('SessionTemperature', {
  chat_session_id: uuid,
  temperature_override: v.nullable(float),
})

/** Body of `PUT /chat/update-chat-session-reasoning`. */
export interface SessionReasoning {
  /** The session. */
  readonly chat_session_id: string
  /** Reasoning effort to pin; null: the model's default. */
  readonly reasoning_effort_override: string | null
}

export const sessionReasoningSchema: WireSchema<SessionReasoning> = model('SessionReasoning', {
  chat_session_id: uuid,
  reasoning_effort_override: orNull(text),
})
