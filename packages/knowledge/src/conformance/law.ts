/** One law of a contract: its statement, and a check that rejects when an implementation breaks it. */
export type Law = readonly [title: string, run: () => Promise<void>]
