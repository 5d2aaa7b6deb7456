export type { ConformanceTest } from '@inlay/protocol/conformance'
export { vectorIndexConformance, type MakeVectorIndex } from './vector-index-tests.ts'
export { embedderConformance, type MakeEmbedder } from './embedder-tests.ts'
