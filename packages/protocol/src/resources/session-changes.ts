import * as v from 'valibot'
import { boolean, float, integer, model, orNull, text, uuid } from '../fields.ts'
import { queryBoolean } from '../query.ts'
import { sharingStatus } from './sessions.ts'

/** Answer of `PUT /chat/rename-chat-session`. */
export const chatSessionRenamedSchema = model('ChatSessionRenamed', {
  /** The new name. */
  new_name: v.string(),
})

/** Body of `PATCH /chat/chat-session/{session_id}`. */
export const chatSessionUpdateSchema = model('ChatSessionUpdate', {
  /** New read access for others. */
  sharing_status: sharingStatus,
})

/** Query of the addresses that delete sessions. */
export const sessionDeletionQuerySchema = model('SessionDeletionQuery', {
  /** Whether to delete permanently instead of hiding. */
  hard_delete: v.optional(queryBoolean, 'false'),
})

/** Body of `PUT /service-api/chat-sessions/{session_id}/pin`. */
export const sessionPinSchema = model('SessionPin', {
  /** Whether the session is pinned. */
  pinned: boolean,
})

/** Body of `PUT /chat/set-message-as-latest`. */
export const branchSelectionSchema = model('BranchSelection', {
  /** Message that the active branch should lead to. */
  message_id: integer,
})

/** Body of `PUT /chat/set-preferred-response`. */
export const preferredResponseSchema = model('PreferredResponse', {
  /** The question that several models answered. */
  user_message_id: integer,
  /** The preferred answer. */
  preferred_response_id: integer,
})

/** Body of `PUT /chat/update-chat-session-model`. */
export const sessionModelSchema = model('SessionModel', {
  /** The session. */
  chat_session_id: uuid,
  /** Model to pin; null or blank unpins. */
  new_alternate_model: v.nullable(text),
})

/** Body of `PUT /chat/update-chat-session-temperature`. */
export const sessionTemperatureSchema = model('SessionTemperature', {
  /** The session. */
  chat_session_id: uuid,
  /** Temperature to pin; null: the model's default. */
  temperature_override: v.nullable(float),
})

/** Body of `PUT /chat/update-chat-session-reasoning`. */
export const sessionReasoningSchema = model('SessionReasoning', {
  /** The session. */
  chat_session_id: uuid,
  /** Reasoning effort to pin; null: the model's default. */
  reasoning_effort_override: orNull(text),
})
