import type { ErrorLine } from '../framing/lines.ts'
import type { CustomToolError, PacketOf, Placement, Usage } from '../packets/packet-types.ts'
import type { GeneratedImage, SearchDoc } from '../packets/search-doc.ts'
import type { CitationInfo } from '../chat/whole-answer.ts'

/** Progress of a tool call or research agent; `writing` while the model streams the arguments. */
export type BlockProgress = 'writing' | 'running' | 'done' | 'failed' | 'stopped'

/** A failure reported by an `error` packet or by the stored call. */
export interface BlockFailure {
  readonly exception: string
  readonly errorCode: string | null
  readonly isRetryable: boolean
}

/** Reasoning of one step. */
export interface ReasoningBlock {
  readonly kind: 'reasoning'
  readonly placement: Placement
  readonly text: string
  readonly isDone: boolean
}

/** Text of one step: the answer if it is the last step, otherwise intermediate text. */
export interface TextBlock {
  readonly kind: 'text'
  readonly placement: Placement
  readonly text: string
  readonly isDone: boolean
  readonly preAnswerSeconds: number | null
}

/** One tool call, as reported by its packets. */
export interface ToolBlock {
  readonly kind: 'tool'
  readonly placement: Placement
  readonly progress: BlockProgress
  /** Name of the tool as the model sees it. */
  readonly toolName: string
  readonly toolId: number | null
  /** Arguments by name, e.g. `queries`, `urls`, `code`. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Filters that the search used. */
  readonly filter: Omit<PacketOf<'search_tool_filter_delta'>, 'type'> | null
  /** Documents selected for display; null if none yet. */
  readonly documents: readonly SearchDoc[] | null
  readonly images: readonly GeneratedImage[] | null
  /** Output of the tool so far: standard output, or the thoughts and answer of a coding agent. */
  readonly output: string
  readonly errorOutput: string
  /** Ids of files the tool created. */
  readonly fileIds: readonly string[]
  /** JSON returned by a custom action, the part of a file that was read, or the saved memory. */
  readonly data: unknown
  /** Set when a custom action rejected its credentials. */
  readonly credentialError: CustomToolError | null
  readonly failure: BlockFailure | null
  /** Set when the call has to be approved by a person. */
  readonly approvalRequest: PacketOf<'tool_approval_request'> | null
  /** What the person decided about a call that was requested in the answer before. */
  readonly approvalResponse: PacketOf<'tool_approval_response'> | null
}

/** The plan of a deep research run. */
export interface PlanBlock {
  readonly kind: 'plan'
  readonly placement: Placement
  readonly text: string
  readonly isDone: boolean
}

/** One research agent. Its steps are blocks with the same turn and tab and a `sub_turn_index`. */
export interface ResearchBlock {
  readonly kind: 'research'
  readonly placement: Placement
  readonly progress: BlockProgress
  readonly task: string
  readonly report: string
  readonly citedDocuments: readonly SearchDoc[] | null
  readonly failure: BlockFailure | null
}

/** One step of an answer as shown to users. */
export type Block = ReasoningBlock | TextBlock | ToolBlock | PlanBlock | ResearchBlock

/** Phase of a run: nothing received yet, running, completed, cancelled by the user, failed. */
export type RunPhase = 'waiting' | 'running' | 'done' | 'stopped' | 'failed'

/** State of an answer after the lines received so far. The object is mutated by each line; `revision` shows changes. */
export interface FoldState {
  /** Increases with every line that changes the state. */
  readonly revision: number
  readonly phase: RunPhase
  readonly chatSessionId: string | null
  readonly isIncognito: boolean
  readonly userMessageId: number | null
  readonly messageId: number | null
  /** Models answering in parallel, by `model_index`; [] for a single model. */
  readonly models: readonly { readonly message_id: number; readonly model_name: string }[]
  /** All steps in the order they started. */
  readonly blocks: readonly Block[]
  /** All documents found so far, as listed by the latest text block. */
  readonly documents: readonly SearchDoc[]
  readonly citations: readonly CitationInfo[]
  /** Failures that belong to no tool call or research agent. */
  readonly failures: readonly BlockFailure[]
  /** Error line of a failed run. */
  readonly errorLine: ErrorLine | null
  readonly usage: Usage | null
}

type Changing<Value> = Value extends Block | FoldState ? { -readonly [Name in keyof Value]: Value[Name] } : never

export type ChangingBlock = Changing<Block>

export type ChangingBlockOf<Kind extends Block['kind']> = Changing<Extract<Block, { kind: Kind }>>

export interface ChangingState extends Omit<Changing<FoldState>, 'blocks' | 'citations' | 'failures'> {
  blocks: ChangingBlock[]
  citations: CitationInfo[]
  failures: BlockFailure[]
}
