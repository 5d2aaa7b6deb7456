import type * as v from 'valibot'
import { displayPrioritiesSchema, personaLabelSchema, personaSharingSchema } from './agents.ts'
import { apiKeyCreationSchema, apiKeyDescriptorSchema, apiKeyUpdateSchema } from './api-keys.ts'
import { indexingStatusQuerySchema, sourceIndexingSchema } from './connector-indexing.ts'
import {
  connectorCreationSchema,
  connectorSchema,
  connectorStatusSchema,
  credentialCreationSchema,
  credentialSchema,
  pairDetailSchema,
  pairLinkSchema,
  statusResponseSchema,
} from './connectors.ts'
import { authTypeSchema, readinessSchema, versionsSchema } from './start-up.ts'
import { knownUserSchema, knownUsersSchema, workspaceSettingsSchema, workspaceUpdateSchema } from './workspace.ts'

/** What administrators send, by the name it has in the OpenAPI document. */
export const administrationInputs: Readonly<Record<string, v.GenericSchema>> = {
  ApiKeyCreation: apiKeyCreationSchema,
  ApiKeyUpdate: apiKeyUpdateSchema,
  ConnectorCreation: connectorCreationSchema,
  CredentialCreation: credentialCreationSchema,
  PairLink: pairLinkSchema,
  IndexingStatusQuery: indexingStatusQuerySchema,
  DisplayPriorities: displayPrioritiesSchema,
  PersonaSharing: personaSharingSchema,
  WorkspaceUpdate: workspaceUpdateSchema,
}

/** What administrators, and clients that start, receive. */
export const administrationOutputs: Readonly<Record<string, v.GenericSchema>> = {
  ApiKeyDescriptor: apiKeyDescriptorSchema,
  Connector: connectorSchema,
  Credential: credentialSchema,
  PairDetail: pairDetailSchema,
  ConnectorStatus: connectorStatusSchema,
  SourceIndexing: sourceIndexingSchema,
  StatusResponse: statusResponseSchema,
  PersonaLabel: personaLabelSchema,
  Readiness: readinessSchema,
  Versions: versionsSchema,
  AuthType: authTypeSchema,
  WorkspaceSettings: workspaceSettingsSchema,
  KnownUser: knownUserSchema,
  KnownUsers: knownUsersSchema,
}
