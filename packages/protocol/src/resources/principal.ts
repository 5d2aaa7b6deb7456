import type { StreamFormat } from '../framing/sse-and-ndjson.ts'

/** What a key or a host's user may do. `chat` implies `search`; `admin` implies all. */
export const scopes = ['chat', 'search', 'ingest', 'admin'] as const

/** One of {@link scopes}. */
export type Scope = (typeof scopes)[number]

/** Who is calling: made by an `Authenticator`, handed to the agent and the knowledge with every call. */
export interface Principal {
  /** Names the owner of sessions, files and documents; the same for all keys of one owner. */
  readonly id: string
  readonly email?: string
  readonly scopes: readonly Scope[]
  /** Names of groups the caller belongs to; they open private connector/credential pairs. */
  readonly groups?: readonly string[]
  /** Framing of the caller's streams where `Accept` decides nothing. Default: that of the server. */
  readonly streamFormat?: StreamFormat
  /** What the caller may use, where it differs from what all may. */
  readonly limits?: CallerLimits
  /** Number of the key that was used: its limits are counted for this key alone. Absent: `limits` are the caller's. */
  readonly keyId?: number
}

/** Names of what can be limited. */
export const limitNames = [
  'requestsPerMinute',
  'tokensPerDay',
  'uploadsPerDay',
  'sessionsPerDay',
  'documentsPerDay',
  'waitingDocuments',
] as const

/** What may be used in a minute or a day of the clock (UTC). Absent: there is no limit. */
export interface CallerLimits {
  /** Requests of any kind. */
  readonly requestsPerMinute?: number
  /** Tokens of prompts and answers; an answer that has begun is made to its end. */
  readonly tokensPerDay?: number
  /** Files sent to the service. */
  readonly uploadsPerDay?: number
  /** New chat sessions. */
  readonly sessionsPerDay?: number
  /** Documents accepted. */
  readonly documentsPerDay?: number
  /** Documents that wait to be indexed at a time: a share of the queue. Each process counts those it took in. */
  readonly waitingDocuments?: number
}

/** Whoever runs the service: may do everything, and what the host does without naming a caller is theirs. */
export const operator: Principal = { id: 'operator', scopes: ['admin'] }

/** Whether the caller holds a scope, by itself or by one that implies it. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  if (principal.scopes.includes('admin') || principal.scopes.includes(scope)) return true
  return scope === 'search' && principal.scopes.includes('chat')
}
