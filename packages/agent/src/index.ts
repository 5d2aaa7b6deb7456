export { createAgent } from './agent.ts'
export type { AgentLimits, AgentOptions } from './agent.ts'
export { createInternalSearch } from './actions/internal-search.ts'
export type { InternalSearchOptions } from './actions/internal-search.ts'
export { actionLimitMs } from './contracts.ts'
export type {
  Action,
  ActionResult,
  ActionTurn,
  Agent,
  DeltaListener,
  InputSchema,
  LogEntry,
  ModelListing,
  ModelProvider,
  Passage,
  PassageSearch,
  ResolvedModel,
  Run,
  TellingModel,
} from './contracts.ts'
export { migrateAgent } from './migrations.ts'
export type {
  Feedback,
  SessionGroup,
  SessionListing,
  Sessions,
  StoredMessage,
  StoredSession,
} from './sessions/contracts.ts'
