import {
  branchSelectionSchema,
  feedbackRequestSchema,
  InlayError,
  preferredResponseSchema,
  queryInteger,
  sessionModelSchema,
  sessionReasoningSchema,
  sessionTemperatureSchema,
  uuid,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Chat sessions', { scope: 'chat', owner: 'caller' })
const sessionPath = v.object({ session_id: uuid })
const nothing = { description: 'Done.', schema: v.null() }

export const sessionSettingRoutes: readonly Route[] = [
  route('PUT /chat/set-message-as-latest', 'selectBranch', 'Select a branch', {
    description: 'Makes a message the active child of its parent.',
    input: { body: branchSelectionSchema },
    answer: nothing,
    errors: ['VALIDATION_ERROR'],
    handle: ({ body, caller, parts }) => parts.agent.sessions.selectBranch(body.message_id, caller),
  }),
  route('PUT /chat/set-preferred-response', 'setPreferredResponse', 'Prefer an answer', {
    description: 'Selects one of several answers to a question, and its branch.',
    input: { body: preferredResponseSchema },
    answer: nothing,
    errors: ['INVALID_INPUT'],
    async handle({ body, caller, parts }) {
      await parts.agent.sessions.preferResponse(body.user_message_id, body.preferred_response_id, caller)
    },
  }),
  route('POST /chat/create-chat-message-feedback', 'createFeedback', 'Rate an answer', {
    description: 'A rating, a text, or both. At most 100 times per minute.',
    input: { body: feedbackRequestSchema },
    answer: nothing,
    errors: ['VALIDATION_ERROR', 'RATE_LIMITED'],
    async handle({ body, caller, parts }) {
      const feedback = {
        messageId: body.chat_message_id,
        isPositive: body.is_positive,
        text: body.feedback_text,
        predefined: body.predefined_feedback,
      }
      await parts.agent.sessions.rate(feedback, caller)
    },
  }),
  route('DELETE /chat/remove-chat-message-feedback', 'removeFeedback', 'Delete feedback on an answer', {
    input: { query: v.object({ chat_message_id: queryInteger({}) }) },
    answer: nothing,
    errors: ['VALIDATION_ERROR', 'CONFLICT', 'RATE_LIMITED'],
    handle: ({ query, caller, parts }) => parts.agent.sessions.unrate(query.chat_message_id, caller),
  }),
  route('PUT /chat/update-chat-session-model', 'pinSessionModel', 'Pin the model', {
    description: 'Used for messages that select no model. The name of a model, or `provider__type__model`.',
    input: { body: sessionModelSchema },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND', 'VALIDATION_ERROR'],
    async handle({ body, caller, parts }) {
      await parts.agent.sessions.pinModel(body.chat_session_id, body.new_alternate_model, caller)
    },
  }),
  route('PUT /chat/update-chat-session-temperature', 'setSessionTemperature', 'Set the temperature', {
    description: 'Used for messages that set none; from 0 to 2, for some models to 1.',
    input: { body: sessionTemperatureSchema },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND', 'VALIDATION_ERROR'],
    async handle({ body, caller, parts }) {
      await parts.agent.sessions.setTemperature(body.chat_session_id, body.temperature_override, caller)
    },
  }),
  route('PUT /chat/update-chat-session-reasoning', 'setSessionReasoning', 'Set the reasoning effort', {
    description: 'One of `auto`, `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.',
    input: { body: sessionReasoningSchema },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND', 'INVALID_INPUT'],
    async handle({ body, caller, parts }) {
      await parts.agent.sessions.setReasoningEffort(body.chat_session_id, body.reasoning_effort_override, caller)
    },
  }),
  route('GET /chat/available-context-tokens/{session_id}', 'availableContextTokens', 'Get tokens left in a session', {
    input: { path: sessionPath },
    answer: {
      description: 'Estimated tokens available for the next message and its attachments.',
      schema: v.object({ available_tokens: v.number() }),
    },
    errors: ['SESSION_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      return { available_tokens: await parts.agent.sessions.freeTokens(path.session_id, caller) }
    },
  }),
  route('GET /chat/max-selected-document-tokens', 'maxSelectedDocumentTokens', 'Get tokens available for documents', {
    input: { query: v.object({ persona_id: v.optional(queryInteger({}), '0') }) },
    answer: {
      description: 'Estimated tokens available for documents in a new session with an agent.',
      schema: v.object({ max_tokens: v.number() }),
    },
    errors: ['PERSONA_NOT_FOUND'],
    async handle({ query, caller, parts }) {
      return { max_tokens: await parts.agent.sessions.documentTokens(query.persona_id, caller) }
    },
  }),
  route('GET /chat/incognito-availability', 'incognitoAvailability', 'Get availability of incognito sessions', {
    owner: 'none',
    answer: { description: 'Always false.', schema: v.object({ available: v.boolean() }) },
    handle: () => ({ available: false }),
  }),
  route('POST /chat/end-incognito-session/{session_id}', 'endIncognitoSession', 'End an incognito session', {
    owner: 'none',
    description: 'Does nothing: incognito sessions are not supported.',
    input: { path: sessionPath },
    errors: ['DEPLOYMENT_UNSUPPORTED'],
    handle() {
      throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Incognito sessions are not supported.' })
    },
  }),
]
