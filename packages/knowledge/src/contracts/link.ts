import type { BaseFilters } from '@inlay/protocol'
import type { Caller } from './pairs.ts'

export interface LinkRequest {
  readonly link: string
  readonly filters?: BaseFilters | null
  /** Absent for the host itself, which has no restriction. */
  readonly caller?: Caller
  readonly signal?: AbortSignal
}
