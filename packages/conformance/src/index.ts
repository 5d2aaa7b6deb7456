export type { ConformanceTest } from './contract.ts'
export { actionConformance } from './actions/action-tests.ts'
export type { ActionFixture, MakeAction } from './actions/action-fixture.ts'
export {
  actionSourceConformance,
  type ActionSourceUnderTest,
  type MakeActionSource,
} from './actions/action-source-tests.ts'
export { authenticatorConformance, type AuthenticatorUnderTest, type MakeAuthenticator } from './authenticator-tests.ts'
export { dialectConformance } from './dialect/dialect-tests.ts'
export type { MakeDialect } from './dialect/dialect-fixture.ts'
export { blobStorageConformance, type MakeBlobStorage } from './files/blob-storage-tests.ts'
export {
  fileReaderConformance,
  type FileReaderUnderTest,
  type MakeFileReader,
  type ReadableSample,
  type SampleFile,
} from './files/file-reader-tests.ts'
export { embedderConformance, type MakeEmbedder } from './models/embedder-tests.ts'
export {
  hostAgentConformance,
  type HostAgentExchange,
  type HostAgentUnderTest,
  type MakeHostAgent,
} from './models/host-agent-tests.ts'
export { modelProviderConformance, type MakeModelProvider } from './models/model-provider-tests.ts'
export { rerankerConformance, type MakeReranker, type RerankMood } from './models/reranker-tests.ts'
export {
  imageDescriberConformance,
  summarizerConformance,
  type ImageDescriberUnderTest,
  type MakeImageDescriber,
  type MakeSummarizer,
  type SampleImage,
} from './models/writer-tests.ts'
export { codeRunnerConformance, type MakeCodeRunner } from './services/code-runner-tests.ts'
export {
  imageGeneratorConformance,
  type ImageGeneratorUnderTest,
  type ImageServiceMood,
  type ImageServiceRequest,
  type MakeImageGenerator,
} from './services/image-generator-tests.ts'
export {
  pageReaderConformance,
  type MakePageReader,
  type PageReaderUnderTest,
  type SamplePage,
  type SiteMood,
} from './services/page-reader-tests.ts'
export {
  webSearchConformance,
  type MakeWebSearch,
  type SearchServiceMood,
  type WebSearchUnderTest,
} from './services/web-search-tests.ts'
export { conversationStoreConformance } from './stores/conversation-store-tests.ts'
export {
  fileStoreConformance,
  memoryStoreConformance,
  personaLookupConformance,
  projectLookupConformance,
} from './stores/lookup-tests.ts'
export { runStoreConformance } from './stores/run-store-tests.ts'
export { sharedRunsConformance, type MakeSharedRuns, type SharedRunsUnderTest } from './stores/shared-runs-tests.ts'
export type { MakeStores, StoresUnderTest } from './stores/store-fixture.ts'
export type { MakeVectorIndex } from './vector-index/index-fixture.ts'
export { vectorIndexConformance } from './vector-index/vector-index-tests.ts'
export { vectorStoreConformance, type MakeVectorStore } from './vector-index/vector-store-tests.ts'
