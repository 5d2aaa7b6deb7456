import type { Kysely } from 'kysely'
import { InlayError } from '@inlay/protocol'
import type { BaseFilters, Principal } from '@inlay/protocol'
import type { Action, Agent, ModelProvider, PassageSearch } from './contracts.ts'

/** Bounds of a run and of what is kept in memory; each has a default. */
export interface AgentLimits {
  /** Most model calls of one answer; the last one gets no actions. Default 6. */
  readonly cycles?: number
  /** What one action may take, in milliseconds. Default ten minutes. */
  readonly actionMs?: number
  /** How long a finished run stays resumable, in milliseconds. Default ten minutes. */
  readonly resumableMs?: number
  /** Most bytes of lines kept of one run. Default 16 MiB. */
  readonly runBytes?: number
  /** Most bytes of lines kept of all finished runs together. Default 128 MiB. */
  readonly finishedBytes?: number
  /** Tries of a model call that fails before it said anything. Default 3. */
  readonly modelTries?: number
}

/** What an agent is made of. */
export interface AgentOptions {
  /** Holds the tables that `migrateAgent` makes. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
  readonly db: Kysely<any>
  readonly models: ModelProvider
  /** Actions besides the built-in ones; their ids and names must be free. */
  readonly actions?: readonly Action[]
  /** Finds passages; without it there is no search action. */
  readonly search?: PassageSearch
  /** Whether there is anything to search; the search action exists only then. Default: always. */
  readonly hasDocuments?: () => Promise<boolean>
  /** Refuses filters a caller may not use (unknown or foreign document sets) before a run starts. */
  readonly checkFilters?: (filters: BaseFilters, caller: Principal) => Promise<void>
  /** Milliseconds since 1970 UTC. Default: the system's clock. */
  readonly now?: () => number
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string
  /** Receives what was not expected, whole. */
  readonly onError?: (error: unknown) => void
  readonly limits?: AgentLimits
}

/** Makes the part that holds conversations and answers them. Call `migrateAgent` on the database first. */
export function createAgent(options: AgentOptions): Agent {
  void options
  throw new InlayError('NOT_IMPLEMENTED')
}
