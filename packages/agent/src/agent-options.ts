import type { BaseFilters, LlmOverride, Principal } from '@inlay/protocol'
import type { ConversationStore } from './contracts/conversation-store.ts'
import type { FileStore } from './contracts/file-store.ts'
import type { MemoryStore } from './contracts/memory-store.ts'
import type { ModelProvider } from './contracts/model.ts'
import type { PersonaLookup, ProjectLookup } from './contracts/persona.ts'
import type { RunStore } from './contracts/run-store.ts'
import type { FileSearch, NamedDocumentSet, PassageSearch } from './contracts/search.ts'
import type { Services } from './contracts/services.ts'
import type { SharedRuns } from './contracts/shared-runs.ts'
import type { ResearchOptions } from './research/limits.ts'
import type { ActionParts, SearchParts } from './tool-calls/built-in-actions.ts'
import type { HostAction } from './tool-calls/host-actions.ts'
import type { TurnHooks } from './turn/hooks.ts'

/** Bounds of a run and of what is kept in memory; each has a default. */
export interface AgentLimits {
  /** Most model calls of one answer; the last one gets no actions. Default 6. */
  readonly cycles?: number
  /** Timeout of one action, in milliseconds. Default: ten minutes. */
  readonly actionMs?: number
  /** Most runs of one caller at the same time, in this process; one more is RATE_LIMITED. Default 1000. */
  readonly callerRuns?: number
  /** How long a finished run stays resumable, in milliseconds. Default ten minutes. */
  readonly resumableMs?: number
  /** Most bytes of lines kept of one run. Default 32 MiB, enough for 60,000 tokens. */
  readonly runBytes?: number
  /** Most bytes of lines kept of all finished runs together; the oldest go first. Default 32 MiB. */
  readonly finishedBytes?: number
  /** Tries of a model call that fails before it said anything. Default 3. */
  readonly modelTries?: number
  /**
   * After which silence of its process a running answer counts as abandoned, in milliseconds. Default 7000 with
   * `sharedRuns`, else 20 000. Clocks of machines have to agree better than that.
   */
  readonly leaseMs?: number
  /** How long a message waits for context files that are still being read or indexed, in milliseconds. Default 10 000. */
  readonly contextWaitMs?: number
}

/** Stores for conversations and other data besides documents. Default: in memory, and empty. */
export interface AgentStores {
  /** Sessions and messages. Default: in memory, together with `runStore`. */
  readonly conversationStore?: ConversationStore
  /** Sends under an `Idempotency-Key`. Default: they are UNSUPPORTED beside a conversation store of the host's. */
  readonly runStore?: RunStore
  /** Lets other processes resume and stop runs. Default: they cannot. */
  readonly sharedRuns?: SharedRuns
  /** Files of messages, projects and personas. Default: none, and none can be kept. */
  readonly fileStore?: FileStore
  /** Default: the default persona alone. */
  readonly personas?: PersonaLookup
  /** Default: there are none. */
  readonly projects?: ProjectLookup
  /** Makes `add_memory`, and memories in prompts. Default: nothing is remembered. */
  readonly memoryStore?: MemoryStore
}

/** How an agent is made. */
export interface AgentOptions extends AgentStores, ActionParts, SearchParts, Partial<Services> {
  readonly models: ModelProvider
  /** Names the model that actions and searches ask, e.g. a quicker one. Default: the one that answers. */
  readonly questionModel?: LlmOverride
  /** Actions besides the built-in ones; their ids and names must be free. */
  readonly actions?: readonly HostAction[]
  /** Ids of actions that are switched off; asked for with each message. Default: none. */
  readonly actionsOff?: () => Promise<ReadonlySet<number>>
  /** Callbacks of the host before and after turns. */
  readonly hooks?: TurnHooks
  /** Finds passages; without it there is no search action. */
  readonly search?: PassageSearch
  /** Searches files that are too long for a prompt. Default: those that fit are taken. */
  readonly fileSearch?: FileSearch
  /** Whether there is anything to search; the search action exists only then. Default: always. */
  readonly hasDocuments?: () => Promise<boolean>
  /** Refuses filters a caller may not use (unknown or foreign document sets) before a run starts. */
  readonly checkFilters?: (filters: BaseFilters, caller: Principal) => Promise<void>
  /** Document sets that a caller may search. Default: none. */
  readonly documentSets?: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
  /** Waits between tries of a model; rejects when aborted. Default: a timer. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string
  /** How deep research is bounded. */
  readonly research?: ResearchOptions
  readonly limits?: AgentLimits
}
