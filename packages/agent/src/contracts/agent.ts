import type { Principal, SendMessageInput } from '@inlay/protocol'
import type { Action } from './action.ts'
import type { ModelListing } from './model.ts'
import type { Run } from './run.ts'
import type { Passage, PassageQuery } from './search.ts'

/** Sender and options of a message. */
export interface Sending {
  /** Default: the operator. Name the user whenever there is one: sessions and files belong to the caller. */
  readonly caller?: Principal
  readonly requestId?: string
  readonly idempotencyKey?: string
  /** Headers of the request that actions may pass on, lower case. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

/** {@link Sending} with the caller it is for. */
export interface OwnedSending extends Sending {
  readonly caller: Principal
}

/** Answers messages: one turn from message to packets. Everything is owned by the caller who made it. */
export interface Agent {
  /**
   * Stores the user message and an empty answer, then starts the run. Whatever can be known before the run starts
   * rejects: VALIDATION_FAILED (a field of another type), SESSION_NOT_FOUND, VALIDATION_ERROR (parent, override, forced tool), PERSONA_NOT_FOUND, NOT_FOUND (file,
   * project), INSUFFICIENT_PERMISSIONS (document set), CONFLICT (idempotency key).
   */
  send(request: SendMessageInput, sending?: Sending): Promise<Run>
  /** The session's newest run, while it is resumable. SESSION_NOT_FOUND, NOT_FOUND. */
  resume(sessionId: string, caller: Principal): Promise<Run>
  /** Ends what runs in the session, if anything; what was said is kept. SESSION_NOT_FOUND. */
  stop(sessionId: string, caller: Principal): Promise<void>
  /** Ends what runs in some sessions and forgets their runs, without a look at their owner. */
  removeRuns(sessionIds: readonly string[]): Promise<void>
  /** Public id of the latest unfinished run of a session: its answer, or its question when several models answer. */
  currentRunId(sessionId: string): Promise<number | undefined>
  /** The actions a caller may use now; with `evenOff` also those an administrator switched off. */
  actions(caller: Principal, options?: { readonly evenOff?: boolean }): Promise<readonly Action[]>
  /** Whether there is an action with this id, also one that cannot be used right now. */
  holdsAction(id: number): Promise<boolean>
  models(): Promise<readonly ModelListing[]>
  /**
   * Finds passages without an answer, within the bounds of a persona. PERSONA_NOT_FOUND, NOT_FOUND (provider),
   * VALIDATION_ERROR (model), INSUFFICIENT_PERMISSIONS (document set), NOT_IMPLEMENTED without a search.
   */
  search(query: PassageQuery): Promise<readonly Passage[]>
  /** Estimated tokens that a next message in a session, or a first one to a persona, can still take. */
  freeTokens(place: { readonly sessionId: string } | { readonly personaId: number }, caller: Principal): Promise<number>
  /** Ends answers that an earlier process left unfinished. The first use does so too. */
  start(): Promise<void>
  /** Resolves once this process makes no answer; new ones may be asked for meanwhile. */
  idle(): Promise<void>
  /** Stops every run (what was said is kept) and releases everything. Idempotent. */
  close(): Promise<void>
}
