import type * as v from 'valibot'
import { administrationInputs, administrationOutputs } from '../administration/named-schemas.ts'
import { userInfoSchema, userPermissionsSchema } from '../resources/accounts.ts'
import {
  chatSessionCreatedSchema,
  chatSessionCreationSchema,
  confirmationSchema,
  fileDescriptorSchema,
  llmOverrideSchema,
  sendMessageRequestSchema,
} from '../chat/chat.ts'
import {
  batchLineSchema,
  docMinimalInfoSchema,
  ingestionResponseSchema,
  ingestionStateSchema,
} from '../ingestion/documents.ts'
import {
  documentSetCreationSchema,
  documentSetSummarySchema,
  documentSetUpdateSchema,
  indexedSourcesSchema,
} from '../resources/document-sets.ts'
import { errorBodySchema, validationErrorBodySchema } from '../errors/error-bodies.ts'
import { feedbackRequestSchema } from '../resources/feedback.ts'
import {
  fileRemovalSchema,
  fileStatusesRequestSchema,
  parsedSheetsSchema,
  uploadAnswerSchema,
  uploadFormSchema,
  userFileSchema,
} from '../resources/files.ts'
import { baseFiltersSchema, tagSchema } from '../chat/filters.ts'
import {
  documentCountsSchema,
  ingestionFiguresSchema,
  pairIndexingStatusSchema,
  requeuedSchema,
} from '../ingestion/indexing-status.ts'
import { ingestionDocumentSchema, ingestionRequestSchema, ownerSchema, sectionSchema } from '../ingestion/ingestion.ts'
import {
  errorLineSchema,
  messageIdLineSchema,
  multiModelLineSchema,
  sessionLineSchema,
  streamLineSchema,
} from '../framing/lines.ts'
import {
  defaultModelSchema,
  llmProviderSchema,
  llmProvidersSchema,
  modelConfigurationSchema,
} from '../resources/llm-providers.ts'
import { packetBodySchema, packetSchema, packetTable, packetTypes, placementSchema } from '../packets/packets.ts'
import { pairCreationSchema, pairDescriptorSchema, pairUpdateSchema } from '../resources/pairs.ts'
import {
  fullPersonaSchema,
  minimalPersonaSchema,
  personaCreationSchema,
  personaPageSchema,
  personaUpdateSchema,
} from '../resources/personas.ts'
import {
  memoryItemSchema,
  memoryTextSchema,
  personalizationSchema,
  personalizationUpdateSchema,
} from '../resources/personalization.ts'
import {
  projectDetailsSchema,
  projectInstructionsSchema,
  projectSchema,
  projectUpdateSchema,
  sessionMoveSchema,
  tokenTotalSchema,
} from '../resources/projects.ts'
import { generatedImageSchema, savedSearchDocSchema, searchDocSchema } from '../packets/search-doc.ts'
import { searchRequestSchema, searchResponseSchema } from '../chat/search.ts'
import {
  chatMessageDetailSchema,
  chatSearchAnswerSchema,
  chatSessionDetailSchema,
  chatSessionListSchema,
  chatSessionRenameSchema,
  chatSessionSummarySchema,
} from '../resources/sessions.ts'
import { sourceSchema } from '../ingestion/sources.ts'
import {
  customToolSchema,
  customToolUpdateSchema,
  toolMethodsSchema,
  toolSnapshotSchema,
  toolStatusSchema,
  toolStatusUpdateSchema,
  toolValidationSchema,
} from '../resources/tools.ts'
import { validTagsSchema } from '../chat/valid-tags.ts'
import { chatFullResponseSchema, toolCallResponseSchema } from '../chat/whole-answer.ts'

/** Schemas by the name they have in the OpenAPI document. */
export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>

const pascal = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Name of a packet type's schema: `message_delta` is `MessageDeltaPacket`. */
export const packetSchemaName = (type: string): string => `${pascal(type)}Packet`

/** What clients send. */
export const inputSchemas: NamedSchemas = {
  SendMessageRequest: sendMessageRequestSchema,
  LlmOverride: llmOverrideSchema,
  FileDescriptor: fileDescriptorSchema,
  BaseFilters: baseFiltersSchema,
  Tag: tagSchema,
  Source: sourceSchema,
  ChatSessionCreationRequest: chatSessionCreationSchema,
  ChatSessionRename: chatSessionRenameSchema,
  FeedbackRequest: feedbackRequestSchema,
  IngestionRequest: ingestionRequestSchema,
  IngestionDocument: ingestionDocumentSchema,
  Section: sectionSchema,
  Owner: ownerSchema,
  SearchRequest: searchRequestSchema,
  ...administrationInputs,
  PairCreation: pairCreationSchema,
  PairUpdate: pairUpdateSchema,
  DocumentSetCreation: documentSetCreationSchema,
  DocumentSetUpdate: documentSetUpdateSchema,
  UploadForm: uploadFormSchema,
  FileStatusesRequest: fileStatusesRequestSchema,
  PersonaCreation: personaCreationSchema,
  PersonaUpdate: personaUpdateSchema,
  PersonalizationUpdate: personalizationUpdateSchema,
  MemoryText: memoryTextSchema,
  ProjectUpdate: projectUpdateSchema,
  SessionMove: sessionMoveSchema,
  CustomTool: customToolSchema,
  CustomToolUpdate: customToolUpdateSchema,
  ToolValidation: toolValidationSchema,
  ToolStatusUpdate: toolStatusUpdateSchema,
}

/** What clients receive. */
export const outputSchemas: NamedSchemas = {
  StreamLine: streamLineSchema,
  SessionLine: sessionLineSchema,
  MessageIdLine: messageIdLineSchema,
  MultiModelLine: multiModelLineSchema,
  ErrorLine: errorLineSchema,
  Packet: packetSchema,
  PacketBody: packetBodySchema,
  Placement: placementSchema,
  ...Object.fromEntries(packetTypes.map((type) => [packetSchemaName(type), packetTable[type].schema])),
  SearchDoc: searchDocSchema,
  GeneratedImage: generatedImageSchema,
  ChatFullResponse: chatFullResponseSchema,
  ToolCallResponse: toolCallResponseSchema,
  ChatSessionCreated: chatSessionCreatedSchema,
  ChatSessionSummary: chatSessionSummarySchema,
  ChatSessionList: chatSessionListSchema,
  ChatSessionDetail: chatSessionDetailSchema,
  ChatMessageDetail: chatMessageDetailSchema,
  SavedSearchDoc: savedSearchDocSchema,
  ChatSearchAnswer: chatSearchAnswerSchema,
  Confirmation: confirmationSchema,
  IngestionResponse: ingestionResponseSchema,
  IngestionState: ingestionStateSchema,
  DocMinimalInfo: docMinimalInfoSchema,
  BatchLine: batchLineSchema,
  SearchResponse: searchResponseSchema,
  ToolSnapshot: toolSnapshotSchema,
  ToolMethods: toolMethodsSchema,
  ToolStatus: toolStatusSchema,
  LlmProviders: llmProvidersSchema,
  LlmProvider: llmProviderSchema,
  ModelConfiguration: modelConfigurationSchema,
  DefaultModel: defaultModelSchema,
  UserInfo: userInfoSchema,
  Personalization: personalizationSchema,
  Memory: memoryItemSchema,
  UserPermissions: userPermissionsSchema,
  UserFile: userFileSchema,
  UploadAnswer: uploadAnswerSchema,
  FileRemoval: fileRemovalSchema,
  ParsedSheets: parsedSheetsSchema,
  FullPersona: fullPersonaSchema,
  MinimalPersona: minimalPersonaSchema,
  PersonaPage: personaPageSchema,
  Project: projectSchema,
  ProjectDetails: projectDetailsSchema,
  ProjectInstructions: projectInstructionsSchema,
  TokenTotal: tokenTotalSchema,
  DocumentSetSummary: documentSetSummarySchema,
  IndexedSources: indexedSourcesSchema,
  Pair: pairDescriptorSchema,
  PairIndexingStatus: pairIndexingStatusSchema,
  DocumentCounts: documentCountsSchema,
  IngestionFigures: ingestionFiguresSchema,
  Requeued: requeuedSchema,
  ValidTags: validTagsSchema,
  ...administrationOutputs,
  ErrorBody: errorBodySchema,
  ValidationErrorBody: validationErrorBodySchema,
}
