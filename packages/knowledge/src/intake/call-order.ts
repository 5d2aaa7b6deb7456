/** Lets calls take effect in the order they were made, though some take longer to prepare than others. */
export interface CallOrder {
  /** Acts on what was prepared, once everything submitted before has begun to act or could not be prepared. */
  submit<Prepared, Result>(preparing: Promise<Prepared>, act: (prepared: Prepared) => Promise<Result>): Promise<Result>
  /** Resolves once everything submitted so far was prepared. */
  drained(): Promise<void>
}

export function createCallOrder(): CallOrder {
  let last: Promise<unknown> = Promise.resolve()
  return {
    submit: (preparing, act) => {
      // Whoever is refused meanwhile is told when its turn comes.
      preparing.catch(() => {})
      const turn = last.then(() => preparing)
      last = turn.catch(() => {})
      return turn.then(act)
    },
    drained: async () => void (await last),
  }
}
