export type { ConformanceTest } from '@inlay/protocol/conformance'
export { vectorIndexLaws, type MakeVectorIndex } from './vector-index-laws.ts'
export { embedderLaws, type MakeEmbedder } from './embedder-laws.ts'
