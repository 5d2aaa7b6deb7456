import type { Conversations } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'
import type { ErrorCode, OwnerRule, Principal, Scope } from '@inlay/protocol'
import type { GenericSchema, InferOutput } from 'valibot'
import type { UsageLimits } from '../limits/caller-limits.ts'
import type { AuditLog } from '../administration/audit-log.ts'
import type { LocalModelAdministration } from '../administration/local-models.ts'
import type { WorkspaceRecords } from '../administration/workspace-records.ts'
import type { Keys } from '../auth/keys.ts'
import type { ServerSettings } from './settings.ts'

/** What handlers work with. */
export interface ServerParts {
  readonly agent: Conversations
  readonly knowledge: Knowledge
  /** Absent where the host alone tells who calls: the addresses that administer keys answer 501. */
  readonly keys?: Keys
  /** Absent: what would be kept there cannot be set, and the addresses that set it answer 501. */
  readonly workspace?: WorkspaceRecords
  /** Absent: the deployment names its models; `/admin/local-models` lists none and refuses a choice with 501. */
  readonly localModels?: LocalModelAdministration | undefined
  /** Absent: nothing is audited, and `/admin/audit` answers 501. */
  readonly audit?: AuditLog | undefined
  /** Counts what callers use. Absent: they may use what they like. */
  readonly usage?: UsageLimits | undefined
  /** What an operator should know and do, a sentence each. Absent: nothing is told. */
  readonly notices?: (() => Promise<readonly string[]>) | undefined
  /** What Prometheus reads. Absent: nothing is measured, and `/metrics` answers 501. */
  readonly metrics?: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined
  /** The script of `<inlay-chat>`. Absent, or undefined: `/inlay-chat.js` is not there. */
  readonly widget?: (() => Promise<string | undefined>) | undefined
}

/** A method a route answers; HEAD comes with GET, OPTIONS is answered for all. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Who may use a route, and whose things it touches: everybody, and then nobody's; or callers with the scope (with any of
 * a list), under a rule that the part behind the route enforces by the caller it is handed.
 */
export type Access =
  | { readonly scope: 'public'; readonly owner: 'none' }
  | { readonly scope: Scope | readonly Scope[]; readonly owner: OwnerRule }

/** How a body comes: JSON checked whole, or a stream the handler reads itself. `limit` names a {@link BodyLimits}. */
export type BodySpec<Schema extends GenericSchema | undefined> =
  | { readonly kind: 'json'; readonly schema: Schema; readonly limit: 'chatBytes' | 'ingestionBytes' | 'otherBytes' }
  | { readonly kind: 'stream'; readonly mediaType: string; readonly schema: GenericSchema }

/** A good answer, as documented. */
export interface AnswerSpec {
  readonly description: string
  /** Of an answer without a body: 204. Default 200. */
  readonly status?: 200 | 204
  /** What an answer without a body means that is sent with 202 instead. Absent: there is none. */
  readonly accepted?: string
  /** What an answer without a body means that is sent with 204 instead. */
  readonly ended?: string
  /** What 304 means here. Absent: it is never sent. */
  readonly unchanged?: string
  /** Schema of a JSON answer. */
  readonly schema?: GenericSchema
  /** Schema of each line of an `application/x-ndjson` answer. */
  readonly lines?: GenericSchema
  /** Whether it may be a stream of packets, `text/event-stream`; each packet line is described once, in the document. */
  readonly packets?: true
  /** Schema of the data of each event, where the answer may be another stream of `text/event-stream`. */
  readonly events?: GenericSchema
  /** Of an answer that is a file or a page. It may be JSON as well, when there is a schema. */
  readonly mediaType?: string
  /** Response headers of its own, with what they tell. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls `onEnd` once a key is refused, until the signal aborts. @returns whether there is a key to be refused */
export type KeyWatch = (onEnd: () => void, signal: AbortSignal) => Promise<boolean>

/** What a handler is given: input already checked by the schemas of its route. */
export interface RouteContext<Path, Query, Body> {
  /** Headers and, for a stream body, the body. */
  readonly request: Request
  readonly url: URL
  readonly requestId: string
  readonly path: Path
  readonly query: Query
  readonly body: Body
  /**
   * Says how many bytes of a stream body the handler has in memory by now; they count until it ends.
   * @throws RATE_LIMITED when too many bytes are being worked on
   */
  readonly holdBytes: (bytes: number) => void
  /** Watches the key of the caller. */
  readonly watchKey: KeyWatch
  readonly parts: ServerParts
  readonly settings: ServerSettings
  /** The whole table, for the routes that describe it. */
  readonly routes: readonly Route[]
}

type Output<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : undefined

interface RouteShape<Path, Query, Body extends GenericSchema | undefined> {
  readonly method: Method
  /** Below the base path, with `{name}` for a segment. */
  readonly path: string
  /** Other addresses of the same handler, with the same names. */
  readonly aliases?: readonly string[]
  /** Unique; also the name of a generated client's method. */
  readonly operationId: string
  /** Heading in the documentation. */
  readonly topic: string
  /** A few words, as a heading. */
  readonly summary: string
  readonly description?: string
  readonly input?: {
    /** Object schema over the decoded segments. */
    readonly path?: Path
    /** Object schema over the query; what occurs once is a string, more often a list of strings. */
    readonly query?: Query
    readonly body?: BodySpec<Body>
    /** Request headers the route looks at, with what they do. */
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Whether it changes who may see what, so that the audit keeps it. Administration and deletions are kept anyway. */
  readonly changesAccess?: true
  /** Whether calls only read, and so take turns with the caller's other reads. Default: those of GET. */
  readonly readsOnly?: boolean
  /** Absent: there is none any more, only an error that says what to use instead. */
  readonly answer?: AnswerSpec
  /** Codes a caller has to reckon with beyond those of every route (authentication, validation, limits, faults). */
  readonly errors?: readonly ErrorCode[]
}

type Handler<Context> = (context: Context) => unknown

/** A route as the server runs and documents it. */
export type Route = RouteShape<GenericSchema | undefined, GenericSchema | undefined, GenericSchema | undefined> &
  Access & {
    readonly handle: Handler<RouteContext<unknown, unknown, unknown> & { readonly caller: Principal | undefined }>
  }

/** What a route says beside its address, its names and its topic. */
type RouteRest<Path, Query, Body extends GenericSchema | undefined, Context> = Omit<
  RouteShape<Path, Query, Body>,
  'method' | 'path' | 'operationId' | 'topic' | 'summary'
> & { readonly handle: Handler<RouteContext<Output<Path>, Output<Query>, Output<Body>> & Context> }

/**
 * Declares a route. A handler answers with a `Reply`, or with a value that is sent as JSON with status 200
 * (undefined as `null`); what it throws becomes an error response.
 * @param address method and path, with `{name}` for a segment
 * @param operationId unique; also the name of a generated client's method
 * @param summary a few words, as a heading
 */
type DeclareRoute<Context, Own> = <
  Path extends GenericSchema | undefined = undefined,
  Query extends GenericSchema | undefined = undefined,
  Body extends GenericSchema | undefined = undefined,
>(
  address: `${Method} /${string}`,
  operationId: string,
  summary: string,
  rest: RouteRest<Path, Query, Body, Context> & Own,
) => Route

type Public = Extract<Access, { scope: 'public' }>
type Guarded = Exclude<Access, Public>

/** Declares routes under one heading of the documentation. Those behind a scope may each have a scope or rule of its own. */
export function routesOf(topic: string, access: Public): DeclareRoute<object, object>
export function routesOf(topic: string, access: Guarded): DeclareRoute<{ readonly caller: Principal }, Partial<Guarded>>
export function routesOf(topic: string, access: Access): DeclareRoute<never, object> {
  return (address, operationId, summary, rest) => {
    const [method, path] = address.split(' ')
    // A handler's input is narrower than `Route` says; `endpoint` runs it only with what these very schemas let through.
    return { method, path, operationId, topic, summary, ...access, ...rest } as unknown as Route
  }
}
