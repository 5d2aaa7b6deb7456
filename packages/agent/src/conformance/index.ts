export {
  imageGeneratorLaws,
  type ImageGeneratorUnderTest,
  type ImageServiceMood,
  type MakeImageGenerator,
} from './image-generator-laws.ts'
export { codeRunnerLaws, type MakeCodeRunner } from './code-runner-laws.ts'
export type { Law } from './law.ts'
export { actionLaws } from './action-laws.ts'
export { actionSourceLaws, type ActionSourceUnderTest, type MakeActionSource } from './action-source-laws.ts'
export type { ActionWorld, MakeAction } from './action-fixture.ts'
export { modelProviderLaws, type MakeModelProvider } from './model-provider-laws.ts'
export {
  webSearchLaws,
  type MakeWebSearch,
  type SearchServiceMood,
  type WebSearchUnderTest,
} from './web-search-laws.ts'
export { conversationStoreConformance } from './conversation-store-conformance.ts'
export {
  fileStoreConformance,
  memoryStoreConformance,
  personaLookupConformance,
  projectLookupConformance,
} from './lookup-conformance.ts'
export { runStoreConformance } from './run-store-conformance.ts'
export type { MakeStores, StoresUnderTest } from './store-fixture.ts'
