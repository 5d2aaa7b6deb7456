/** What every long-lived part shares. */
export interface Services {
  /** Milliseconds since 1970 UTC. */
  readonly now: () => number
  /** A new random id, a UUID. */
  readonly newId: () => string
  /** Receives errors nobody expected. They concern the operator alone. */
  readonly onError: (error: unknown) => void
}

/** The system clock and random UUIDs. Errors are dropped, so a host hands in its own `onError`. */
export const defaultServices: Services = {
  now: () => Date.now(),
  newId: () => crypto.randomUUID(),
  onError: () => {},
}
