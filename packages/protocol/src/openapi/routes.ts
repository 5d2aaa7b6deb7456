import type * as v from 'valibot'
import type { Scope } from '../resources/principal.ts'

/** How a route checks access to the objects its request names, besides the scope. */
export type OwnerRule =
  /** The request names no owned object. */
  | 'none'
  /** Every session, message, file or project it names must belong to the caller. */
  | 'caller'
  /** Access is determined by connector/credential pairs. */
  | 'pair'
  /** Administrators can access all objects. */
  | 'any'

export interface ResponseSpec {
  readonly description: string
  /** Absent: no body is documented. */
  readonly schema?: v.GenericSchema
  /** Default `application/json`. */
  readonly contentType?: string
  /** Schemas of the same response in other content types, such as the lines of a stream. */
  readonly alsoAs?: Readonly<Record<string, v.GenericSchema>>
  /** Schema of each line of an `application/x-ndjson` answer. */
  readonly lines?: v.GenericSchema
  /** Media type of a file response. */
  readonly file?: string
  /** Additional response headers with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>
}

/** One route, as implemented by the server and described in the OpenAPI document. */
export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below the base path, with parameters in braces: `/chat/stop-chat-session/{session_id}`. */
  readonly path: string
  /** Path whose example body is shown. Default: `path`. */
  readonly examplePath?: string
  /** Unique; also the method name in generated clients. */
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  /** The caller's key needs one of these scopes; empty when no key is needed. */
  readonly scopes: readonly Scope[]
  readonly owner: OwnerRule
  /** Schema of the JSON body. */
  readonly body?: v.GenericSchema
  /** Default `application/json`. */
  readonly bodyType?: string
  /** An object schema whose fields are the query parameters. */
  readonly query?: v.GenericSchema
  /** An object schema of the path parameters; parameters it does not declare are text. */
  readonly params?: v.GenericSchema
  /** Request headers with a special meaning, and their descriptions. */
  readonly headers?: Readonly<Record<string, string>>
  /** Responses by status; the errors common to all routes are added. */
  readonly responses: Readonly<Record<number, ResponseSpec>>
  readonly deprecated?: boolean
}
