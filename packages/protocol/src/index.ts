export { userInfoSchema, userPermissionsSchema, type UserInfo, type UserPermissions } from './resources/accounts.ts'
export { readableExtensions } from './readable-extensions.ts'
export {
  chatSessionCreatedSchema,
  chatSessionCreationSchema,
  confirmationSchema,
  fileDescriptorSchema,
  llmOverrideSchema,
  originValues,
  sendMessageRequestSchema,
} from './chat/send-message.ts'
export type {
  ChatSessionCreated,
  ChatSessionCreation,
  ChatSessionCreationRequest,
  Confirmation,
  FileDescriptor,
  FileKind,
  LlmOverride,
  Origin,
  SendMessageInput,
  SendMessageRequest,
} from './chat/send-message.ts'
export { stripCitations } from './assemble-answer/strip-citations.ts'
export {
  batchLineSchema,
  docMinimalInfoSchema,
  documentListingQuerySchema,
  documentListingSchema,
  documentStates,
  ingestionFormSchema,
  ingestionResponseSchema,
  ingestionStateSchema,
  pairDocumentsQuerySchema,
  requeueDocumentsQuerySchema,
} from './ingestion/documents.ts'
export type {
  BatchLine,
  DocMinimalInfo,
  DocumentDetails,
  DocumentListingQuery,
  DocumentStateName,
  IngestionResponse,
  IngestionState,
  PairDocumentsQuery,
  RequeueDocumentsQuery,
} from './ingestion/documents.ts'
export { documentChunksQuerySchema, documentChunksSchema } from './ingestion/document-chunks.ts'
export type { DocumentChunksQuery, DocumentChunksView, DocumentChunkView } from './ingestion/document-chunks.ts'
export {
  documentSetCreatedSchema,
  documentSetCreationSchema,
  documentSetQuerySchema,
  documentSetSummarySchema,
  documentSetUpdateSchema,
  indexedSourcesSchema,
  namedDocumentSetUpdateSchema,
} from './resources/document-sets.ts'
export type {
  DocumentSetCreation,
  DocumentSetSummary,
  DocumentSetUpdate,
  IndexedSources,
  PairSummary,
} from './resources/document-sets.ts'
export { errorBodySchema, rateLimitedBodySchema, validationErrorBodySchema } from './errors/error-schemas.ts'
export type { ErrorBody, RateLimitedBody, ValidationErrorBody } from './errors/error-schemas.ts'
export { errorTable, InlayError, isInlayError, validationFailed } from './errors/error-codes.ts'
export type { ErrorCode, ErrorMeaning, InlayErrorOptions, ValidationIssue } from './errors/error-codes.ts'
export { feedbackRequestSchema, type FeedbackRequest } from './resources/feedback.ts'
export { isJsonObject, readJson, type JsonObject } from './json.ts'
export {
  asUuid,
  boolean,
  exactText,
  float,
  integer,
  isStorable,
  storable,
  unknownName,
  uuid,
  type Wire,
  type WireSchema,
} from './fields.ts'
export { suggestionFor } from './suggestion.ts'
export { checkRequired, isObject, isText, type RequiredOption } from './required-options.ts'
export {
  fileKinds,
  fileRemovalSchema,
  fileStatuses,
  fileStatusesRequestSchema,
  parsedSheetsSchema,
  readTempIds,
  uploadAnswerSchema,
  uploadFormSchema,
  userFileSchema,
} from './resources/files.ts'
export type {
  FileRemoval,
  FileStatus,
  FileStatusesRequest,
  ParsedSheets,
  RejectedFile,
  UploadAnswer,
  UserFile,
} from './resources/files.ts'
export { baseFiltersSchema, type BaseFilters, type Tag, type TimestampRange } from './chat/filters.ts'
export { createFold, fold, type Fold, type FoldContext, type ToolCallDetail } from './assemble-answer/fold-stream.ts'
export type {
  Block,
  BlockFailure,
  BlockProgress,
  FoldState,
  PlanBlock,
  ReasoningBlock,
  ResearchBlock,
  RunPhase,
  TextBlock,
  ToolBlock,
} from './assemble-answer/fold-state.ts'
export {
  encodeLine,
  encodeLines,
  frameLine,
  heartbeatLine,
  maxLineBytes,
  splitLine,
  streamContentType,
  streamFormatFor,
} from './framing/sse-and-ndjson.ts'
export type { StreamFormat } from './framing/sse-and-ndjson.ts'
export {
  ingestionFiguresSchema,
  pairIndexingStatusSchema,
  reindexRequestSchema,
  reindexedSchema,
  requeuedSchema,
} from './ingestion/indexing-status.ts'
export type {
  DocumentCounts,
  FailedDocument,
  EmbedderState,
  IngestionFigures,
  PairIndexingStatus,
  ReindexRequest,
  Reindexed,
  Requeued,
} from './ingestion/indexing-status.ts'
export { ingestionRequestSchema } from './ingestion/ingestion-document.ts'
export { readLargeRequest } from './ingestion/large-request.ts'
export { setTextPieces, textPieces } from './ingestion/text-pieces.ts'
export type {
  ImageSection,
  IngestionDocument,
  IngestionDocumentInput,
  IngestionInput,
  IngestionRequest,
  Metadata,
  MetadataInput,
  Owner,
  Section,
  SectionInput,
  TabularSection,
  TextSection,
} from './ingestion/ingestion-document.ts'
export { createLineDecoder, type DecodedLine, type LineDecoder } from './framing/line-decoder.ts'
export {
  errorLineSchema,
  isErrorLine,
  isPacket,
  lineKind,
  messageIdLineSchema,
  multiModelLineSchema,
  sessionLineSchema,
  streamLineSchema,
} from './framing/lines.ts'
export type {
  ErrorLine,
  LineKind,
  MessageIdLine,
  MultiModelLine,
  SessionLine,
  StreamLine,
  UnknownLine,
} from './framing/lines.ts'
export {
  defaultModelSchema,
  llmProviderSchema,
  llmProvidersSchema,
  modelConfigurationSchema,
} from './resources/llm-providers.ts'
export type { DefaultModel, LlmProvider, LlmProviders, ModelConfiguration } from './resources/llm-providers.ts'
export { readTimestamp } from './timestamps.ts'
export { packetBodySchema, packetSchema, packetTable, packetTypes, placementSchema } from './packets/packet-table.ts'
export type { PacketTable } from './packets/packet-table.ts'
export type { PacketEntry } from './packets/packet-entry.ts'
export type {
  CustomToolError,
  Packet,
  PacketBody,
  PacketOf,
  PacketType,
  Placement,
  Usage,
} from './packets/packet-types.ts'
export { pairCreationSchema, pairDescriptorSchema, pairUpdateSchema } from './resources/pairs.ts'
export type { AccessType, PairCreation, PairDescriptor, PairUpdate } from './resources/pairs.ts'
export {
  fullPersonaSchema,
  minimalPersonaSchema,
  personaPageQuerySchema,
  personaPageSchema,
  personaQuerySchema,
} from './resources/personas.ts'
export type {
  FullPersona,
  MinimalPersona,
  PersonaBase,
  PersonaLabel,
  PersonaPage,
  PersonaPageQuery,
  PersonaQuery,
  StarterMessage,
} from './resources/personas.ts'
export { personaCreationSchema, personaUpdateSchema } from './resources/persona-changes.ts'
export type { PersonaCreation, PersonaFields, PersonaUpdate } from './resources/persona-changes.ts'
export { hasScope, limitNames, operator, scopes } from './resources/principal.ts'
export type { CallerLimits, Principal, Scope } from './resources/principal.ts'
export {
  memoryItemSchema,
  memoryTextSchema,
  personalizationSchema,
  personalizationUpdateSchema,
} from './resources/personalization.ts'
export type {
  MemoryItem,
  MemoryText,
  PersonalizationDetail,
  PersonalizationUpdate,
} from './resources/personalization.ts'
export {
  projectCreationSchema,
  projectDetailsSchema,
  projectInstructionsSchema,
  projectSchema,
  projectUpdateSchema,
  sessionMoveSchema,
  tokenTotalSchema,
} from './resources/projects.ts'
export type {
  Project,
  ProjectCreation,
  ProjectDetails,
  ProjectInstructions,
  ProjectUpdate,
  SessionMove,
  TokenTotal,
} from './resources/projects.ts'
export { queryBoolean, queryInteger, type NumberBounds } from './query.ts'
export type { OwnerRule, ResponseSpec, RouteSpec } from './openapi/routes.ts'
export { generatedImageSchema, savedSearchDocSchema, searchDocSchema } from './packets/search-doc.ts'
export type { GeneratedImage, SavedSearchDoc, SearchDoc } from './packets/search-doc.ts'
export { searchRequestSchema, searchResponseSchema } from './chat/search.ts'
export type { SearchInput, SearchRanking, SearchRequest, SearchResponse, SearchResult } from './chat/search.ts'
export {
  chatMessageDetailSchema,
  failedToolCallSchema,
  chatSearchAnswerSchema,
  chatSearchQuerySchema,
  chatSessionDetailSchema,
  chatSessionListQuerySchema,
  chatSessionListSchema,
  chatSessionQuerySchema,
  chatSessionRenameSchema,
  chatSessionSummarySchema,
} from './resources/sessions.ts'
export type {
  ChatMessageDetail,
  FailedToolCall,
  ChatSearchAnswer,
  ChatSearchQuery,
  ChatSessionDetail,
  ChatSessionList,
  ChatSessionListQuery,
  ChatSessionQuery,
  ChatSessionRename,
  ChatSessionSummary,
  FoundChatSession,
  SharingStatus,
} from './resources/sessions.ts'
export {
  branchSelectionSchema,
  chatSessionRenamedSchema,
  chatSessionUpdateSchema,
  preferredResponseSchema,
  sessionDeletionQuerySchema,
  sessionModelSchema,
  sessionReasoningSchema,
  sessionTemperatureSchema,
} from './resources/session-changes.ts'
export { sourceSchema, sourceValues, type SourceValue } from './sources.ts'
export { mcpAskInputSchema, mcpListInputSchema, mcpMessageSchema, mcpSearchInputSchema } from './resources/mcp.ts'
export type { McpAskInput, McpListInput, McpMessage, McpSearchInput } from './resources/mcp.ts'
export {
  customToolSchema,
  customToolUpdateSchema,
  toolMethodsSchema,
  toolSnapshotSchema,
  toolStatusSchema,
  toolStatusUpdateSchema,
  toolValidationSchema,
} from './resources/tools.ts'
export type {
  CustomTool,
  CustomToolUpdate,
  MethodSpec,
  ToolHeader,
  ToolMethods,
  ToolSnapshot,
  ToolStatus,
  ToolStatusUpdate,
  ToolValidation,
} from './resources/tools.ts'
export { isNamed, toUserId, toUserNames } from './user-ids.ts'
export { validTagsQuerySchema, validTagsSchema } from './chat/valid-tags.ts'
export type { ValidTag, ValidTags, ValidTagsQuery } from './chat/valid-tags.ts'
export { parseAnswer, parseJsonBody, parseWith, toValidationIssues, type RequestPart } from './invalid-request.ts'
export { chatFullResponseSchema, toolCallResponseSchema } from './chat/whole-answer.ts'
export type { ChatFullResponse, CitationInfo, ToolCallResponse } from './chat/whole-answer.ts'
