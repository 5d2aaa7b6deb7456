import type { BaseFilters, Principal } from '@inlay/protocol'
import type { ToolApprovalEvent, ToolApprovalPolicy } from '../contracts/action.ts'
import type { Instructions } from '../contracts/coming-turn.ts'
import type { ConversationStore } from '../contracts/conversation-store.ts'
import type { FileStore } from '../contracts/file-store.ts'
import type { MemoryStore } from '../contracts/memory-store.ts'
import type { ModelProvider } from '../contracts/model.ts'
import type { PersonaLookup, ProjectLookup } from '../contracts/persona.ts'
import type { RunStore } from '../contracts/run-store.ts'
import type { FileSearch, NamedDocumentSet } from '../contracts/search.ts'
import type { Services } from '../contracts/services.ts'
import type { SharedRuns } from '../contracts/shared-runs.ts'
import type { SmallModels } from '../contracts/small-models.ts'
import type { ResearchOptions } from '../research/limits.ts'
import type { ActionParts, SearchParts } from '../tool-calls/built-in-actions.ts'
import type { HostAction } from '../tool-calls/host-actions.ts'
import type { DocumentReader } from './client-turn.ts'
import type { AdmitTurn } from './admission.ts'
import type { TurnHooks } from './hooks.ts'

/** Bounds of runs and of the memory they use; each has a default. */
export interface AgentLimits {
  /** Maximum model calls per answer; the last one gets no actions. Default 6. */
  readonly maxSteps?: number
  /** Timeout of one action, in milliseconds. Default: ten minutes. */
  readonly actionTimeoutMs?: number
  /** Maximum concurrent runs per caller in this process; one more is RATE_LIMITED. Default 1000. */
  readonly maxCallerRuns?: number
  /** How long a finished run can be resumed, in milliseconds. Default ten minutes. */
  readonly resumableMs?: number
  /** Maximum bytes of lines kept per run. Default 32 MiB, enough for 60,000 tokens. */
  readonly maxRunBytes?: number
  /** Maximum bytes of lines kept of all finished runs; the oldest are dropped first. Default 32 MiB. */
  readonly maxFinishedBytes?: number
  /** Maximum attempts of a model call that fails before its first output. Default 3. */
  readonly maxModelAttempts?: number
  /**
   * Silence after which a running answer counts as abandoned by its process, in milliseconds. Default 7000. The clocks of
   * all machines have to differ by less.
   */
  readonly leaseMs?: number
  /** How long a person may take to approve a call, in milliseconds. Default: a day. */
  readonly approvalMs?: number
  /** Maximum wait for context files that are still being read or indexed, in milliseconds. Default 10 000. */
  readonly maxContextWaitMs?: number
}

/** Stores for everything but documents. Default: in memory and empty. */
export interface AgentStores {
  /** Sessions and messages, of one process unless there are `sharedRuns`. Default: in memory, with `runStore`. */
  readonly conversationStore?: ConversationStore
  /** Sends with an `Idempotency-Key`. Default: they are UNSUPPORTED when the host has its own conversation store. */
  readonly runStore?: RunStore
  /** Lets other processes resume and stop runs. Default: they cannot. */
  readonly sharedRuns?: SharedRuns
  /** Files of messages, projects and personas. Default: none, and none can be stored. */
  readonly fileStore?: FileStore
  /** Reads documents that clients send along with a message. Default: text alone is read. */
  readonly readDocument?: DocumentReader | undefined
  /** Default: only the default persona. */
  readonly personas?: PersonaLookup
  /** Default: none. */
  readonly projects?: ProjectLookup
  /** Enables `add_memory` and memories in prompts. Default: nothing is remembered. */
  readonly memoryStore?: MemoryStore
}

/** Options of {@link createAgent}. */
export interface AgentOptions extends AgentStores, ActionParts, SearchParts, Partial<Services> {
  readonly models: ModelProvider
  /**
   * Loads the help for models that call no tools or do not cite, `smallModels` of `@inlay/small-models`. Default: none, and
   * such a model answers with an error that says what to install.
   */
  readonly smallModels?: () => Promise<SmallModels>
  /** Model that actions and searches ask, for example a faster one. Default: the model that answers. */
  readonly questionModel?: ModelProvider | undefined
  /** Actions besides the built-in ones; their ids and names must be unique. */
  readonly actions?: readonly HostAction[]
  /** Ids of disabled actions; read with each message. Default: none. */
  readonly actionsOff?: () => Promise<ReadonlySet<number>>
  /**
   * Which calls a person has to approve before they run, besides those of actions that ask themselves. Default: `never`.
   * Several models at once, researches and agents of the host cannot ask: there, such a call fails.
   */
  readonly toolApproval?: ToolApprovalPolicy
  /** Called when a call needs approval, and with what became of it. Must not throw. */
  readonly onApproval?: (event: ToolApprovalEvent) => void
  /** Callbacks before and after turns. */
  readonly hooks?: TurnHooks
  /** Called before each turn, to enforce token and session limits. Default: every turn starts. */
  readonly admit?: AdmitTurn
  /** Searches files that are too long for a prompt. Default: only files that fit are used. */
  readonly fileSearch?: FileSearch
  /** Rejects filters that a caller may not use (unknown or foreign document sets) before a run starts. */
  readonly checkFilters?: (filters: BaseFilters, caller: Principal) => Promise<void>
  /** Document sets that a caller may search. Default: none. */
  readonly documentSets?: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
  /** Waits between attempts of a model call; rejects when aborted. Default: a timer. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Replaces the built-in instructions to the model: a text, or a function of the message and its caller. */
  readonly systemPrompt?: Instructions
  /** Limits of deep research. */
  readonly research?: ResearchOptions
  readonly limits?: AgentLimits
}
