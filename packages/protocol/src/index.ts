export * from './assemble-answer/fold-stream.ts'
export * from './assemble-answer/strip-citations.ts'
export * from './call-hook.ts'
export * from './chat/search.ts'
export * from './chat/searched-words.ts'
export * from './chat/send-message.ts'
export * from './chat/valid-tags.ts'
export * from './chat/whole-answer.ts'
export * from './errors/error-codes.ts'
export * from './errors/error-schemas.ts'
export * from './framing/lines.ts'
export * from './framing/sse-and-ndjson.ts'
export * from './ingestion/document-chunks.ts'
export * from './ingestion/documents.ts'
export * from './ingestion/indexing-status.ts'
export * from './ingestion/large-request.ts'
export * from './ingestion/text-pieces.ts'
export * from './ingestion/unread-parts.ts'
export * from './json.ts'
export type * from './openapi/routes.ts'
export * from './packets/packet-table.ts'
export * from './query.ts'
export * from './readable-extensions.ts'
export * from './unread-files.ts'
export * from './visible-text.ts'
export * from './required-options.ts'
export * from './resources/accounts.ts'
export * from './resources/document-sets.ts'
export * from './resources/feedback.ts'
export * from './resources/files.ts'
export * from './resources/llm-providers.ts'
export * from './resources/mcp.ts'
export * from './resources/persona-changes.ts'
export * from './resources/personalization.ts'
export * from './resources/personas.ts'
export * from './resources/principal.ts'
export * from './resources/projects.ts'
export * from './resources/session-changes.ts'
export * from './resources/sessions.ts'
export * from './resources/tools.ts'
export * from './sources.ts'
export * from './suggestion.ts'
export * from './user-ids.ts'

// These modules also hold builders for the schemas of this package.
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
export { baseFiltersSchema, type BaseFilters, type Tag, type TimestampRange } from './chat/filters.ts'
export {
  asUuid,
  boolean,
  complete,
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
export { createLineDecoder, type DecodedLine, type LineDecoder } from './framing/line-decoder.ts'
export { ingestionRequestSchema, metadataSchema } from './ingestion/ingestion-document.ts'
export type * from './ingestion/ingestion-document.ts'
export { parseAnswer, parseJsonBody, parseWith, toValidationIssues, type RequestPart } from './invalid-request.ts'
export type { PacketEntry } from './packets/packet-entry.ts'
export type * from './packets/packet-types.ts'
export { generatedImageSchema, savedSearchDocSchema, searchDocSchema } from './packets/search-doc.ts'
export type * from './packets/search-doc.ts'
export { pairCreationSchema, pairDescriptorSchema, pairUpdateSchema } from './resources/pairs.ts'
export type * from './resources/pairs.ts'
export { readTimestamp } from './timestamps.ts'
export * from './tool-arguments.ts'
