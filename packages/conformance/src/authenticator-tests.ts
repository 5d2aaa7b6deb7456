import { isInlayError, scopes, type Principal } from '@inlay/protocol'
import { must, type ConformanceTest } from './contract.ts'
import type { Authenticator } from '@inlay/server'

/** An authenticator to test, with headers for test requests. */
export interface AuthenticatorUnderTest {
  readonly authenticate: Authenticator
  /** Headers of known callers, each of a different caller. */
  readonly known: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]]
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
  const toTest = (title: string, check: (given: AuthenticatorUnderTest) => Promise<void>): ConformanceTest => [
    title,
    async () => {
      const given = await make()
      try {
        await check(given)
      } finally {
        await given.close?.()
      }
    },
  ]
  return [...acceptanceTests(toTest), ...refusalTests(toTest)]
}

type ToTest = (title: string, check: (given: AuthenticatorUnderTest) => Promise<void>) => ConformanceTest

function acceptanceTests(toTest: ToTest): ConformanceTest[] {
  return [
    toTest('a caller it knows has an id, and scopes there are', async ({ authenticate, known }) => {
      for (const headers of known) {
        const caller = await knownCaller(authenticate, headers)
        must(caller.id.trim() !== '', 'the id is not blank')
        must(caller.scopes.length > 0, 'there is a scope')
        must(
          caller.scopes.every((scope) => (scopes as readonly string[]).includes(scope)),
          `scopes are of ${scopes.join(', ')}`,
        )
      }
    }),
    toTest('the same headers mean the same caller, whenever and beside whomever', async ({ authenticate, known }) => {
      const alone: unknown[] = []
      for (const headers of known) alone.push(await knownCaller(authenticate, headers))
      const many = Array.from({ length: 5 }, () => known).flat()
      const together = await Promise.all(many.map(async (headers) => knownCaller(authenticate, headers)))
      for (const [at, caller] of together.entries())
        must(JSON.stringify(caller) === JSON.stringify(alone[at % known.length]), 'nobody is taken for somebody else')
    }),
    toTest('the body of a request is not touched', async ({ authenticate, known }) => {
      for (const headers of known) {
        const request = toRequest(headers, 'what is asked')
        await authenticate(request)
        must(!request.bodyUsed && (await request.text()) === 'what is asked', 'the body can still be read')
      }
    }),
  ]
}

function refusalTests(toTest: ToTest): ConformanceTest[] {
  return [
    toTest('nobody is known without credentials', async ({ authenticate }) => {
      must((await refusalOf(authenticate, {})) === 'undefined', 'the answer is undefined')
    }),
    toTest('credentials that it does not accept are nobody’s', async ({ authenticate, known, unknown = [] }) => {
      const cut = known.map((headers) => mapValues(headers, (value) => value.slice(0, -1)))
      const longer = known.map((headers) => mapValues(headers, (value) => `${value}x`))
      for (const headers of [...unknown, ...cut, ...longer]) {
        const refusal = await refusalOf(authenticate, headers)
        must(refusal !== 'a caller', 'nobody gets in by what is nearly right')
        must(refusal === 'undefined' || refusal === 'an error of Inlay', 'it says so by undefined or an InlayError')
      }
    }),
    toTest('headers of any form are survived', async ({ authenticate }) => {
      const strange = [
        '',
        'Bearer',
        'Bearer ',
        'Basic YTpi',
        `Bearer ${'x'.repeat(5_000)}`,
        'Bearer \u00FF\u00FE',
        '%00',
      ]
      for (const authorization of strange) {
        const refusal = await refusalOf(authenticate, { authorization })
        must(refusal === 'undefined' || refusal === 'an error of Inlay', 'nobody is known by it, and nothing breaks')
      }
    }),
  ]
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
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))
}
