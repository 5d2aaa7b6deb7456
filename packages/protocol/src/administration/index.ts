export { apiKeyCreationSchema, apiKeyDescriptorSchema, apiKeyUpdateSchema } from './api-keys.ts'
export type { ApiKeyCreation, ApiKeyDescriptor, ApiKeyUpdate } from './api-keys.ts'
export { authTypeSchema, readinessSchema, versionsSchema } from './start-up.ts'
export type { AuthType, Readiness, Versions } from './start-up.ts'
export { indexingStatusQuerySchema, sourceIndexingSchema } from './connector-indexing.ts'
export type { ConnectorIndexing, IndexingStatusQuery, SourceIndexing } from './connector-indexing.ts'
export {
  basicConnectorStatusSchema,
  connectorCreatedSchema,
  connectorCreationSchema,
  connectorFilesSchema,
  connectorRunSchema,
  connectorSources,
  connectorStatusSchema,
  credentialCreatedSchema,
  credentialCreationSchema,
  deletionAttemptSchema,
  pairDetailSchema,
  pairLinkSchema,
  pairStatusChangeSchema,
  statusResponseSchema,
} from './connectors.ts'
export type {
  ConnectorCreation,
  ConnectorDetail,
  ConnectorSource,
  ConnectorStatus,
  CredentialCreation,
  CredentialDetail,
  PairDetail,
  PairLink,
  PairStatus,
  StatusResponse,
} from './connectors.ts'
export {
  fixedSettings,
  knownUserPageSchema,
  knownUsersSchema,
  workspaceSettingsSchema,
  workspaceUpdateSchema,
} from './workspace.ts'
export type { KnownUser, KnownUsers, WorkspaceSettings, WorkspaceTexts } from './workspace.ts'
export {
  adminPersonaPageQuerySchema,
  adminPersonaPageSchema,
  adminPersonaQuerySchema,
  displayPrioritiesSchema,
  labelCreationSchema,
  labelUpdateSchema,
  personaLabelSchema,
  personaSharingSchema,
} from './agents.ts'
export type { AdminPersonaQuery, PersonaSharing } from './agents.ts'
