import type { Principal } from '@inlay/protocol'
import type { DocumentPhase, DocumentStatus } from './documents.ts'

/**
 * The searching caller, whose access to pairs is enforced. Without a caller there is no restriction (the host itself).
 */
export type Caller = Pick<Principal, 'id' | 'email' | 'groups' | 'scopes'>

/** Access to a private pair or document set: ids or e-mail addresses of callers, and names of their groups. */
export interface Access {
  readonly isPublic: boolean
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** A connector/credential pair: where documents come from, and who may see them. */
export interface Pair extends Access {
  readonly id: number
  readonly name: string
  /** Its documents wait in the queue while true; what was indexed before stays searchable. */
  readonly isPaused: boolean
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/** A named group of pairs that a search can be narrowed to. */
export interface DocumentSet extends Access {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly pairIds: readonly number[]
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/**
 * Settings of a new or changed pair. Absent fields stay unchanged; defaults of a new pair: public, nobody named,
 * running.
 */
export type PairChange = Partial<Pick<Pair, 'name' | 'isPaused' | keyof Access>>

/** Settings of a new or changed document set. Absent fields stay unchanged; defaults of a new set: public, empty. */
export type DocumentSetChange = Partial<Pick<DocumentSet, 'name' | 'description' | 'pairIds' | keyof Access>>

/** How a pair fares. */
export interface PairProgress extends Pair {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** When a document last came in or became searchable, in milliseconds since 1970 UTC; null when none ever did. */
  readonly lastAcceptedAt: number | null
  readonly lastIndexedAt: number | null
  /**
   * The latest documents that were given up, newest first; at most 10. Where several pairs are read, of the 500 given up
   * last.
   */
  readonly failures: readonly DocumentStatus[]
}

/** Which pairs are read, and how much of them. */
export interface ProgressOptions {
  readonly caller?: Caller
  /** Only this one, if the caller may see it. */
  readonly id?: number
  /** Whether failures are read; without, none are told. Default: they are. */
  readonly failures?: boolean
}

/** Connector/credential pairs. Pair 1 always exists, is public at first and cannot be removed. */
export interface Pairs {
  create(pair: PairChange & { readonly name: string }): Promise<Pair>
  /** By id. With a caller: only those the caller may see. */
  list(options?: { caller?: Caller }): Promise<Pair[]>
  /** CONNECTOR_NOT_FOUND, also when the caller may not see it. */
  get(id: number, options?: { caller?: Caller }): Promise<Pair>
  /** As {@link list}, with how each of them fares. */
  progress(options?: ProgressOptions): Promise<PairProgress[]>
  /** CONNECTOR_NOT_FOUND. Access binds at the next search; nothing is indexed anew. */
  update(id: number, change: PairChange): Promise<Pair>
  /** Hides the documents that are in no other pair at once, and removes them later. CONNECTOR_NOT_FOUND, INVALID_INPUT. */
  remove(id: number): Promise<void>
}

/** Document sets. Names are unique. */
export interface DocumentSets {
  /** DUPLICATE_RESOURCE, CONNECTOR_NOT_FOUND. */
  create(set: DocumentSetChange & { readonly name: string }): Promise<DocumentSet>
  /** By name. With a caller: only those the caller may see. */
  list(options?: { caller?: Caller }): Promise<DocumentSet[]>
  /** DOCUMENT_SET_NOT_FOUND, DUPLICATE_RESOURCE, CONNECTOR_NOT_FOUND. */
  update(id: number, change: DocumentSetChange): Promise<DocumentSet>
  /** The documents stay. DOCUMENT_SET_NOT_FOUND. */
  remove(id: number): Promise<void>
}
