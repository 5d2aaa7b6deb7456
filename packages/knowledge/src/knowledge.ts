import type { Kysely } from 'kysely'
import { InlayError } from '@inlay/protocol'
import type { Embedder, Knowledge, VectorIndex } from './contracts.ts'

/** Labelled moments of a document's way, in order; a test can stop or kill at each. */
export type IngestionStep = 'accept' | 'claim' | 'chunk' | 'embed' | 'append' | 'settle' | 'prune'

/** How documents are taken from the queue. Times are milliseconds. */
export interface WorkerOptions {
  /** Names this process among others that share the database. Default: a random name. */
  readonly owner?: string
  /** Tells owners known to be gone, whose documents need not wait for their lease to run out. Default: none is known. */
  readonly isGone?: (owner: string) => boolean
  /** How long a claim holds unless renewed. Default 6000. */
  readonly leaseMs?: number
  /** How long a claim waits so that one commit carries many documents. Default 100. */
  readonly lingerMs?: number
  /** How often an idle worker looks for documents that other processes accepted. Default 1000. */
  readonly pollMs?: number
  /** Most documents in one claim. Default 256. */
  readonly claimDocuments?: number
  /** Tries of a document that fails by itself. Default 5. */
  readonly attemptLimit?: number
  /** Tries while a service it needs is down. Default 40. */
  readonly outageAttemptLimit?: number
  /** Longest wait for one call of the embedder. Default 120 000. */
  readonly embedTimeoutMs?: number
}

/** What a knowledge is made of. */
export interface KnowledgeOptions {
  /** Holds the tables that `migrateKnowledge` makes. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
  readonly db: Kysely<any>
  readonly index: VectorIndex
  /** Without one, search is by words alone. */
  readonly embedder?: Embedder
  /** Milliseconds since 1970 UTC. Default: the system's clock. */
  readonly now?: () => number
  /** A number in [0, 1), for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number
  readonly worker?: WorkerOptions
  /** Most documents waiting; above it `accept` throws RATE_LIMITED. Default 200 000. */
  readonly queueLimit?: number
  /** Receives what was not expected, whole; the knowledge goes on. */
  readonly onError?: (error: unknown) => void
  /** Called at each labelled step; what it returns is awaited. For tests. */
  readonly at?: (step: IngestionStep) => void | Promise<void>
}

/** Makes the part that takes documents and finds passages. Call `migrateKnowledge` on the database first. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  void options
  throw new InlayError('NOT_IMPLEMENTED')
}
