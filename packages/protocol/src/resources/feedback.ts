import * as v from 'valibot'
import { boolean, integer, model, orNull, rule, text, type WireSchema } from '../fields.ts'

/** Body of `POST /chat/create-chat-message-feedback`; at least a verdict or a text. */
export interface FeedbackRequest {
  /** The answer that is judged. */
  readonly chat_message_id: number
  /** Whether it helped. */
  readonly is_positive: boolean | null
  /** What its reader says about it. */
  readonly feedback_text: string | null
  /** One of the reasons that a client offers. */
  readonly predefined_feedback: string | null
}

const fields = model('FeedbackRequest', {
  chat_message_id: integer,
  is_positive: orNull(boolean),
  feedback_text: orNull(text),
  predefined_feedback: orNull(text),
})

export const feedbackRequestSchema: WireSchema<FeedbackRequest> = v.pipe(
  fields,
  rule(
    'value_error',
    'needs is_positive or feedback_text',
    (feedback: v.InferOutput<typeof fields>) => feedback.is_positive !== null || feedback.feedback_text !== null,
  ),
)
