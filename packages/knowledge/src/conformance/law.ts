import { isInlayError, type ErrorCode } from '@inlay/protocol'

/** One law of a contract: its statement, and a check that rejects when an implementation breaks it. */
export type Law = readonly [title: string, run: () => Promise<void>]

/** Fails a law unless something holds. */
export function must(holds: boolean, statement: string): asserts holds {
  if (!holds) throw new Error(`Law broken: ${statement}`)
}

/** Fails a law unless both values have the same JSON. */
export function mustEqual(actual: unknown, expected: unknown, statement: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  must(is === should, `${statement}: expected ${should}, got ${is}`)
}

/** Fails a law unless the work rejects, with an `InlayError` of the code when one is given. */
export async function mustReject(
  work: () => Promise<unknown>,
  code: ErrorCode | undefined,
  statement: string,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (code === undefined) return
    const found = isInlayError(error) ? error.code : String(error)
    must(found === code, `${statement}: expected a rejection with ${code}, got ${found}`)
    return
  }
  must(false, `${statement}: it did not reject`)
}
