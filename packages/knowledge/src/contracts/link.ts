import type { BaseFilters } from '@inlay/protocol'
import type { Caller } from './pairs.ts'

/** Asks for the document that an address belongs to. */
export interface LinkRequest {
  readonly link: string
  readonly filters?: BaseFilters | null
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
  readonly signal?: AbortSignal
}
