import type { Principal } from '@inlay/protocol'

/** A request to an address that somebody else chose. */
export interface AddressRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** Most bytes of the answer, unpacked. */
  readonly limitBytes?: number
  readonly timeoutMs?: number
}

/** An answer, read whole. */
export interface AddressAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/**
 * Fetches an address that an administrator, a document or a model chose; what it may lead to is decided there (the
 * `egress` of the drivers is one). Any status is an answer. Headers with credentials stay with their origin when it
 * redirects. Rejects with an `InlayError` whose message says why and names no address.
 */
export type FetchAddress = (url: string, request?: AddressRequest) => Promise<AddressAnswer>

/** A header that goes with every request of a stored tool. */
export interface CustomHeader {
  readonly key: string
  /** Often a secret: it is told to administrators alone, never written to a log or an error. */
  readonly value: string
}

/** A tool described by an OpenAPI document: each of its operations is a function that the model may call. */
export interface StoredTool {
  /** From 1,001 on; never given away again. */
  readonly id: number
  readonly name: string
  /** "" when it has none. */
  readonly description: string
  /** The OpenAPI document, as it was given. */
  readonly definition: Readonly<Record<string, unknown>>
  readonly customHeaders: readonly CustomHeader[]
  /** Whether requests carry the caller's own Authorization, where the host lets it through. */
  readonly passesAuth: boolean
  /** Whether the default agent has it, and so everybody. Else agents have it whose `tool_ids` name it. */
  readonly isForAll: boolean
  /** Id of the creator. */
  readonly ownerId: string
  readonly isEnabled: boolean
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number
}

/** Fields of a new or changed tool. */
export interface StoredToolFields {
  readonly name: string
  readonly description: string
  /** The OpenAPI document, or an http or https address of it in JSON. */
  readonly definition: Readonly<Record<string, unknown>> | string
  readonly customHeaders: readonly CustomHeader[]
  readonly passesAuth: boolean
  /** Default false. */
  readonly isForAll?: boolean
}

/** A function that a stored tool has, as people check it before they store the tool. */
export interface StoredToolFunction {
  /** The name the model sees, unless another tool has it. */
  readonly name: string
  readonly summary: string
  /** `GET`, `POST`, `PUT`, `DELETE` or `PATCH`. */
  readonly method: string
  readonly path: string
  /** The operation as it stands in the document. */
  readonly operation: Readonly<Record<string, unknown>>
}

/** Stored tools. Who may change them is checked before: there is one list for everybody. */
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
  /** Switches actions of any kind on or off. Resolves to the ids of those there are, ascending. */
  enable(ids: readonly number[], isEnabled: boolean): Promise<readonly number[]>
  /** The functions that a document gives; as `create`, and nothing is stored. */
  validate(definition: StoredToolFields['definition']): Promise<readonly StoredToolFunction[]>
}
