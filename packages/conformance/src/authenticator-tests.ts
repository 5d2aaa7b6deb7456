import { isInlayError, scopes, type Principal } from '@inlay/protocol'
import { must, mustEqual, toTests, withClosing, type Checks, type ConformanceTest } from './contract.ts'
import type { Authenticator } from '@inlay/server'

/** An authenticator to test, with headers for test requests. */
export interface AuthenticatorUnderTest {
  readonly authenticate: Authenticator
  /** Headers of known callers, each of a different caller. */
  readonly known: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]]
  /** Who these callers are, in the same order. Default: they are only told apart from each other. */
  readonly principals?: readonly Pick<Principal, 'id' | 'scopes'>[]
  /** Well-formed headers that it must not accept: a wrong key, an expired session. Default: none. */
  readonly unknown?: readonly Readonly<Record<string, string>>[]
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** Creates an authenticator; called for each test. */
export type MakeAuthenticator = () => AuthenticatorUnderTest | Promise<AuthenticatorUnderTest>

/**
 * Requirements of every `Authenticator`, as a list for any test runner.
 * @example for (const [title, run] of authenticatorConformance(make)) test(title, run)
 */
export function authenticatorConformance(make: MakeAuthenticator): ConformanceTest[] {
  return toTests({ ...acceptanceChecks, ...refusalChecks }, (check) => withClosing(make, check))
}

const acceptanceChecks: Checks<AuthenticatorUnderTest> = {
  async 'a caller it knows has an id, and scopes there are'({ authenticate, known }) {
    for (const headers of known) {
      const caller = await knownCaller(authenticate, headers)
      must(caller.id.trim() !== '', 'the id is not blank')
      must(caller.scopes.length > 0, 'there is a scope')
      must(
        caller.scopes.every((scope) => (scopes as readonly string[]).includes(scope)),
        `scopes are of ${scopes.join(', ')}`,
      )
    }
  },
  async 'the same headers mean the same caller, whenever and beside whomever'({ authenticate, known }) {
    const alone: string[] = []
    for (const headers of known) alone.push(JSON.stringify(await knownCaller(authenticate, headers)))
    const many = Array.from({ length: 5 }, () => known).flat()
    const together = await Promise.all(many.map(async (headers) => knownCaller(authenticate, headers)))
    for (const [at, caller] of together.entries())
      must(JSON.stringify(caller) === alone[at % known.length], 'nobody is taken for somebody else')
  },
  async 'each known caller is somebody else, and stays so'({ authenticate, known, principals }) {
    const callers: Principal[] = []
    const before: string[] = []
    for (const headers of known) {
      const caller = await knownCaller(authenticate, headers)
      callers.push(caller)
      before.push(JSON.stringify(caller))
    }
    must(new Set(callers.map(({ id }) => id)).size === known.length, 'no two callers have the same id')
    for (const [at, caller] of callers.entries())
      must(JSON.stringify(caller) === before[at], 'a later request does not change an earlier caller')
    const identity = ({ id, scopes }: Pick<Principal, 'id' | 'scopes'>): unknown => [id, scopes.toSorted()]
    if (principals) mustEqual(callers.map(identity), principals.map(identity), 'who the callers are')
  },
  async 'the body of a request is not touched'({ authenticate, known }) {
    for (const headers of known) {
      const request = toRequest(headers, 'what is asked')
      await authenticate(request)
      must(!request.bodyUsed && (await request.text()) === 'what is asked', 'the body can still be read')
    }
  },
}

/** The credential itself, without a scheme or the name of a cookie before it. */
const credential = /(?<![^\s=;,])[^\s=;,]+(?==*$)/

/** Changes that make credentials wrong, if only a little. */
const nearly: readonly ((value: string) => string)[] = [
  (value) => value.slice(0, -1),
  (value) => `${value}x`,
  (value) => `${value},anything`,
  (value) => value.replace(credential, 'x$&'),
  (value) => value.replace(credential, (text) => text.replaceAll(/\p{L}/gu, swapCase)),
]

const swapCase = (letter: string): string =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()

const refusalChecks: Checks<AuthenticatorUnderTest> = {
  async 'nobody is known without credentials'({ authenticate, known }) {
    await knownCaller(authenticate, known[0])
    must((await refusalOf(authenticate, {})) === 'undefined', 'the answer is undefined')
  },
  async 'credentials that it does not accept are nobody’s'({ authenticate, known, unknown = [] }) {
    const wrong = known.flatMap((headers) => nearly.map((change) => mapValues(headers, change)))
    const joined = known.map((headers) =>
      mapValues(headers, (value, name) => known.map((other) => other[name] ?? value).join(', ')),
    )
    const others = [...wrong, ...(known.length > 1 ? joined : [])].filter(
      (headers) => !known.some((right) => JSON.stringify(right) === JSON.stringify(headers)),
    )
    await knownCaller(authenticate, known[0])
    for (const headers of [...unknown, ...others]) {
      const refusal = await refusalOf(authenticate, headers)
      must(refusal !== 'a caller', 'nobody gets in by what is nearly right')
      must(refusal === 'undefined' || refusal === 'an error of Inlay', 'it says so by undefined or an InlayError')
    }
  },
  async 'headers of any form are survived'({ authenticate }) {
    const strange = ['', 'Bearer', 'Bearer ', 'Basic YTpi', `Bearer ${'x'.repeat(5_000)}`, 'Bearer \u00FF\u00FE', '%00']
    for (const authorization of strange) {
      const refusal = await refusalOf(authenticate, { authorization })
      must(refusal === 'undefined' || refusal === 'an error of Inlay', 'nobody is known by it, and nothing breaks')
    }
  },
}

function toRequest(headers: Readonly<Record<string, string>>, body: string): Request {
  return new Request('http://host.example/api/chat/send-chat-message', { method: 'POST', headers, body })
}

async function knownCaller(authenticate: Authenticator, headers: Readonly<Record<string, string>>): Promise<Principal> {
  const caller = await authenticate(toRequest(headers, '{}'))
  if (!caller) throw new Error('ConformanceTest broken: a caller that is to be known is not')
  return caller
}

type Refusal = 'undefined' | 'a caller' | 'an error of Inlay' | 'an error'

async function refusalOf(authenticate: Authenticator, headers: Readonly<Record<string, string>>): Promise<Refusal> {
  try {
    return (await authenticate(toRequest(headers, '{}'))) ? 'a caller' : 'undefined'
  } catch (error) {
    return isInlayError(error) ? 'an error of Inlay' : 'an error'
  }
}

function mapValues(
  headers: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value, name)]))
}
