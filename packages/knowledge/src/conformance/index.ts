export type { ConformanceTest } from '@inlay/protocol/conformance'
export type { MakeVectorIndex } from './index-fixture.ts'
export { vectorIndexConformance } from './vector-index-tests.ts'
export { embedderConformance, type MakeEmbedder } from './embedder-tests.ts'
