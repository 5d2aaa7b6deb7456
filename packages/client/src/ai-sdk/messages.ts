import type { GeneratedImage, SearchDoc, Usage } from '@inlay/protocol'
import type { UIMessage, UIMessageChunk } from 'ai'

/** `metadata` of the messages: what connects them with the service. */
export interface InlayMetadata {
  /** The session that holds the message. */
  readonly sessionId?: string
  /** Id of the stored message, for `sessions.rate` and branches. */
  readonly messageId?: number
  /** Id of the stored question of an answer. */
  readonly questionId?: number
  /** Why the answer is not whole. */
  readonly error?: { readonly message: string; readonly code: string | null; readonly isRetryable: boolean }
  /** Token usage of the answer, if requested with `include_usage`. */
  readonly usage?: Usage
}

/** Data parts of an answer: `data-plan` and `data-research` of a deep research, updated while it goes on. */
export type InlayData = {
  plan: { readonly text: string; readonly isDone: boolean }
  research: {
    readonly task: string
    readonly report: string
    readonly progress: 'running' | 'done' | 'failed' | 'stopped'
    /** Documents that the report cites. */
    readonly documents: readonly SearchDoc[]
  }
}

type Documents = { readonly documents: readonly SearchDoc[] }
type Program = { readonly stdout: string; readonly stderr: string; readonly fileIds: readonly string[] }

/** Built-in tools, as `tool-internal_search` and so on. The host's own actions come as `dynamic-tool` parts. */
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
 * A message of `useChat`. Sources carry `providerMetadata.inlay`: the `citation` number that stands in the text as
 * `[[1]](link)`, the `documentId`, and an `excerpt`. Files carry the `fileId` and the `name`.
 */
export type InlayUIMessage = UIMessage<InlayMetadata, InlayData, InlayTools>

/** A part of the stream that `useChat` reads. */
export type InlayChunk = UIMessageChunk<InlayMetadata, InlayData>
