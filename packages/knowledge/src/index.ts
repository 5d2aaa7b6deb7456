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
  Recency,
  RequeueQuery,
  Reranker,
  SearchRequest,
  TagQuery,
  TimeRange,
  VectorIndex,
} from './contracts.ts'
export type { ImageDescriber, ImageStore, Summarizer, SummaryRequest } from './enrichment-contracts.ts'
export { toFileRequest } from './file-document.ts'
export type { FileDocument, FileDocumentOptions } from './file-document.ts'
export type { ExtractedFile, ExtractedSection, FileExtractor, SourceFile } from './file-contracts.ts'
export { createKnowledge } from './knowledge.ts'
export type { KnowledgeOptions } from './knowledge.ts'
export type { LinkRequest } from './link-contract.ts'
export { migrateKnowledge } from './migrations.ts'
export type { RankingOptions } from './ranking.ts'
export { toSearchQuery, toSearchText } from './search-text.ts'
export type { SearchableText } from './search-text.ts'
export type { Shelf, ShelfDocument } from './shelf-contract.ts'
export { toTag } from './tags.ts'
export type { IngestionStep } from './steps.ts'
export type { WorkerOptions } from './worker.ts'
