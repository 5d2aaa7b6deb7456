/** A place where work stops in a test, until it is let through. */
export interface Gate {
  /** Resolves once some work has come to it. */
  readonly reached: Promise<void>
  /** What the work waits for there. */
  pass(): Promise<void>
  /** Lets all work through, from then on too. */
  open(): void
}

/** Makes one that is closed. */
export function newGate(): Gate {
  const [begun, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    reached: begun.promise,
    pass: () => {
      begun.resolve()
      return opened.promise
    },
    open: opened.resolve,
  }
}
