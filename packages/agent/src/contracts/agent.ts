import type { Principal, SendMessageInput } from '@inlay/protocol'
import type { Action } from './action.ts'
import type { ClientTurn } from './client-turn.ts'
import type { ModelListing } from './model.ts'
import type { Run } from './run.ts'
import type { Passage, PassageQuery } from './search.ts'

/** Sender and options of a message. */
export interface Sending {
  /** Default: the operator. Pass the user whenever there is one: sessions and files belong to the caller. */
  readonly caller?: Principal
  readonly requestId?: string
  readonly idempotencyKey?: string
  /** Request headers that actions may pass on, in lower case. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** What a client brings that keeps its conversations itself. Default: nothing. */
  readonly client?: ClientTurn
}

export interface OwnedSending extends Sending {
  readonly caller: Principal
}

/** Answers messages. Everything belongs to the caller who created it. */
export interface Agent {
  /**
   * Stores the user message and an empty answer, then starts the run. Rejects with what can be known before that:
   * VALIDATION_FAILED (a field of another type), SESSION_NOT_FOUND, VALIDATION_ERROR (parent, override, forced tool),
   * PERSONA_NOT_FOUND, NOT_FOUND (file, project), INSUFFICIENT_PERMISSIONS (document set), CONFLICT (idempotency key).
   */
  send(request: SendMessageInput, sending?: Sending): Promise<Run>
  /** The session's newest run, while it is resumable. SESSION_NOT_FOUND, NOT_FOUND. */
  resume(sessionId: string, caller: Principal): Promise<Run>
  /** Stops the runs of the session, if any; their text is kept. SESSION_NOT_FOUND. */
  stop(sessionId: string, caller: Principal): Promise<void>
  /** Stops the runs of some sessions and deletes their logs, without checking the owner. */
  removeRuns(sessionIds: readonly string[]): Promise<void>
  /** Public id of the latest unfinished run of a session: its answer, or its question when several models answer. */
  currentRunId(sessionId: string): Promise<number | undefined>
  /** Actions the caller may use now; with `evenOff` also those an administrator disabled. */
  actions(caller: Principal, options?: { readonly evenOff?: boolean }): Promise<readonly Action[]>
  /** Whether there is an action with this id, including one that cannot be used right now. */
  holdsAction(id: number): Promise<boolean>
  models(): Promise<readonly ModelListing[]>
  /**
   * Finds passages without an answer, within the limits of a persona. PERSONA_NOT_FOUND, NOT_FOUND (provider),
   * VALIDATION_ERROR (model), INSUFFICIENT_PERMISSIONS (document set), NOT_IMPLEMENTED without a search.
   */
  search(query: PassageQuery): Promise<readonly Passage[]>
  /** Estimated tokens available for the next message of a session, or the first one to a persona. */
  freeTokens(place: { readonly sessionId: string } | { readonly personaId: number }, caller: Principal): Promise<number>
  /** Ends answers that an earlier process left unfinished. The first use does the same. */
  start(): Promise<void>
  /** Resolves once this process has no running answer; new ones may start meanwhile. */
  idle(): Promise<void>
  /** Stops every run, keeping its text, and releases everything. Idempotent. */
  close(): Promise<void>
}
