import type { StreamFormat } from '../framing/sse-and-ndjson.ts'

/** Scopes of a key or a host's user. `chat` implies `search`; `admin` implies all. */
export const scopes = ['chat', 'search', 'ingest', 'admin'] as const

export type Scope = (typeof scopes)[number]

/** The caller: created by an `Authenticator` and passed to the agent and the knowledge with every call. */
export interface Principal {
  /** Identifies the owner of sessions, files and documents; the same for all keys of one owner. */
  readonly id: string
  readonly email?: string
  readonly scopes: readonly Scope[]
  /** Groups of the caller; they grant access to private connector/credential pairs. */
  readonly groups?: readonly string[]
  /** Stream format when `Accept` does not select one. Default: the server's. */
  readonly streamFormat?: StreamFormat
  /** Limits that differ from those for all callers. */
  readonly limits?: CallerLimits
  /** Number of the key, when limits are counted for this key only. Absent: `limits` apply to the caller. */
  readonly keyId?: number
}

export const limitNames = [
  'requestsPerMinute',
  'tokensPerDay',
  'uploadsPerDay',
  'sessionsPerDay',
  'documentsPerDay',
  'waitingDocuments',
] as const

/** Limits per calendar minute or day (UTC). Absent: no limit. */
export interface CallerLimits {
  /** Requests of any kind. */
  readonly requestsPerMinute?: number
  /** Tokens of prompts and answers. An answer already started is completed. */
  readonly tokensPerDay?: number
  /** Uploaded files. */
  readonly uploadsPerDay?: number
  /** New chat sessions. */
  readonly sessionsPerDay?: number
  /** Documents accepted. */
  readonly documentsPerDay?: number
  /** Documents that wait to be indexed at a time: a share of the queue, over all processes. */
  readonly waitingDocuments?: number
}

/** The operator of the service: has all permissions, and owns what the host does without naming a caller. */
export const operator: Principal = { id: 'operator', scopes: ['admin'] }

/** Whether the caller has a scope, directly or through one that implies it. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  if (principal.scopes.includes('admin') || principal.scopes.includes(scope)) return true
  return scope === 'search' && principal.scopes.includes('chat')
}
