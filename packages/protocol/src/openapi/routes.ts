import type * as v from 'valibot'
import type { Scope } from '../resources/principal.ts'

/** What a route checks about the objects its request names, besides the caller's scope. */
export type OwnerRule =
  /** It names no object that anybody owns. */
  | 'none'
  /** Every session, message, file or project it names belongs to the caller. */
  | 'caller'
  /** Access follows from connector/credential pairs. */
  | 'pair'
  /** Administrators act on everybody's objects. */
  | 'any'

/** One kind of answer of a route. */
export interface ResponseSpec {
  readonly description: string
  /** Absent: no body is described. */
  readonly schema?: v.GenericSchema
  /** Default `application/json`. */
  readonly contentType?: string
  /** Schemas of the same answer in other content types, such as the lines of a stream. */
  readonly alsoAs?: Readonly<Record<string, v.GenericSchema>>
  /** Schema of each line of an `application/x-ndjson` answer. */
  readonly lines?: v.GenericSchema
  /** Media type of an answer that is a file. */
  readonly file?: string
  /** Response headers of its own, with what they tell. */
  readonly headers?: Readonly<Record<string, string>>
}

/** One route, as the server carries it out and the OpenAPI document tells it. */
export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base path, parameters in braces: `/chat/stop-chat-session/{session_id}`. */
  readonly path: string
  /** Unique; also the name of the generated method. */
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  /** Scopes of which the caller's key must have one; none for what needs no key. */
  readonly scopes: readonly Scope[]
  readonly owner: OwnerRule
  /** Schema of the JSON body. */
  readonly body?: v.GenericSchema
  /** Default `application/json`. */
  readonly bodyType?: string
  /** An object schema; its fields are the query's parameters. */
  readonly query?: v.GenericSchema
  /** An object schema of the parameters in the path; those it does not name are text. */
  readonly params?: v.GenericSchema
  /** Request headers with a meaning of their own here: what each does. */
  readonly headers?: Readonly<Record<string, string>>
  /** By status; the errors every route can give are added. */
  readonly responses: Readonly<Record<number, ResponseSpec>>
  readonly deprecated?: boolean
}
