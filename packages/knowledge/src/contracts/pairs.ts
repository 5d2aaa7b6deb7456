import type { Principal } from '@inlay/protocol'
import type { DocumentPhase, DocumentStatus } from './documents.ts'

/**
 * The caller of a search, whose access to pairs is enforced. Without a caller (the host itself) there is no
 * restriction.
 */
export type Caller = Pick<Principal, 'id' | 'email' | 'groups' | 'scopes'>

/** Access to a private pair or document set: ids or e-mail addresses of callers, and names of their groups. */
export interface Access {
  readonly isPublic: boolean
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** A connector/credential pair: a source of documents, and who may see them. */
export interface Pair extends Access {
  readonly id: number
  readonly name: string
  /** While true, its documents wait in the queue; documents indexed before stay searchable. */
  readonly isPaused: boolean
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/** A named group of pairs that a search can be restricted to. */
export interface DocumentSet extends Access {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly pairIds: readonly number[]
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/**
 * Settings of a new or changed pair. Absent fields stay unchanged; defaults of a new pair: public, not shared with
 * anybody, not paused.
 */
export type PairChange = Partial<Pick<Pair, 'name' | 'isPaused' | keyof Access>>

/** Settings of a new or changed document set. Absent fields stay unchanged; defaults of a new set: public, empty. */
export type DocumentSetChange = Partial<Pick<DocumentSet, 'name' | 'description' | 'pairIds' | keyof Access>>

export interface PairProgress extends Pair {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** Time at which a document was last accepted or became searchable, in milliseconds since 1970 UTC; null if never. */
  readonly lastAcceptedAt: number | null
  readonly lastIndexedAt: number | null
  /**
   * The latest failed documents, newest first, at most 10. If several pairs are read: those among the latest 500
   * failures.
   */
  readonly failures: readonly DocumentStatus[]
}

/** Connector/credential pairs. Pair 1 always exists, is initially public and cannot be deleted. */
export interface Pairs {
  create(pair: PairChange & { readonly name: string }): Promise<Pair>
  /** Sorted by id. With a caller: only pairs that the caller may see. */
  list(options?: { caller?: Caller }): Promise<Pair[]>
  /** @throws CONNECTOR_NOT_FOUND, also if the caller may not see the pair */
  get(id: number, options?: { caller?: Caller }): Promise<Pair>
  /** Like {@link list}, with the indexing progress of each pair. */
  progress(options?: {
    readonly caller?: Caller
    /** Only this pair, if the caller may see it. */
    readonly id?: number
    /** Whether to read failures; if false, `failures` is empty. Default true. */
    readonly failures?: boolean
  }): Promise<PairProgress[]>
  /** Changes of access take effect with the next search; no reindexing needed. @throws CONNECTOR_NOT_FOUND */
  update(id: number, change: PairChange): Promise<Pair>
  /**
   * Deletes a pair. Documents that are in no other pair are hidden at once and removed later. @throws
   * CONNECTOR_NOT_FOUND, INVALID_INPUT
   */
  remove(id: number): Promise<void>
}

/** Document sets. Names are unique. */
export interface DocumentSets {
  /** @throws DUPLICATE_RESOURCE, CONNECTOR_NOT_FOUND */
  create(set: DocumentSetChange & { readonly name: string }): Promise<DocumentSet>
  /** Sorted by name. With a caller: only sets that the caller may see. */
  list(options?: { caller?: Caller }): Promise<DocumentSet[]>
  /** @throws DOCUMENT_SET_NOT_FOUND, DUPLICATE_RESOURCE, CONNECTOR_NOT_FOUND */
  update(id: number, change: DocumentSetChange): Promise<DocumentSet>
  /** Deletes a set but not its documents. @throws DOCUMENT_SET_NOT_FOUND */
  remove(id: number): Promise<void>
}
