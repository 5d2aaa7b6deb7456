export { dialectConformance } from './dialect-conformance.ts'
export type { MakeDialect } from './dialect-fixture.ts'
export type { ConformanceTest } from '@inlay/protocol/conformance'
