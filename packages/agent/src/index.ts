export { createAgent } from './agent.ts'
export type { AgentLimits, AgentOptions } from './agent.ts'
export type { ActionParts, SearchParts } from './tools/built-in-actions.ts'
export { createInternalSearch } from './actions/internal-search/index.ts'
export type { ImageGenerator, ImageRequest, ImageShape, MadeImage } from './actions/generate-image-contract.ts'
export type { InternalSearchOptions, SearchHelp } from './actions/internal-search/index.ts'
export type { DocumentByLink, LinkedDocument, PageReader, ReadPage } from './actions/open-url-contract.ts'
export type { CodeFile, CodeOutcome, CodeOutput, CodeRun, CodeRunner } from './actions/run-python-contract.ts'
export type { WebQuery, WebResult, WebSearch } from './actions/web-search-contract.ts'
export { actionLimitMs } from './contracts.ts'
export type {
  Action,
  ActionAsker,
  ActionResult,
  ActionSource,
  ActionTurn,
  Agent,
  Excerpt,
  ExcerptReader,
  InputSchema,
  LogEntry,
  ModelListing,
  ModelProvider,
  ModelQuestion,
  Passage,
  PassageQuery,
  PassageSearch,
  PastText,
  ResolvedModel,
  Run,
  Span,
  StreamListener,
  TappedModel,
  TurnFiles,
} from './contracts.ts'
export type {
  BlobStorage,
  FileIndex,
  FileReader,
  Files,
  FileSection,
  IncomingFile,
  IndexedFile,
  OpenedFile,
  Sheet,
  StoredFile,
  Upload,
  UploadDetails,
} from './files/contracts.ts'
export type { FileLimits, LibraryParts } from './records/library.ts'
export { defineAction } from './tools/host-actions.ts'
export type { ActionDefinition, HostAction } from './tools/host-actions.ts'
export type { ComingTurn, EndedTurn, TurnHooks, TurnVerdict } from './turn/hooks.ts'
export type { Memories, Memory, Personalization, PersonalizationChanges } from './memories/contracts.ts'
export { migrateAgent } from './records/migrations.ts'
export type { Persona, Personas, PersonaSettings } from './personas/contracts.ts'
export type { NamedDocumentSet } from './personas/personas.ts'
export type { ComingResearch, ResearchLimits, ResearchOptions, TokenPrice } from './research/limits.ts'
export type { Projects, ProjectWithSessions, StoredProject } from './projects/contracts.ts'
export type {
  Feedback,
  SessionGroup,
  SessionListing,
  Sessions,
  StoredMessage,
  StoredSession,
} from './sessions/contracts.ts'
export type {
  AddressAnswer,
  AddressRequest,
  CustomHeader,
  FetchAddress,
  StoredTool,
  StoredToolFields,
  StoredToolFunction,
  StoredTools,
} from './stored-tools/contracts.ts'
export { createToolNumbers } from './stored-tools/tool-numbers.ts'
export type { ToolNumbers } from './stored-tools/tool-numbers.ts'
export { withoutCredentials } from './model/failure-signs.ts'
