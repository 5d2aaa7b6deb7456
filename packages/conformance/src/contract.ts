import { yieldToEventLoop } from '@inlay/scheduling'
import { isInlayError, type ErrorCode } from '@inlay/protocol'

/** One statement of a contract, and a check that rejects when an implementation breaks it. */
export type ConformanceTest = readonly [title: string, run: () => Promise<void>]

/** Checks by title. Each gets its own instance of what is tested, or what it needs to make one. */
export type Checks<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

/** @param run makes what a check tests, and closes it afterwards; `at` differs for each check */
export function toTests<Subject>(
  checks: Checks<Subject>,
  run: (check: Checks<Subject>[string], at: number) => Promise<void>,
): ConformanceTest[] {
  return Object.entries(checks).map(([title, check], at) => [title, () => run(check, at)])
}

/** Passes a new subject to a check, and closes it afterwards. */
export async function withClosing<Subject extends { readonly close?: () => Promise<void> | void }>(
  make: () => Subject | Promise<Subject>,
  check: (subject: Subject) => Promise<void>,
): Promise<void> {
  const subject = await make()
  try {
    await check(subject)
  } finally {
    await subject.close?.()
  }
}

/** The rejection of the work; undefined if it resolves. */
export async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Fails a test unless `holds` is true. */
export function must(holds: boolean, statement: string): asserts holds {
  if (!holds) throw new Error(`Contract broken: ${statement}`)
}

/** Fails a test unless both values have the same JSON. */
export function mustEqual(actual: unknown, expected: unknown, statement: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  must(is === should, `${statement}: expected ${should}, got ${is}`)
}

/** Fails a test unless what was thrown has a message. An error may come from another realm, as in Jest. */
export function mustBeError(thrown: unknown, statement: string): void {
  const { message } = Object(thrown) as { readonly message?: unknown }
  must(typeof message === 'string', `${statement}: it rejects with an error, not with a bare ${typeof thrown}`)
}

/** Fails a test unless the work rejects: with an `InlayError` of the given code, or with any error. */
export async function mustReject(
  work: () => Promise<unknown>,
  code: ErrorCode | undefined,
  statement: string,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (code === undefined) return mustBeError(error, statement)
    const actual = isInlayError(error) ? error.code : String(error)
    must(actual === code, `${statement}: expected a rejection with ${code}, got ${actual}`)
    return
  }
  must(false, `${statement}: it did not reject`)
}

/** After the timeout, work gets this many more event loop turns, since the process may have been suspended. */
const lastTurns = 20

/** Fails a test unless the work resolves or rejects in time. */
export async function mustSettle(work: Promise<unknown>, patienceMs: number, statement: string): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const giveUp = async (): Promise<void> => {
    for (let turn = 0; turn < lastTurns; turn++) await yieldToEventLoop()
    resolve('late')
  }
  const timer = setTimeout(() => void giveUp(), patienceMs)
  const settled = work.then(
    () => 'settled',
    () => 'settled',
  )
  try {
    must((await Promise.race([settled, late])) === 'settled', `${statement}: it does not settle`)
  } finally {
    clearTimeout(timer)
  }
}

const stopped = new Error('stopped')

/**
 * Fails a test unless a call rejects in time with the reason of its signal: when it has aborted before, and when it aborts
 * while the call runs. @param options.mayEnd whether the second call may also have been done
 */
export async function mustAbort(
  call: (signal: AbortSignal) => Promise<unknown>,
  {
    when = ['before', 'while'],
    patienceMs = 10_000,
    mayEnd = false,
  }: { readonly when?: readonly ('before' | 'while')[]; readonly patienceMs?: number; readonly mayEnd?: boolean } = {},
): Promise<void> {
  for (const aborts of when) {
    const stop = new AbortController()
    if (aborts === 'before') stop.abort(stopped)
    const rejection = rejectionOf(call(stop.signal))
    stop.abort(stopped)
    await mustSettle(rejection, patienceMs, `a call that is aborted ${aborts} it runs`)
    const isDone = mayEnd && aborts === 'while' && (await rejection) === undefined
    must(isDone || (await rejection) === stopped, `aborted ${aborts} it runs, it rejects with the reason of its signal`)
  }
}
