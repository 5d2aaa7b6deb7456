import type { ErrorLine } from '../framing/lines.ts'
import type { CustomToolError, PacketOf, Placement, Usage } from '../packets/packet-types.ts'
import type { GeneratedImage, SearchDoc } from '../packets/search-doc.ts'
import type { CitationInfo } from '../chat/whole-answer.ts'

/** How far a tool call or research agent is; `writing` while the model still writes its arguments. */
export type BlockProgress = 'writing' | 'running' | 'done' | 'failed' | 'stopped'

/** A failure told by an `error` packet, or by the stored call. */
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

/** Text of one step: the answer if it is the last, otherwise what was said on the way to it. */
export interface TextBlock {
  readonly kind: 'text'
  readonly placement: Placement
  readonly text: string
  readonly isDone: boolean
  readonly preAnswerSeconds: number | null
}

/** One tool call, as far as packets tell. */
export interface ToolBlock {
  readonly kind: 'tool'
  readonly placement: Placement
  readonly progress: BlockProgress
  /** The name the model sees. */
  readonly toolName: string
  readonly toolId: number | null
  /** Arguments by name, e.g. `queries`, `urls`, `code`. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** What a search was narrowed to. */
  readonly filter: Omit<PacketOf<'search_tool_filter_delta'>, 'type'> | null
  /** Documents chosen for display; null before or without any. */
  readonly documents: readonly SearchDoc[] | null
  readonly images: readonly GeneratedImage[] | null
  /** Text the tool put out so far: standard output, or what a coding agent thinks and answers. */
  readonly output: string
  readonly errorOutput: string
  /** Files the tool made. */
  readonly fileIds: readonly string[]
  /** JSON a custom action answered, the part of a file that was read, or the memory that was kept. */
  readonly data: unknown
  /** Set when a custom action refused its credentials. */
  readonly credentialError: CustomToolError | null
  readonly failure: BlockFailure | null
}

/** The plan of a deep research. */
export interface PlanBlock {
  readonly kind: 'plan'
  readonly placement: Placement
  readonly text: string
  readonly isDone: boolean
}

/** One research agent; its steps are blocks of the same turn and tab with a `sub_turn_index`. */
export interface ResearchBlock {
  readonly kind: 'research'
  readonly placement: Placement
  readonly progress: BlockProgress
  readonly task: string
  readonly report: string
  readonly citedDocuments: readonly SearchDoc[] | null
  readonly failure: BlockFailure | null
}

/** One step of an answer as a person sees it. */
export type Block = ReasoningBlock | TextBlock | ToolBlock | PlanBlock | ResearchBlock

/** How far a run is: nothing came yet, running, ended by itself, stopped by a person, failed. */
export type RunPhase = 'waiting' | 'running' | 'done' | 'stopped' | 'failed'

/** An answer as far as its lines were folded. The same object changes with every line; `revision` tells when. */
export interface FoldState {
  /** Rises with every line that changed something. */
  readonly revision: number
  readonly phase: RunPhase
  readonly chatSessionId: string | null
  readonly isIncognito: boolean
  readonly userMessageId: number | null
  readonly messageId: number | null
  /** Models that answer side by side, by `model_index`; [] when only one does. */
  readonly models: readonly { readonly message_id: number; readonly model_name: string }[]
  /** All steps in the order they began. */
  readonly blocks: readonly Block[]
  /** Every document gathered so far, as the newest text tells. */
  readonly documents: readonly SearchDoc[]
  readonly citations: readonly CitationInfo[]
  /** Failures told at no tool call and no research agent. */
  readonly failures: readonly BlockFailure[]
  /** The error line of a failed run. */
  readonly errorLine: ErrorLine | null
  readonly usage: Usage | null
}

type Changing<Value> = Value extends Block | FoldState ? { -readonly [Name in keyof Value]: Value[Name] } : never

/** A block that the fold may change. */
export type ChangingBlock = Changing<Block>

/** A block of one kind that the fold may change. */
export type ChangingBlockOf<Kind extends Block['kind']> = Changing<Extract<Block, { kind: Kind }>>

/** The state as the fold changes it. */
export interface ChangingState extends Omit<Changing<FoldState>, 'blocks' | 'citations' | 'failures'> {
  blocks: ChangingBlock[]
  citations: CitationInfo[]
  failures: BlockFailure[]
}
