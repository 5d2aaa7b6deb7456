export { blobStorageConformance, type MakeBlobStorage } from './blob-storage-conformance.ts'
export {
  fileReaderConformance,
  type FileReaderUnderTest,
  type MakeFileReader,
  type ReadableSample,
  type SampleFile,
} from './file-reader-conformance.ts'
export type { ConformanceTest } from '@inlay/protocol/conformance'
