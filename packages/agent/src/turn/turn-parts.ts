import type { BaseFilters, FileDescriptor, LlmOverride, SearchDoc, SendMessageRequest, Usage } from '@inlay/protocol'
import type { CallerLimit } from '@inlay/scheduling'
import type { TurnFiles } from '../contracts/action.ts'
import type { OwnedSending } from '../contracts/agent.ts'
import type { AnswerOutcome, ConversationStore, OpenedTurn, SessionRecord } from '../contracts/conversation-store.ts'
import type { FileStore, StoredFile } from '../contracts/file-store.ts'
import type { MemoryStore } from '../contracts/memory-store.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { Persona, Project } from '../contracts/persona.ts'
import type { RunStore } from '../contracts/run-store.ts'
import type { Services } from '../contracts/services.ts'
import type { ReasoningEffort } from '../model/override-precedence.ts'
import type { SlowModels } from '../model/questions.ts'
import type { PacketWriterOptions } from '../packet-writer.ts'
import type { AdmittedResearch } from '../research/admission.ts'
import type { LiveRun, Runs } from '../run/live-runs.ts'
import type { RunSharing } from '../run/sharing.ts'
import type { DecidedCall } from '../tool-calls/approval.ts'
import type { Actions, ChosenActions } from '../tool-calls/registry.ts'
import type { AnswerProgress } from '../tool-calls/run-tool-calls.ts'
import type { SettleTurn } from './admission.ts'
import type { AgentLimits, AgentOptions } from './agent-options.ts'
import type { ClientContext, ClientTurns } from './client-turn.ts'
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
  readonly person: MemoryStore['person']
  readonly runs: Runs
  /** Absent if no other process shares its runs. */
  readonly sharing: RunSharing | undefined
  readonly clientTurns: ClientTurns
  readonly keyedSends: KeyedSends
  readonly actions: Actions
  /** Of concurrent runs of a caller in this process. */
  readonly runLimit: CallerLimit
  /** Whether answers can wait for a person: their calls can be read again. */
  readonly canAsk: boolean
  /** Finds the model that actions ask. Default: the model of the answer. */
  readonly questionModel: (() => Promise<ResolvedModel>) | undefined
  readonly slowModels: SlowModels
  /** Called for each turn once its run has ended. */
  readonly onEnd: (turn: FinishedTurn) => void
}

/** The persona, project, files and filters of a turn, checked. */
export interface TurnContext {
  readonly persona: Persona
  /** Null outside of projects, and when another agent than the default one is used. */
  readonly project: Project | null
  /** File descriptors of the message, completed. */
  readonly descriptors: readonly FileDescriptor[]
  /** Filters of the request, narrowed by the agent. */
  readonly filters: BaseFilters | null
  /** Files of the project or agent. */
  readonly files: readonly StoredFile[]
  readonly attached: readonly StoredFile[]
  /** Whether any file was attached, or belongs to the project or agent. */
  readonly hasFiles: boolean
  /** Whether none of the agent's document sets can be searched. */
  readonly searchesNothing: boolean
}

/** In the prompt and numbered for citing, or by a search when the files are too long together. */
export type ContextFiles = FilesInPrompt | { readonly kind: 'searched'; readonly files: readonly StoredFile[] }

export interface FilesInPrompt {
  readonly kind: 'in-prompt'
  /** Citable under the numbers 1 to n, in this order. */
  readonly documents: readonly SearchDoc[]
  readonly texts: readonly string[]
  readonly images: readonly StoredFile[]
}

/** A message that passed every check; nothing is stored yet. */
export interface TurnPlan {
  readonly request: SendMessageRequest
  /** Null: a new session. */
  readonly session: SessionRecord | null
  readonly context: TurnContext
  readonly contextFiles: ContextFiles
  /** Requested model of each answer. */
  readonly overrides: readonly (LlmOverride | null)[]
  /** One per answer. */
  readonly models: readonly ResolvedModel[]
  readonly reasoning: ReasoningEffort | undefined
  /** Absent unless the request asks for deep research. */
  readonly research: AdmittedResearch | undefined
  readonly usable: ChosenActions
}

/** A turn that the host let pass. */
export type AskedPlan = TurnPlan & { readonly systemPrompt: string | undefined }

/** A turn with its run; everything that can fail before is resolved already. */
export interface OpenTurn extends AskedPlan, Pick<OwnedSending, 'caller' | 'headers' | 'requestId'> {
  readonly run: LiveRun
  readonly opened: OpenedTurn
  readonly files: TurnFiles
  readonly settle: SettleTurn | undefined
  /** Calls of the answer before that a person decided about. */
  readonly decided: readonly DecidedCall[] | undefined
  readonly client: ClientContext | undefined
}

/** One of the answers of a turn, which its model makes. */
export interface TurnAnswer extends Pick<PacketWriterOptions, 'emit' | 'modelIndex' | 'now' | 'startedAt'> {
  readonly answerId: number
  readonly model: ResolvedModel
  readonly progress: AnswerProgress
}

/** A turn whose answers are stored and whose run has ended. */
export interface FinishedTurn extends Pick<OpenTurn, 'caller' | 'client' | 'opened' | 'request' | 'run' | 'settle'> {
  /** Tokens of the conversation before the message; undefined when not all of it was read. */
  readonly historyTokens: number | undefined
  /** One per model. */
  readonly answers: readonly FinishedAnswer[]
}

export interface FinishedAnswer {
  readonly answerId: number
  readonly model: ResolvedModel
  readonly outcome: AnswerOutcome
  readonly usage: Usage
}
