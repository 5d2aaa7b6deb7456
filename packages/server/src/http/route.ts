import type { Conversations } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'
import type { ErrorCode, InlayError, OwnerRule, Principal, Scope, Wire } from '@inlay/protocol'
import type { Holds } from '@inlay/records'
import type { ServiceNote } from '@inlay/protocol/administration'
import type { GenericSchema, InferOutput } from 'valibot'
import type { UsageLimits } from '../limits/caller-limits.ts'
import type { AuditLog } from '../administration/audit-log.ts'
import type { ModelAdministration } from '../administration/added-models.ts'
import type { McpServerAdministration } from '../administration/mcp-servers.ts'
import type { LocalModelAdministration } from '../administration/local-models.ts'
import type { WorkspaceRecords } from '../administration/workspace-records.ts'
import type { Keys } from '../auth/keys.ts'
import type { Reply } from './replies.ts'
import type { ServerSettings } from './settings.ts'

/** Components that handlers use. */
export interface ServerParts {
  readonly agent: Conversations
  readonly knowledge: Knowledge
  /** Absent when the host authenticates callers; routes that administer keys then return 501. */
  readonly keys?: Keys
  /** Absent: routes that store settings return 501. */
  readonly workspace?: WorkspaceRecords
  /**
   * Absent: models come from the configuration only; `/admin/local-models` lists none and refuses a choice with 501.
   */
  readonly localModels?: LocalModelAdministration | undefined
  /** Absent: administrators can add no models, and their routes return 501. */
  readonly addedModels?: ModelAdministration | undefined
  /** Absent: no MCP servers are listed, and administrators can add none. */
  readonly mcpServers?: McpServerAdministration | undefined
  /** Absent: there is no audit, and `/admin/audit` returns 501. */
  readonly audit?: AuditLog | undefined
  /** Absent: nobody can be placed under a legal hold, and the routes return 501. */
  readonly holds?: Holds | undefined
  /** Counts usage. Absent: there are no limits. */
  readonly usage?: UsageLimits | undefined
  /**
   * Fetches a picture that a request names by its address, as a data URL. Absent: no pictures are fetched.
   * @throws an error that says what to do
   */
  readonly fetchPicture?: ((address: string, signal: AbortSignal) => Promise<string>) | undefined
  /** Messages for the operator, each with a problem and what to do about it. Absent: none. */
  readonly notices?: (() => Promise<readonly ServiceNote[]>) | undefined
  /** Metrics for Prometheus. Absent: `/metrics` returns 501. */
  readonly metrics?: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined
  /** The script of `<inlay-chat>`. Absent or undefined: `/inlay-chat.js` returns 404. */
  readonly widget?: (() => Promise<string | undefined>) | undefined
}

/** Method of a route; GET includes HEAD, and OPTIONS is answered for all routes. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Public, or for callers with one of the scopes; the ownership rule is enforced by the component of the handler. */
export type Access =
  | { readonly scope: 'public'; readonly owner: 'none' }
  | { readonly scope: Scope | readonly Scope[]; readonly owner: OwnerRule }

/** `limit` names a {@link BodyLimits} field or is a number of bytes. A stream is read by the handler. */
export type BodySpec<Schema extends GenericSchema | undefined> =
  | {
      readonly kind: 'json'
      readonly schema: Schema
      readonly limit: 'maxChatBytes' | 'maxIngestionBytes' | 'maxOtherBytes' | number
    }
  | { readonly kind: 'stream'; readonly mediaType: string; readonly schema: GenericSchema }

export interface AnswerSpec<Schema extends GenericSchema | undefined = GenericSchema | undefined> {
  readonly description: string
  /** Status of a response without a body. Default 200. */
  readonly status?: 200 | 204
  /** Description of a 202 response without a body. Absent: no 202. */
  readonly accepted?: string
  /** Description of a 204 response without a body. Absent: no 204. */
  readonly ended?: string
  /** Description of a 304 response. Absent: no 304. */
  readonly unchanged?: string
  /** Schema of a JSON response. */
  readonly schema?: Schema
  /** Schema of each line of an `application/x-ndjson` response. */
  readonly lines?: GenericSchema
  /** Whether the response can be a stream of packets, `text/event-stream`. The packet lines are documented once. */
  readonly packets?: true
  /** Schema of the event data, for other `text/event-stream` responses. */
  readonly events?: GenericSchema
  /** Media type of a file or page. With a schema, the response can also be JSON. */
  readonly mediaType?: string
  /** Additional response headers with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls `onEnd` once a key becomes invalid, until the signal aborts. @returns whether there is a key to watch */
export type KeyWatch = (onEnd: () => void, signal: AbortSignal) => Promise<boolean>

/** Input of a handler, validated with the schemas of its route. */
export interface RouteContext<Path, Query, Body> {
  /** Headers and, for a stream body, the body. */
  readonly request: Request
  readonly url: URL
  readonly requestId: string
  readonly path: Path
  readonly query: Query
  readonly body: Body
  /**
   * Reports how many bytes of a stream body the handler holds in memory; they count until the call ends.
   * @throws RATE_LIMITED when the budget is used up
   */
  readonly holdBytes: (bytes: number) => void
  readonly watchKey: KeyWatch
  readonly parts: ServerParts
  readonly settings: ServerSettings
  /** All routes, for the routes that document them. */
  readonly routes: readonly Route[]
}

type Output<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : undefined

interface RouteShape<Path, Query, Body, Answer extends GenericSchema | undefined> {
  readonly method: Method
  /** Path below the base path, with `{name}` for a parameter. */
  readonly path: string
  /** Additional paths of the same handler, with the same parameters. */
  readonly aliases?: readonly string[]
  /** Unique; also the method name in generated clients. */
  readonly operationId: string
  /** Heading in the documentation. */
  readonly topic: string
  /** A few words, as a heading. */
  readonly summary: string
  readonly description?: string
  readonly input?: {
    /** Object schema over the decoded segments. */
    readonly path?: Path
    /** Object schema of the query. A parameter is a string if given once, a list of strings if repeated. */
    readonly query?: Query
    readonly body?: Body
    /** Request headers that the route reads, with their descriptions. */
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Whether it changes access rights and is audited therefore, as administration and deletions always are. */
  readonly changesAccess?: true
  /** Field of its answer that the audit has as well, such as the person it is about. */
  readonly auditedField?: string
  /** Whether calls only read, and therefore take turns with the caller's other reads. Default: true for GET. */
  readonly readsOnly?: boolean
  /** Whether a caller identified within the last hour may call it while the database of keys is away. */
  readonly remembersCallers?: true
  /** Whether of many calls at once a few begin at a time, so that the first get on before the last are read. */
  readonly isPaced?: true
  /** Absent for a retired route, which only answers with an error that names its replacement. */
  readonly answer?: AnswerSpec<Answer>
  /** Error codes besides those of every route (authentication, validation, limits, failures). */
  readonly errors?: readonly ErrorCode[]
}

type AnySchema = GenericSchema | undefined

export type Route = RouteShape<AnySchema, AnySchema, BodySpec<AnySchema>, AnySchema> &
  Access & {
    readonly handle: (
      context: RouteContext<unknown, unknown, unknown> & { readonly caller: Principal | undefined },
    ) => unknown
  }

/** Scopes that a caller needs one of; undefined for a route without authentication. */
export const scopesOf = ({ scope }: Route): readonly Scope[] | undefined =>
  scope === 'public' ? undefined : typeof scope === 'string' ? [scope] : scope

/** An API of its own over the same parts: its routes, with paths that begin with `/v1`, and its form of errors. */
export interface MountedApi {
  readonly routes: readonly Route[]
  readonly toErrorReply: (error: InlayError, requestId: string) => Reply
  /** The error for an address that it does not serve. Default: NOT_FOUND. */
  readonly missing?: (path: string) => InlayError
}

/** Properties of a route besides path, names and topic. A schema as body: JSON, limited by `maxOtherBytes`. */
type RouteRest<Path, Query, Body extends AnySchema, Answer extends AnySchema, Context> = Omit<
  RouteShape<Path, Query, Body | BodySpec<Body>, Answer>,
  'method' | 'path' | 'operationId' | 'topic' | 'summary'
> & {
  readonly handle: (
    context: RouteContext<Output<Path>, Output<Query>, Output<Body>> & Context,
  ) => Answered<Answer> | Promise<Answered<Answer>>
}

/** The result of a handler: a value of the documented schema, or a reply with a status, headers or a stream. */
type Answered<Answer> = Answer extends GenericSchema ? OrNothing<Wire<Answer>> | Reply : unknown
type OrNothing<Value> = [Value] extends [null] ? Value | void : Value

/**
 * Declares a route. A handler returns a `Reply`, or a value that is sent as JSON with status 200 (undefined as `null`);
 * a thrown error becomes an error response.
 */
type DeclareRoute<Context, Own> = <
  Path extends AnySchema = undefined,
  Query extends AnySchema = undefined,
  Body extends AnySchema = undefined,
  Answer extends AnySchema = undefined,
>(
  address: `${Method} /${string}`,
  operationId: string,
  summary: string,
  rest: RouteRest<Path, Query, Body, Answer, Context> & Own,
) => Route

type Public = Extract<Access, { scope: 'public' }>
type Guarded = Exclude<Access, Public>

/** Returns a function that declares routes under one topic. Routes with a scope can override scope and rule. */
export function routesOf(topic: string, access: Public): DeclareRoute<object, object>
export function routesOf(topic: string, access: Guarded): DeclareRoute<{ readonly caller: Principal }, Partial<Guarded>>
export function routesOf(topic: string, access: Access): DeclareRoute<never, object> {
  return (address, operationId, summary, { input = {}, ...rest }) => {
    const [method, path] = address.split(' ')
    const body = input.body?.kind === 'schema' ? toJsonBody(input.body) : input.body
    const read = { ...input, ...(body && { body }) }
    // The handler's input type is narrower than in `Route`; `endpoint` passes only input validated with these schemas.
    return { method, path, operationId, topic, summary, input: read, ...access, ...rest } as unknown as Route
  }
}

function toJsonBody(schema: GenericSchema): BodySpec<GenericSchema> {
  return { kind: 'json', schema, limit: 'maxOtherBytes' }
}
