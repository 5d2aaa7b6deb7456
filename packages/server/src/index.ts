export { bearerKey, type Authenticator } from './auth/required-caller.ts'
export { createKeys } from './auth/keys.ts'
export type { ApiKey, KeyRow, KeyTable } from './auth/key-records.ts'
export type { KeysOptions } from './auth/caller-of-key.ts'
export type { ApiKeyChange, Keys, NewApiKey } from './auth/keys.ts'
export { createUsageLimits, overLimit } from './limits/caller-limits.ts'
export type { Reservation } from './limits/waiting-documents.ts'
export type {
  Bound,
  LimitName,
  LimitSettings,
  UsageLimits,
  UsageLimitsOptions,
  UsageTable,
} from './limits/caller-limits.ts'
export { migrateServer } from './auth/migrations.ts'
export {
  createAuditLog,
  timeOfEvent,
  type AuditEntry,
  type AuditLog,
  type AuditTable,
} from './administration/audit-log.ts'
export type { AddedProvider, ModelAdministration } from './administration/added-models.ts'
export type { McpServerAdministration, McpTool } from './administration/mcp-servers.ts'
export type { LocalModelAdministration } from './administration/local-models.ts'
export {
  createWorkspaceRecords,
  type WorkspaceRecord,
  type WorkspaceRecords,
  type WorkspaceTable,
  type WorkspaceValues,
} from './administration/workspace-records.ts'
export { readText } from './http/body.ts'
export { passedHeaders } from './http/passed-headers.ts'
export { notePage, publicAddress } from './http/public-address.ts'
export { readForm, type FormLimits, type FormPart } from './http/multipart.ts'
export { fileReply, uploadLimits } from './routes/chat/files.ts'
export { packetReply, textBodyOf, type StreamFormat, type TextSink, type TextSource } from './streams/packet-stream.ts'
export { describeRoutes } from './openapi/document.ts'
export { createServer, type FetchHandler, type Server, type ServerOptions } from './server.ts'
export {
  routesOf,
  type KeyWatch,
  type MountedApi,
  type Route,
  type RouteContext,
  type ServerParts,
} from './http/route.ts'
export { fromBase64, toBase64 } from './http/base64.ts'
export { errorHeaders, jsonReply, reply, type Reply } from './http/replies.ts'
