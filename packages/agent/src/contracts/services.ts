/** Dependencies shared by all long-lived components. */
export interface Services {
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** A new random id, a UUID. */
  readonly newId: () => string
  /**
   * Receives what concerns the operator alone, with the id of the request that it happened in, if any. A failure of a
   * provider is an InlayError with `data.isExpected`; anything else was not expected.
   */
  readonly onError: (error: unknown, context?: { readonly requestId?: string }) => void
}
