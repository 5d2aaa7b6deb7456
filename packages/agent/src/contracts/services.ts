/** Dependencies shared by all long-lived components. */
export interface Services {
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** A new random id, a UUID. */
  readonly newId: () => string
  /**
   * Receives errors for the operator, with the request and the answer they belong to, if any. A provider's failure is an InlayError with
   * `data.isExpected`; anything else is unexpected.
   */
  readonly onError: (error: unknown, context?: FailureContext) => void
}

export interface FailureContext {
  readonly requestId?: string
  readonly sessionId?: string
  /** Id of the (first) answer. */
  readonly messageId?: number
}
