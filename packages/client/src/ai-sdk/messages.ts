import type { GeneratedImage, SearchDoc, Usage } from '@inlay/protocol'
import type { UIMessage, UIMessageChunk } from 'ai'

/** `metadata` of messages: ids of the service. */
export interface InlayMetadata {
  readonly sessionId?: string
  /** Id of the stored message, for `sessions.rate` and branches. */
  readonly messageId?: number
  /** Id of the stored question of an answer. */
  readonly questionId?: number
  /** Reason why the answer is incomplete. */
  readonly error?: { readonly message: string; readonly code: string | null; readonly isRetryable: boolean }
  /** Token usage of the answer, if requested with `include_usage`. */
  readonly usage?: Usage
}

/** Data parts of an answer: `data-plan` and `data-research` of deep research, updated while it runs. */
export type InlayData = {
  plan: { readonly text: string; readonly isDone: boolean }
  research: {
    readonly task: string
    readonly report: string
    readonly progress: 'running' | 'done' | 'failed' | 'stopped'
    /** Documents cited in the report. */
    readonly documents: readonly SearchDoc[]
  }
}

type Documents = { readonly documents: readonly SearchDoc[] }
type Program = { readonly stdout: string; readonly stderr: string; readonly fileIds: readonly string[] }

/** Built-in tools, as parts `tool-internal_search` etc. Actions of the host are `dynamic-tool` parts. */
export type InlayTools = {
  internal_search: { input: { queries: string[] }; output: Documents }
  web_search: { input: { queries: string[] }; output: Documents }
  open_url: { input: { urls: string[] }; output: Documents }
  generate_image: { input: Record<string, unknown>; output: { images: readonly GeneratedImage[] } }
  run_python: { input: { code: string }; output: Program }
  read_file: { input: Record<string, unknown>; output: unknown }
  add_memory: { input: Record<string, unknown>; output: unknown }
}

/**
 * A message of `useChat`. Sources have `providerMetadata.inlay`: the `citation` number, which the text contains as
 * `[[1]](link)`, the `documentId`, and an `excerpt`. Files have the `fileId` and the `name`.
 */
export type InlayUIMessage = UIMessage<InlayMetadata, InlayData, InlayTools>

/** A chunk of the stream that `useChat` reads. */
export type InlayChunk = UIMessageChunk<InlayMetadata, InlayData>
