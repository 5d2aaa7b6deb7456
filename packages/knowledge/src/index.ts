export type {
  Accepted,
  DocumentPhase,
  DocumentQuery,
  DocumentStatus,
  EmbedderFigures,
  KnownTag,
  MetadataChange,
  DocumentUpdate,
  KnowledgeFigures,
  IndexDifferences,
  Readiness,
  SampledFigures,
  RequeueQuery,
  TagQuery,
} from './contracts/documents.ts'
export type * from './contracts/pairs.ts'
export type {
  Embedder,
  Hit,
  HitRanking,
  IndexCondition,
  IndexFigures,
  IndexFilter,
  IndexQuery,
  IndexRow,
  RebuildReason,
  TimeRange,
  VectorIndex,
} from './contracts/vector-index.ts'
export type * from './contracts/search.ts'
export type { AcceptOptions, Knowledge } from './contracts/knowledge.ts'
export type { ImageDescriber, ImageStore, Summarizer, SummaryRequest } from './contracts/models.ts'
export { toFileRequest } from './intake/file-document.ts'
export type * from './contracts/files.ts'
export type { AcceptInput, DocumentInput } from './contracts/document-input.ts'
export type { ComingDocument, DocumentHooks, DocumentVerdict, EndedDocument } from './contracts/document-hooks.ts'
export { createKnowledge } from './knowledge.ts'
export type { DocumentLimits } from './intake/quota.ts'
export type { KnowledgeOptions } from './knowledge.ts'
export type { LinkRequest } from './contracts/link.ts'
export { createIndexCopy, type IndexCopy, type IndexCopyOptions } from './reindexing/copy-index.ts'
export { dropIndexes } from './reindexing/index-space.ts'
export { migrateKnowledge } from './schema/migrations.ts'
export type { RankingOptions } from './search/reranking.ts'
export { toSearchQuery, toSearchText } from './chunking/search-text.ts'
export type { SearchableText } from './chunking/search-text.ts'
export type { PrivateFileIndex, PrivateFile } from './contracts/private-files.ts'
export { toTag } from './contracts/vector-index.ts'
export type { IngestionStep } from './contracts/steps.ts'
export type { WorkerOptions } from './indexing/worker.ts'
