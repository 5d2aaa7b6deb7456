export { createAgent, defaultServices } from './agent.ts'
export type { AgentLimits, AgentOptions, AgentStores } from './turn/agent-options.ts'
export type { ActionParts, SearchParts } from './tool-calls/built-in-actions.ts'
export { toWebDocument } from './actions/web-results-to-documents.ts'
export { createInternalSearch, fusePassages, internalSearchId } from './actions/internal-search/search-action.ts'
export type { ImageGenerator, ImageRequest, ImageShape, MadeImage } from './contracts/image-generator.ts'
export type { InternalSearchOptions, SearchHelp } from './actions/internal-search/search-action.ts'
export type { DocumentByLink, LinkedDocument, PageReader, ReadPage } from './contracts/page-reader.ts'
export type { CodeFile, CodeOutcome, CodeOutput, CodeRun, CodeRunner } from './contracts/code-runner.ts'
export type { WebQuery, WebResult, WebSearch } from './contracts/web-search.ts'
export type {
  Action,
  ActionAsker,
  ActionResult,
  ActionSource,
  ActionTurn,
  ModelPicture,
  InputSchema,
  ModelQuestion,
  PastText,
  ToolNumbers,
  TurnFiles,
  ToolApprovalEvent,
  ToolApprovalPolicy,
} from './contracts/action.ts'
export type { Agent, Sending } from './contracts/agent.ts'
export type {
  AnswerParameters,
  ClientCall,
  ClientFile,
  ClientMessage,
  ClientStep,
  ClientTool,
  ClientTurn,
} from './contracts/client-turn.ts'
export type {
  AnswerModel,
  AnswerOutcome,
  AnswerStatus,
  BranchHistory,
  ConversationStore,
  NewAnswer,
  HistoryLimits,
  OpenedTurn,
  PastMessage,
  RunningAnswer,
  PastToolCall,
  SessionRecord,
  ToolCallRecord,
  TurnOpening,
} from './contracts/conversation-store.ts'
export { toFileText } from './contracts/file-store.ts'
export type { FileSection, FileStore, IncomingFile, OpenedFile, StoredFile } from './contracts/file-store.ts'
export { memoryChars } from './contracts/memory-store.ts'
export type { KeptMemory, Memory, MemoryStore, Person } from './contracts/memory-store.ts'
export type {
  Grounding,
  ModelOptions,
  ModelListing,
  ModelFact,
  ModelObservations,
  ModelProvider,
  ResolvedModel,
  StreamListener,
  TappedModel,
} from './contracts/model.ts'
export type { Citations, CompareCitations, ComparedDocuments, FindSupport, PlacedMark } from './contracts/citations.ts'
export type { GivenOptions, SmallModels, Wording, WordingOptions } from './contracts/small-models.ts'
export { defaultPersona } from './contracts/persona.ts'
export type { Persona, PersonaLookup, Project, ProjectLookup } from './contracts/persona.ts'
export type { HostAgent, Responder, ResponderPart, ResponderTool, ResponderTurn } from './contracts/responder.ts'
export type { InstructedAgent } from './contracts/responder.ts'
export type { LogEntry, Run, RunTail } from './contracts/run.ts'
export type { RunStore, SendRecord, StoredAnswer } from './contracts/run-store.ts'
export type { RunLines, SharedRun, SharedRuns } from './contracts/shared-runs.ts'
export type {
  Excerpt,
  ExcerptReader,
  FileSearch,
  NamedDocumentSet,
  Passage,
  PassageQuery,
  PassageRanking,
  PassageSearch,
  Span,
} from './contracts/search.ts'
export type { FailureContext, Services } from './contracts/services.ts'
export { defineAction, idOfName } from './tool-calls/host-actions.ts'
export type { ActionDefinition, HostAction } from './tool-calls/host-actions.ts'
export type { ComingToolCall, EndedToolCall, ToolCallHooks, ToolCallVerdict } from './tool-calls/call-hooks.ts'
export type { AdmitTurn, SettleTurn, StartingTurn } from './turn/admission.ts'
export type { ComingTurn, Instructions } from './contracts/coming-turn.ts'
export type { EndedTurn, TurnHooks, TurnVerdict } from './turn/hooks.ts'
export type { ComingResearch, ResearchLimits, ResearchOptions, TokenPrice } from './research/limits.ts'
export { withoutCredentials } from './model/failure-signs.ts'
export { toFailure } from './model/failures.ts'
export { estimateTokens } from './prompt/context-window.ts'
export { recordedPackets } from './run/recorded-lines.ts'
export { byScore, replayPackets } from './run/replay-answer.ts'
export type { ReplayAnswer, ReplayCall } from './run/replay-answer.ts'
export { inMemoryStores } from './stores/in-memory.ts'
export { placeMessage, toMainline, toPath } from './message-tree.ts'
export type { MessagePlace, MessageRole, TreeNode } from './message-tree.ts'
export { reasoningEfforts } from './model/override-precedence.ts'
export { checkSessionSettings } from './turn/turn-context.ts'
