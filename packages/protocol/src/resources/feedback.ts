import * as v from 'valibot'
import { boolean, integer, model, orNull, rule, text, type WireSchema, type Wire } from '../fields.ts'

const fields = model('FeedbackRequest', {
  /** Id of the rated answer. */
  chat_message_id: integer,
  /** Whether the answer helped. */
  is_positive: orNull(boolean),
  /** Comment of the reader. */
  feedback_text: orNull(text),
  /** One of the reasons offered by a client. */
  predefined_feedback: orNull(text),
})

/** Body of `POST /chat/create-chat-message-feedback`; requires a rating or a text. */
export type FeedbackRequest = Wire<typeof fields>

export const feedbackRequestSchema: WireSchema<FeedbackRequest> = v.pipe(
  fields,
  rule(
    'value_error',
    'needs is_positive or feedback_text',
    (feedback: FeedbackRequest) => feedback.is_positive !== null || feedback.feedback_text !== null,
  ),
)
