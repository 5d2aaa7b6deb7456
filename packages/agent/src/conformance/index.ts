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
