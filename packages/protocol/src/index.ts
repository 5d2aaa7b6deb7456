export { errorTable, InlayError, isInlayError, validationFailed } from './errors.ts'
export type { ErrorCode, ErrorMeaning, InlayErrorOptions, ValidationIssue } from './errors.ts'
export { hasScope, scopes } from './principal.ts'
export type { Principal, Scope } from './principal.ts'
