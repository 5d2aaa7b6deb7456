import * as v from 'valibot'
import { boolean, integer, model, orNull, rule, text, type WireSchema } from '../fields.ts'

/** Body of `POST /chat/create-chat-message-feedback`; requires a rating or a text. */
export interface FeedbackRequest {
  /** Id of the rated answer. */
  readonly chat_message_id: number
  /** Whether the answer helped. */
  readonly is_positive: boolean | null
  /** Comment of the reader. */
  readonly feedback_text: string | null
  /** One of the reasons offered by a client. */
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
