import type { ChatSessionCreationRequest, FileDescriptor, Packet, Principal, SearchDoc } from '@inlay/protocol'

/** One session in a listing; times are ISO 8601. */
export interface SessionListing {
  readonly id: string
  /** "" until it was named. */
  readonly name: string
  readonly personaId: number
  readonly projectId: number | null
  readonly timeCreated: string
  readonly timeUpdated: string
  readonly isPublic: boolean
  /** The model it is pinned to, as it was given; null when it follows the default. */
  readonly model: string | null
  readonly temperature: number | null
  readonly reasoningEffort: string | null
}

/** A stored message; `system` is the hidden root of the tree. Times are ISO 8601. */
export interface StoredMessage {
  readonly id: number
  readonly parentId: number | null
  readonly latestChildId: number | null
  readonly role: 'system' | 'user' | 'assistant'
  readonly text: string
  readonly reasoning: string | null
  /** Documents found for an answer, by descending score; null when no search ran. */
  readonly documents: readonly SearchDoc[] | null
  /** Number → document id; null when nothing is cited. */
  readonly citations: Readonly<Record<string, string>> | null
  readonly timeSent: string
  readonly files: readonly FileDescriptor[]
  readonly error: string | null
  readonly feedback: 'like' | 'dislike' | null
  readonly durationSeconds: number | null
  readonly preferredResponseId: number | null
  readonly modelDisplayName: string | null
  /** Model parameters of an answer; null for other messages. */
  readonly requestParams: Readonly<Record<string, unknown>> | null
  /** Tool calls of an answer that failed, those of research agents too, in the order they were stored. */
  readonly failedCalls: readonly FailedCall[]
}

/** A tool call that failed while its answer went on. */
export interface FailedCall {
  readonly turnIndex: number
  readonly tabIndex: number
  /** Null outside research agents. */
  readonly subTurnIndex: number | null
  readonly name: string
  readonly reason: string
}

/** A session with everything in it. */
export interface StoredSession extends SessionListing {
  readonly ownerId: string
  readonly isDeleted: boolean
  /** Every message of every branch: the root first, then by parent, then by age. */
  readonly messages: readonly StoredMessage[]
  /** Packets that show each answer again, in the order of the answers among `messages`. */
  readonly packets: readonly (readonly Packet[])[]
  /**
   * Id of the running answer, or of its question when several models answer. Null when nothing is running, and for
   * anybody but the owner.
   */
  readonly currentRunId: number | null
}

export interface FoundSession extends SessionListing {
  /** The newest message that holds all words; absent when only the name does. */
  readonly match?: { readonly messageId: number; readonly text: string }
}

/** Sessions found, by the day (UTC) they were begun on. */
export interface SessionGroup {
  readonly title: 'Today' | 'Yesterday' | 'This Week' | 'This Month' | 'Older'
  /** Newest first; never empty. */
  readonly sessions: readonly FoundSession[]
}

export interface Feedback {
  readonly messageId: number
  readonly isPositive: boolean | null
  readonly text: string | null
  /** One of the reasons a client offers. */
  readonly predefined: string | null
}

/** A search of documents that an answer made. */
export interface PastSearch {
  /** Search queries, most important first. */
  readonly queries: readonly string[]
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/**
 * Stored conversations of a caller. Each call: SESSION_NOT_FOUND for a session that is unknown, deleted or not theirs,
 * VALIDATION_ERROR for such a message.
 */
export interface Sessions {
  /** PERSONA_NOT_FOUND, NOT_FOUND (project), DEPLOYMENT_UNSUPPORTED (incognito). */
  create(request: ChatSessionCreationRequest, caller: Principal): Promise<{ readonly id: string }>
  /** Adds texts to the end of a session, as if they had been written there; nothing answers them. */
  append(
    id: string,
    messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[],
    caller: Principal,
  ): Promise<void>
  /**
   * @param options.shared `own`: only theirs; `public`: any that is shared, INSUFFICIENT_PERMISSIONS for one that is not
   * @param options.includeDeleted also one that was deleted but kept
   */
  get(
    id: string,
    caller: Principal,
    options?: { readonly shared?: 'own' | 'public'; readonly includeDeleted?: boolean },
  ): Promise<StoredSession>
  /** Newest update first; those older than five minutes that hold no message are left out unless asked for. */
  list(
    caller: Principal,
    options?: {
      /** 1 to 100, default 50. */
      readonly limit?: number
      /** Only sessions last updated before this moment, in milliseconds since 1970 UTC. */
      readonly before?: number
      readonly includeEmpty?: boolean
      /** Only those of this project; null: those of none. Default: all. */
      readonly projectId?: number | null
    },
  ): Promise<{ readonly sessions: readonly SessionListing[]; readonly hasMore: boolean }>
  /**
   * Finds sessions whose name, or one of whose messages, holds all words; endings of English words do not matter. Looks at
   * the first 65,536 characters of each message.
   * @param query without words: all sessions
   * @param options.offset sessions to skip, default 0
   * @param options.limit 1 to 100, default 10
   */
  search(
    query: string,
    caller: Principal,
    options?: { readonly offset?: number; readonly limit?: number },
  ): Promise<{ readonly groups: readonly SessionGroup[]; readonly hasMore: boolean }>
  /** Searches of documents that answers to the caller made, newest first. */
  searches(
    caller: Principal,
    options?: {
      /** Default 100. */
      readonly limit?: number
      /** Only those of answers begun at or after this moment, in milliseconds since 1970 UTC. */
      readonly since?: number
    },
  ): Promise<readonly PastSearch[]>
  /** Names a session; without a name a model finds one, or the first question does. Gives the name. */
  rename(id: string, name: string | null, caller: Principal): Promise<string>
  /**
   * Pins a session, or unpins it; safe to repeat. INVALID_INPUT when 100 are pinned already.
   */
  setPinned(id: string, isPinned: boolean, caller: Principal): Promise<void>
  /** The pinned ones, last pinned first. */
  listPinned(caller: Principal): Promise<readonly SessionListing[]>
  /** Ends what runs in it; `erase` also forgets what is stored, else it is only hidden. */
  remove(id: string, caller: Principal, options?: { readonly erase?: boolean }): Promise<void>
  /** Shows a session again that was removed without `erase` and is still stored; private, whoever could read it before. */
  restore(id: string, caller: Principal): Promise<void>
  /** Removes all sessions of the caller. */
  removeAll(caller: Principal, options?: { readonly erase?: boolean }): Promise<void>
  share(id: string, sharing: 'public' | 'private', caller: Principal): Promise<void>
  /** Makes the branch of a message the mainline at its parent. VALIDATION_ERROR for the root. */
  selectBranch(messageId: number, caller: Principal): Promise<void>
  /** Marks which answer to a question is liked best, and selects its branch. INVALID_INPUT when they do not fit. */
  preferResponse(userMessageId: number, responseId: number, caller: Principal): Promise<void>
  /** Stores what the caller thinks of an answer. RATE_LIMITED above 100 a minute, `unrate` counted too. */
  rate(feedback: Feedback, caller: Principal): Promise<void>
  /** Forgets all feedback to an answer. */
  unrate(messageId: number, caller: Principal): Promise<void>
  /**
   * Pins the session to a model, for messages that name none.
   * @param model name of a model, alone or as `provider__type__model`; null or blank: the default again
   * @throws VALIDATION_ERROR for a model that cannot be had
   */
  pinModel(id: string, model: string | null, caller: Principal): Promise<void>
  /** Sets the temperature of messages that name none; null: the model's own. VALIDATION_ERROR outside of its range. */
  setTemperature(id: string, temperature: number | null, caller: Principal): Promise<void>
  /** One of `reasoningEfforts`; null leaves it to the model. INVALID_INPUT for any other. */
  setReasoningEffort(id: string, effort: string | null, caller: Principal): Promise<void>
  /** Estimated tokens a next message and what goes with it can still take. */
  freeTokens(id: string, caller: Principal): Promise<number>
  /** Estimated tokens of chosen documents that a new conversation with an agent can take. PERSONA_NOT_FOUND. */
  documentTokens(personaId: number, caller: Principal): Promise<number>
}
