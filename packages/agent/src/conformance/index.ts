export {
  imageGeneratorConformance,
  type ImageGeneratorUnderTest,
  type ImageServiceMood,
  type MakeImageGenerator,
} from './image-generator-tests.ts'
export {
  hostAgentConformance,
  type HostAgentExchange,
  type HostAgentUnderTest,
  type MakeHostAgent,
} from './host-agent-tests.ts'
export { codeRunnerConformance, type MakeCodeRunner } from './code-runner-tests.ts'
export type { ConformanceTest } from '@inlay/protocol/conformance'
export { actionConformance } from './action-tests.ts'
export { actionSourceConformance, type ActionSourceUnderTest, type MakeActionSource } from './action-source-tests.ts'
export type { ActionFixture, MakeAction } from './action-fixture.ts'
export { modelProviderConformance, type MakeModelProvider } from './model-provider-tests.ts'
export {
  webSearchConformance,
  type MakeWebSearch,
  type SearchServiceMood,
  type WebSearchUnderTest,
} from './web-search-tests.ts'
export { conversationStoreConformance } from './conversation-store-conformance.ts'
export {
  fileStoreConformance,
  memoryStoreConformance,
  personaLookupConformance,
  projectLookupConformance,
} from './lookup-conformance.ts'
export { runStoreConformance } from './run-store-conformance.ts'
export { sharedRunsConformance, type MakeSharedRuns, type SharedRunsUnderTest } from './shared-runs-conformance.ts'
export type { MakeStores, StoresUnderTest } from './store-fixture.ts'
export {
  pageReaderConformance,
  type MakePageReader,
  type PageReaderUnderTest,
  type SamplePage,
  type SiteMood,
} from './page-reader-tests.ts'
