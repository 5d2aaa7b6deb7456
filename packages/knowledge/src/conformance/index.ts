export type { ConformanceTest } from '@inlay/protocol/conformance'
export type { MakeVectorIndex } from './index-fixture.ts'
export { vectorIndexConformance } from './vector-index-tests.ts'
export { embedderConformance, type MakeEmbedder } from './embedder-tests.ts'
export { rerankerConformance, type MakeReranker, type RerankMood } from './reranker-tests.ts'
export {
  imageDescriberConformance,
  summarizerConformance,
  type ImageDescriberUnderTest,
  type MakeImageDescriber,
  type MakeSummarizer,
  type SampleImage,
} from './writer-tests.ts'
