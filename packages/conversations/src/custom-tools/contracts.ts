import type { Principal, SkippedOperation, ToolHeader, ToolMethods } from '@inlay/protocol'

/** A request to an untrusted URL. */
export interface AddressRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** Maximum bytes of the response after decompression. */
  readonly maxBytes?: number
  readonly timeoutMs?: number
}

/** A response with its whole body. */
export interface AddressAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/**
 * Fetches a URL chosen by an administrator, a document or a model, and restricts where it may lead (see `egress` of the
 * drivers). Any status is a response. Credential headers are not sent to another origin after a redirect. Rejects with
 * an `InlayError` whose message gives the reason without any URL.
 */
export type FetchAddress = (url: string, request?: AddressRequest) => Promise<AddressAnswer>

/** A tool described by an OpenAPI document: the model can call each of its operations. */
export interface StoredTool {
  /** From 1,001 on; never reused. */
  readonly id: number
  readonly name: string
  /** "" when it has none. */
  readonly description: string
  /** The OpenAPI document: as it was given, or version 3.1 with the operations that are called, without references. */
  readonly definition: Readonly<Record<string, unknown>>
  /** Often secrets: only administrators see them, and they are never written to a log or an error. */
  readonly customHeaders: readonly ToolHeader[]
  /** Whether requests carry the caller's own Authorization, if the host passes it on. */
  readonly passesAuth: boolean
  /** Whether the default agent has it. Other agents have it if their `tool_ids` include it. */
  readonly isForAll: boolean
  /** Id of the creator. */
  readonly ownerId: string
  readonly isEnabled: boolean
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number
  /** Operations that a document given just now has beside those taken. Absent if there are none. */
  readonly skipped?: readonly SkippedOperation[]
}

export interface StoredToolFields {
  readonly name: string
  readonly description: string
  /** The OpenAPI document, its text in JSON or YAML, or its http or https address. */
  readonly definition: Readonly<Record<string, unknown>> | string
  /** Names, `GET /path`, `/path/*` or `tag:name` of the operations to take. Default: the first 100 that can be called. */
  readonly operations?: readonly string[] | undefined
  /** Address of the service instead of the servers of the document, but not of those of single paths and operations. */
  readonly serverUrl?: string | undefined
  readonly customHeaders: readonly ToolHeader[]
  readonly passesAuth: boolean
  /** Default false. */
  readonly isForAll?: boolean
}

/** A document before it is read. */
export interface CustomToolSource extends Pick<StoredToolFields, 'operations' | 'serverUrl'> {
  /** The document, or its text. */
  readonly document: Readonly<Record<string, unknown>> | string
  /** Where it was fetched from. */
  readonly address?: string | undefined
}

/** Reads documents, which may be large and hostile: `@inlay/conversations/openapi-reader`, elsewhere if possible. */
export interface OpenApiReader {
  listOperations(source: CustomToolSource): Promise<ToolMethods>
  /** The part of the document that is called, and what was left out without having been chosen. */
  reduceDocument(source: CustomToolSource): Promise<Pick<StoredTool, 'definition'> & { skipped: SkippedOperation[] }>
}

/** Stored tools. Callers must have checked permissions: there is one list for everybody. */
export interface StoredTools {
  /** By id, also those that are switched off. */
  list(): Promise<readonly StoredTool[]>
  /** NOT_FOUND. */
  get(id: number): Promise<StoredTool>
  /** VALIDATION_ERROR for a document or headers that do not fit; what {@link FetchAddress} rejects with. */
  create(fields: StoredToolFields, caller: Principal): Promise<StoredTool>
  /** Absent fields stay unchanged. NOT_FOUND, and the errors of `create`. */
  update(id: number, fields: Partial<StoredToolFields>): Promise<StoredTool>
  /** NOT_FOUND; VALIDATION_ERROR while an agent uses it. */
  remove(id: number): Promise<void>
  /** Enables or disables actions of any kind. Returns the ids of existing ones, ascending. */
  enable(ids: readonly number[], isEnabled: boolean): Promise<readonly number[]>
  /** What a document offers; nothing is stored. The errors of `create`. */
  validate(fields: Pick<StoredToolFields, 'definition' | 'serverUrl'>): Promise<ToolMethods>
}
