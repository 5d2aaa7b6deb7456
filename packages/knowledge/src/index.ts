export type {
  Accepted,
  Access,
  Caller,
  DocumentPhase,
  DocumentQuery,
  DocumentSet,
  DocumentSetChange,
  DocumentSets,
  DocumentStatus,
  Embedder,
  Excerpt,
  ExcerptRequest,
  FoundPassage,
  Hit,
  IndexCondition,
  IndexFigures,
  IndexFilter,
  IndexQuery,
  IndexRow,
  KnownTag,
  Knowledge,
  KnowledgeFigures,
  Pair,
  PairChange,
  PairProgress,
  Pairs,
  RebuildReason,
  Recency,
  RequeueQuery,
  Reranker,
  SearchRequest,
  TagQuery,
  TimeRange,
  VectorIndex,
} from './contracts.ts'
export type { ImageDescriber, ImageStore, Summarizer, SummaryRequest } from './enrichment/contracts.ts'
export { toFileRequest } from './intake/file-document.ts'
export type { FileDocument, FileDocumentOptions } from './intake/file-document.ts'
export type { ExtractedFile, ExtractedSection, FileExtractor, FileStore, SourceFile } from './intake/file-contracts.ts'
export { createKnowledge } from './knowledge.ts'
export type { KnowledgeOptions } from './knowledge.ts'
export type { LinkRequest } from './search/link-contract.ts'
export { migrateKnowledge } from './schema/migrations.ts'
export type { RankingOptions } from './search/ranking.ts'
export { toSearchQuery, toSearchText } from './search/search-text.ts'
export type { SearchableText } from './search/search-text.ts'
export type { PrivateFileIndex, PrivateFile } from './search/private-file-index-contract.ts'
export { toTag } from './access/tags.ts'
export type { IngestionStep } from './indexing/steps.ts'
export type { WorkerOptions } from './indexing/worker.ts'
