export { auditEventSchema, auditQuerySchema } from './audit.ts'
export type { AuditEvent, AuditQuery } from './audit.ts'
export { apiKeyCreationSchema, apiKeyDescriptorSchema, apiKeyUpdateSchema } from './api-keys.ts'
export type { ApiKeyCreation, ApiKeyDescriptor, ApiKeyUpdate } from './api-keys.ts'
export {
  fromLimitSet,
  limitChangeSchema,
  limitsInForceSchema,
  toLimitSet,
  limitSetSchema,
  wireLimitName,
} from './limits.ts'
export type { LimitChange, LimitsInForce, LimitUse, WireLimitName, LimitSet } from './limits.ts'
export { localModelChangeSchema, localModelsSchema } from './local-models.ts'
export type { ChosenLocalModel, LocalModelChange, LocalModels, LocalModelServer } from './local-models.ts'
export {
  modelTestRequestSchema,
  modelTestSchema,
  toolFunctionsSchema,
  toolTestRequestSchema,
  toolTestSchema,
} from './trials.ts'
export type { ModelTest, ModelTestRequest, ToolFunction, ToolFunctions, ToolTest, ToolTestRequest } from './trials.ts'
export { usageQuerySchema, usageReportSchema } from './usage.ts'
export type { UsageEntry, UsageQuery, UsageReport } from './usage.ts'
export { authTypeSchema, noticesSchema, readinessSchema, versionsSchema } from './start-up.ts'
export type { AuthType, Notices, Readiness, Versions } from './start-up.ts'
export { indexingStatusQuerySchema, sourceIndexingSchema } from './connector-indexing.ts'
export type { ConnectorIndexing, IndexingStatusQuery, SourceIndexing, SourceSummary } from './connector-indexing.ts'
export {
  connectorCreatedSchema,
  connectorCreationSchema,
  connectorRunSchema,
  connectorSchema,
  connectorSources,
  credentialCreatedSchema,
  credentialCreationSchema,
  credentialSchema,
  deletionAttemptSchema,
  pairLinkSchema,
  pairStatusChangeSchema,
  statusResponseSchema,
} from './connectors.ts'
export type {
  ConnectorCreation,
  ConnectorDetail,
  ConnectorSource,
  CredentialCreation,
  CredentialDetail,
  PairLink,
  StatusResponse,
} from './connectors.ts'
export {
  basicConnectorStatusSchema,
  connectorFilesSchema,
  connectorStatusSchema,
  pairDetailSchema,
  pairStatuses,
} from './pair-detail.ts'
export type { BasicConnectorStatus, ConnectorFiles, ConnectorStatus, PairDetail, PairStatus } from './pair-detail.ts'
export {
  fixedSettings,
  inputPromptSchema,
  knownUserPageSchema,
  knownUsersSchema,
  workspaceSettingsSchema,
  workspaceUpdateSchema,
} from './workspace.ts'
export type {
  InputPrompt,
  InvitedUser,
  KnownGroup,
  KnownUser,
  KnownUsers,
  WorkspaceSettings,
  WorkspaceTexts,
} from './workspace.ts'
export {
  adminPersonaPageQuerySchema,
  adminPersonaPageSchema,
  adminPersonaQuerySchema,
  displayPrioritiesSchema,
  labelCreationSchema,
  labelUpdateSchema,
  personaSharingSchema,
} from './agents.ts'
export type { AdminPersonaQuery, PersonaSharing, SharedWith } from './agents.ts'
export { personaLabelSchema } from '../resources/personas.ts'
export {
  documentSizeInfoSchema,
  generatedPicturesSchema,
  imageGenerationRequestSchema,
  mcpUserCredentialsSchema,
  openedUrlsSchema,
  openUrlsRequestSchema,
  ownUsagesSchema,
  personaImageFormSchema,
  personaTransferSchema,
  searchHistorySchema,
  webSearchRequestSchema,
  webSearchResultsSchema,
} from './outside-chats.ts'
export type {
  DocumentSizeInfo,
  GeneratedPicture,
  GeneratedPictures,
  ImageGenerationRequest,
  McpUserCredentials,
  OpenedUrl,
  OpenedUrls,
  OpenUrlsRequest,
  OwnUsage,
  OwnUsages,
  PastSearch,
  PersonaTransfer,
  ReferenceImage,
  SearchHistory,
  UnopenedUrl,
  WebSearchHit,
  WebSearchRequest,
  WebSearchResults,
} from './outside-chats.ts'
