import * as v from 'valibot'
import { boolean, float, integer, model, orNull, text, uuid, type Wire } from '../fields.ts'
import { queryBoolean } from '../query.ts'
import { sharingStatus } from './sessions.ts'

export const chatSessionRenamedSchema = model('ChatSessionRenamed', {
  /** The new name. */
  new_name: v.string(),
})

/** Answer of `PUT /chat/rename-chat-session`. */
export type ChatSessionRenamed = Wire<typeof chatSessionRenamedSchema>

export const chatSessionUpdateSchema = model('ChatSessionUpdate', {
  /** New read access for others. */
  sharing_status: sharingStatus,
})

/** Body of `PATCH /chat/chat-session/{session_id}`. */
export type ChatSessionUpdate = Wire<typeof chatSessionUpdateSchema>

export const sessionDeletionQuerySchema = model('SessionDeletionQuery', {
  /** Whether to delete permanently instead of hiding. */
  hard_delete: v.optional(queryBoolean, 'false'),
})

/** Query of the addresses that delete sessions. */
export type SessionDeletionQuery = Wire<typeof sessionDeletionQuerySchema>

export const sessionPinSchema = model('SessionPin', {
  /** Whether the session is pinned. */
  pinned: boolean,
})

/** Body of `PUT /service-api/chat-sessions/{session_id}/pin`. */
export type SessionPin = Wire<typeof sessionPinSchema>

export const branchSelectionSchema = model('BranchSelection', {
  /** Message that the active branch should lead to. */
  message_id: integer,
})

/** Body of `PUT /chat/set-message-as-latest`. */
export type BranchSelection = Wire<typeof branchSelectionSchema>

export const preferredResponseSchema = model('PreferredResponse', {
  /** The question that several models answered. */
  user_message_id: integer,
  /** The preferred answer. */
  preferred_response_id: integer,
})

/** Body of `PUT /chat/set-preferred-response`. */
export type PreferredResponse = Wire<typeof preferredResponseSchema>

export const sessionModelSchema = model('SessionModel', {
  /** The session. */
  chat_session_id: uuid,
  /** Model to pin; null or blank unpins. */
  new_alternate_model: v.nullable(text),
})

/** Body of `PUT /chat/update-chat-session-model`. */
export type SessionModel = Wire<typeof sessionModelSchema>

export const sessionTemperatureSchema = model('SessionTemperature', {
  /** The session. */
  chat_session_id: uuid,
  /** Temperature to pin; null: the model's default. */
  temperature_override: v.nullable(float),
})

/** Body of `PUT /chat/update-chat-session-temperature`. */
export type SessionTemperature = Wire<typeof sessionTemperatureSchema>

export const sessionReasoningSchema = model('SessionReasoning', {
  /** The session. */
  chat_session_id: uuid,
  /** Reasoning effort to pin; null: the model's default. */
  reasoning_effort_override: orNull(text),
})

/** Body of `PUT /chat/update-chat-session-reasoning`. */
export type SessionReasoning = Wire<typeof sessionReasoningSchema>
