import type { CallerLimit } from '@inlay/scheduling'
import type { AgentLimits, AgentOptions } from '../agent-options.ts'
import type { ConversationStore } from '../contracts/conversation-store.ts'
import type { FileStore } from '../contracts/file-store.ts'
import type { MemoryStore } from '../contracts/memory-store.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { RunStore } from '../contracts/run-store.ts'
import type { Services } from '../contracts/services.ts'
import type { SlowModels } from '../model/questions.ts'
import type { Runs } from '../run/live-runs.ts'
import type { RunSharing } from '../run/sharing.ts'
import type { Actions } from '../tool-calls/registry.ts'
import type { ClientTurns } from './client-turn.ts'
import type { AfterTurn } from './ending.ts'
import type { KeyedSends } from './idempotency.ts'

type Optional =
  | 'admit'
  | 'fileSearch'
  | 'hooks'
  | 'models'
  | 'readExcerpt'
  | 'search'
  | 'searchHelp'
  | 'smallModels'
  | 'systemPrompt'
type Defaulted =
  | 'checkFilters'
  | 'documentSets'
  | 'onApproval'
  | 'personas'
  | 'projects'
  | 'research'
  | 'toolApproval'
  | 'wait'
type Limit = 'actionTimeoutMs' | 'approvalMs' | 'maxContextWaitMs' | 'maxModelAttempts' | 'maxSteps'

/** What all turns of an agent share: its options, with defaults for those that are left out, and what it keeps. */
export interface TurnParts
  extends
    Services,
    Pick<AgentOptions, Optional>,
    Required<Pick<AgentOptions, Defaulted>>,
    Required<Pick<AgentLimits, Limit>> {
  readonly conversations: ConversationStore
  readonly runStore: RunStore
  readonly files: FileStore
  /** Facts about a caller, for the model. */
  readonly person: MemoryStore['person']
  readonly runs: Runs
  /** Absent if no other process shares its runs. */
  readonly sharing: RunSharing | undefined
  readonly clientTurns: ClientTurns
  readonly keyedSends: KeyedSends
  readonly actions: Actions
  /** Limit of one caller's concurrent runs in this process. */
  readonly runLimit: CallerLimit
  /** Whether answers can wait for a person: their calls can be read again. */
  readonly canAsk: boolean
  /** Finds the model that actions ask. Default: the model of the answer. */
  readonly questionModel: (() => Promise<ResolvedModel>) | undefined
  readonly slowModels: SlowModels
  /** Called for each turn once its run has ended. */
  readonly onEnd: AfterTurn['onEnd']
}
