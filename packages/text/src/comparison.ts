/** Compares sentences with texts. Apart from the index: it is loaded only where something is compared. */
export { createCoverage } from './coverage.ts'
export type { Coverage, Coverages } from './coverage.ts'
export { createSupport } from './support.ts'
export type { SourceText, Support, SupportOptions } from './support.ts'
