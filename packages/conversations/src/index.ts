export { createConversations } from './conversations.ts'
export type { Conversations, ConversationsOptions, FileLimits } from './conversations.ts'
export type { Erased } from './erasure.ts'
export { migrateConversations } from './migrations.ts'
export type {
  BlobStorage,
  FileHolders,
  FileIndex,
  FileReader,
  Files,
  IndexedFile,
  Sheet,
  Upload,
  UploadDetails,
} from './files/contracts.ts'
export type { Memories, Personalization, PersonalizationChanges } from './memories/contracts.ts'
export type { Personas, PersonaSettings, StoredPersona } from './personas/contracts.ts'
export type { Projects, ProjectWithSessions, StoredProject } from './projects/contracts.ts'
export { createRunStore } from './sessions/send-key-records.ts'
export { sqlSharedRuns } from './run-records/shared-runs.ts'
export type { ListenToDatabase, SqlSharedRunsOptions } from './run-records/shared-runs.ts'
export { createConversationStore } from './sessions/conversation-store.ts'
export type {
  Feedback,
  FoundSession,
  PastSearch,
  SessionGroup,
  SessionListing,
  Sessions,
  StoredMessage,
  StoredSession,
} from './sessions/stored-session.ts'
export type { ReadableDocuments } from './sessions/shared-session.ts'
export type { ModelUsage } from './sessions/usage.ts'
export type { ModelTrial } from './try-model.ts'
export type {
  AddressAnswer,
  AddressRequest,
  CustomHeader,
  FetchAddress,
  StoredTool,
  StoredToolFields,
  StoredToolFunction,
  StoredTools,
} from './custom-tools/contracts.ts'
export { createToolNumbers } from './custom-tools/tool-numbers.ts'
