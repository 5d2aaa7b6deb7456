import type { StreamLine } from './lines.ts'
import type { GeneratedImage, SearchDoc } from './search-doc.ts'
import type { ChatFullResponse } from './whole-answer.ts'

/** What the stream does not tell about one tool call, found by its place. */
export interface ToolCallDetail {
  readonly turn_index: number
  readonly tab_index: number
  readonly sub_turn_index?: number | null
  readonly tool_name: string
  readonly tool_arguments: Readonly<Record<string, unknown>>
  readonly tool_result: string
  readonly search_docs?: readonly SearchDoc[] | null
  readonly generated_images?: readonly GeneratedImage[] | null
}

/** What is known beside the lines. */
export interface FoldBeside {
  /** The session, when the stream does not name it because it existed before. */
  readonly chatSessionId?: string | null
  /** The answer's message, when the stream is a replay without id line. */
  readonly messageId?: number
  /** Which of several models to fold; default 0. */
  readonly modelIndex?: number
  /** Read when the result is asked for, so calls may be added until then. */
  readonly toolCalls?: readonly ToolCallDetail[]
}

/** Lines of one answer, folded as they come. */
export interface Fold {
  add(line: StreamLine): void
  result(): ChatFullResponse
}

/** Starts a fold. */
export function createFold(beside?: FoldBeside): Fold {
  throw new Error(`not written yet ${String(beside)}`)
}

/** The whole answer of all lines of a run. */
export function fold(lines: Iterable<StreamLine>, beside?: FoldBeside): ChatFullResponse {
  const folded = createFold(beside)
  for (const line of lines) folded.add(line)
  return folded.result()
}
