export {
  apiKeyCreationSchema,
  apiKeyDescriptorSchema,
  apiKeyUpdateSchema,
  userInfoSchema,
  userPermissionsSchema,
} from './accounts.ts'
export type { ApiKeyCreation, ApiKeyDescriptor, ApiKeyUpdate, UserInfo, UserPermissions } from './accounts.ts'
export {
  chatSessionCreatedSchema,
  chatSessionCreationSchema,
  confirmationSchema,
  fileDescriptorSchema,
  llmOverrideSchema,
  originValues,
  sendMessageRequestSchema,
} from './chat.ts'
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
} from './chat.ts'
export { removeCitations } from './citationless.ts'
export {
  batchLineSchema,
  docMinimalInfoSchema,
  documentListingQuerySchema,
  documentListingSchema,
  documentStates,
  ingestionResponseSchema,
  ingestionStateSchema,
  pairDocumentsQuerySchema,
  requeueDocumentsQuerySchema,
} from './documents.ts'
export type {
  BatchLine,
  DocMinimalInfo,
  DocumentListingQuery,
  DocumentStateName,
  IngestionResponse,
  IngestionState,
  PairDocumentsQuery,
  RequeueDocumentsQuery,
} from './documents.ts'
export {
  documentSetCreationSchema,
  documentSetSummarySchema,
  documentSetUpdateSchema,
  indexedSourcesSchema,
} from './document-sets.ts'
export type {
  DocumentSetCreation,
  DocumentSetSummary,
  DocumentSetUpdate,
  IndexedSources,
  PairSummary,
} from './document-sets.ts'
export { errorBodySchema, validationErrorBodySchema } from './error-bodies.ts'
export type { ErrorBody, ValidationErrorBody } from './error-bodies.ts'
export { errorTable, InlayError, isInlayError, validationFailed } from './errors.ts'
export type { ErrorCode, ErrorMeaning, InlayErrorOptions, ValidationIssue } from './errors.ts'
export { feedbackRequestSchema } from './feedback.ts'
export type { FeedbackRequest } from './feedback.ts'
export { exactText, isStorable, storable } from './fields.ts'
export type { WireSchema } from './fields.ts'
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
} from './files.ts'
export type {
  FileRemoval,
  FileStatus,
  FileStatusesRequest,
  ParsedSheets,
  RejectedFile,
  UploadAnswer,
  UserFile,
} from './files.ts'
export { baseFiltersSchema } from './filters.ts'
export type { BaseFilters, MomentRange, Tag } from './filters.ts'
export { createFold, fold } from './fold.ts'
export type { Fold, FoldBeside, ToolCallDetail } from './fold.ts'
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
} from './fold-state.ts'
export { encodeLine, frameLine, heartbeatLine, streamContentType, streamFormatFor } from './framing.ts'
export type { StreamFormat } from './framing.ts'
export { ingestionFiguresSchema, pairIndexingStatusSchema, requeuedSchema } from './indexing-status.ts'
export type {
  DocumentCounts,
  FailedDocument,
  IngestionFigures,
  PairIndexingStatus,
  Requeued,
} from './indexing-status.ts'
export { ingestionRequestSchema } from './ingestion.ts'
export type {
  ImageSection,
  IngestionDocument,
  IngestionDocumentInput,
  IngestionInput,
  IngestionRequest,
  Owner,
  Section,
  SectionInput,
  TabularSection,
  TextSection,
} from './ingestion.ts'
export { createLineDecoder } from './line-decoder.ts'
export type { DecodedLine, LineDecoder } from './line-decoder.ts'
export {
  errorLineSchema,
  isErrorLine,
  isPacket,
  lineKind,
  messageIdLineSchema,
  multiModelLineSchema,
  sessionLineSchema,
  streamLineSchema,
} from './lines.ts'
export type {
  ErrorLine,
  LineKind,
  MessageIdLine,
  MultiModelLine,
  SessionLine,
  StreamLine,
  UnknownLine,
} from './lines.ts'
export { defaultModelSchema, llmProviderSchema, llmProvidersSchema, modelConfigurationSchema } from './llm-providers.ts'
export type { DefaultModel, LlmProvider, LlmProviders, ModelConfiguration } from './llm-providers.ts'
export type { Metadata, MetadataInput } from './metadata.ts'
export { readMoment } from './moments.ts'
export { packetBodySchema, packetSchema, packetTable, packetTypes, placementSchema } from './packets.ts'
export type { PacketEntry, PacketTable } from './packets.ts'
export type { CustomToolError, Packet, PacketBody, PacketOf, PacketType, Placement, Usage } from './packet-types.ts'
export { pairCreationSchema, pairDescriptorSchema, pairUpdateSchema } from './pairs.ts'
export type { AccessType, PairCreation, PairDescriptor, PairUpdate } from './pairs.ts'
export {
  fullPersonaSchema,
  minimalPersonaSchema,
  personaCreationSchema,
  personaPageQuerySchema,
  personaPageSchema,
  personaQuerySchema,
  personaUpdateSchema,
} from './personas.ts'
export type {
  FullPersona,
  MinimalPersona,
  PersonaBase,
  PersonaCreation,
  PersonaFields,
  PersonaLabel,
  PersonaPage,
  PersonaPageQuery,
  PersonaQuery,
  StarterMessage,
} from './personas.ts'
export { hasScope, scopes } from './principal.ts'
export type { Principal, Scope } from './principal.ts'
export {
  memoryItemSchema,
  memoryTextSchema,
  personalizationSchema,
  personalizationUpdateSchema,
} from './personalization.ts'
export type { MemoryItem, MemoryText, PersonalizationDetail, PersonalizationUpdate } from './personalization.ts'
export {
  projectCreationSchema,
  projectDetailsSchema,
  projectInstructionsSchema,
  projectSchema,
  projectUpdateSchema,
  sessionMoveSchema,
  tokenTotalSchema,
} from './projects.ts'
export type {
  Project,
  ProjectCreation,
  ProjectDetails,
  ProjectInstructions,
  ProjectUpdate,
  SessionMove,
  TokenTotal,
} from './projects.ts'
export { queryBoolean, queryInteger } from './query.ts'
export type { NumberBounds } from './query.ts'
export type { OwnerRule, ResponseSpec, RouteSpec } from './routes.ts'
export { generatedImageSchema, savedSearchDocSchema, searchDocSchema } from './search-doc.ts'
export type { GeneratedImage, SavedSearchDoc, SearchDoc } from './search-doc.ts'
export { searchRequestSchema, searchResponseSchema } from './search.ts'
export type { SearchBody, SearchInput, SearchResponse, SearchResult } from './search.ts'
export {
  branchSelectionSchema,
  chatMessageDetailSchema,
  chatSearchAnswerSchema,
  chatSearchQuerySchema,
  chatSessionDetailSchema,
  chatSessionListQuerySchema,
  chatSessionListSchema,
  chatSessionQuerySchema,
  chatSessionRenamedSchema,
  chatSessionRenameSchema,
  chatSessionSummarySchema,
  chatSessionUpdateSchema,
  preferredResponseSchema,
  sessionDeletionQuerySchema,
  sessionModelSchema,
  sessionReasoningSchema,
  sessionTemperatureSchema,
} from './sessions.ts'
export type {
  ChatMessageDetail,
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
} from './sessions.ts'
export { sourceSchema, sourceValues } from './sources.ts'
export type { SourceValue } from './sources.ts'
export { lineLimitBytes, splitLine } from './split-line.ts'
export { mcpAskInputSchema, mcpListInputSchema, mcpMessageSchema, mcpSearchInputSchema } from './mcp.ts'
export type { McpAskInput, McpListInput, McpMessage, McpSearchInput } from './mcp.ts'
export {
  customToolSchema,
  customToolUpdateSchema,
  toolMethodsSchema,
  toolSnapshotSchema,
  toolStatusSchema,
  toolStatusUpdateSchema,
  toolValidationSchema,
} from './tools.ts'
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
} from './tools.ts'
export { uuid } from './uuids.ts'
export { validTagsQuerySchema, validTagsSchema } from './valid-tags.ts'
export type { ValidTag, ValidTags, ValidTagsQuery } from './valid-tags.ts'
export { parseAnswer, parseJsonBody, parseWith, toValidationIssues } from './validation.ts'
export type { RequestPart } from './validation.ts'
export { chatFullResponseSchema, toolCallResponseSchema } from './whole-answer.ts'
export type { ChatFullResponse, CitationInfo, ToolCallResponse } from './whole-answer.ts'
