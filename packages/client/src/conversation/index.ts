export { createChatClient } from '../client.ts'
export type { ChatClient } from '../client.ts'
export { conversationCalls, createConversation } from './conversation.ts'
export type {
  AskedAt,
  Conversation,
  ConversationOptions,
  ConversationService,
  ConversationState,
} from './conversation.ts'
export { accentRule, brandScheme } from './colour-scheme.ts'
export type { ColourScheme } from './colour-scheme.ts'
export { storedTurns } from './stored-turns.ts'
export type { StoredTurns } from './stored-turns.ts'
export { argumentTexts, decisionOn, isExpired, placeOf, toolOf, waitingCallsOf } from './approvals.ts'
export type { ApprovalRequest } from './approvals.ts'
export { hasMessage, newTurn, sourcesOf, stepsOf, usualColumn, withLines } from './turn.ts'
export type {
  ConversationTexts,
  Failure,
  Feedback,
  FeedbackReason,
  Question,
  SentFile,
  Source,
  Turn,
  Versions,
} from './turn.ts'
