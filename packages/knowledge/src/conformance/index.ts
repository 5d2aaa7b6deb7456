export type { Law } from './law.ts'
export { vectorIndexLaws, type MakeVectorIndex } from './vector-index-laws.ts'
export { embedderLaws, type MakeEmbedder } from './embedder-laws.ts'
