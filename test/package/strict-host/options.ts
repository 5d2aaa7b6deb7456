/**
 * Every optional member that a host may give also takes `undefined`, as `process.env.NAME` is it. A type error of this
 * file names those that do not, such as `"client: createClient.apiKey"`.
 */
import * as inlay from 'inlay'
import type * as agent from 'inlay/agent'
import * as client from 'inlay/client'
import type * as conformance from '@inlay/conformance'
import type * as drivers from 'inlay/drivers'
import type * as knowledge from 'inlay/knowledge'
import type * as page from 'inlay/page'
import type * as protocol from 'inlay/protocol'
import type * as server from 'inlay/server'
import type * as testing from 'inlay/testing'

inlay.createInlay({
  apiKey: process.env['NONE'],
  authenticate: () => ({ id: 'ana', email: undefined, scopes: ['chat'] }),
})
const chat = client.createClient({ baseUrl: 'http://localhost', apiKey: process.env['NONE'] })
export const answer = () => chat.send({ message: 'Hello', llm_override: { temperature: undefined } })

/** Types that are looked into no further: calls, and what the platform or other packages define. */
type Opaque =
  | ((...given: never) => unknown)
  | Date
  | Uint8Array
  | ReadableStream
  | AbortSignal
  | Request
  | Response
  | Headers
  | Blob
  | URL
  | URLSearchParams
type Shallower = [never, 0, 1, 2, 3]

/** Paths of optional members that do not take `undefined`. */
type Exact<Given, Path extends string, Depth extends number = 3> = [Depth] extends [never]
  ? never
  : Given extends Opaque
    ? never
    : Given extends readonly (infer Item)[]
      ? Exact<Item, `${Path}[]`, Shallower[Depth]>
      : Given extends object
        ? string extends keyof Given
          ? never
          : {
              [Name in keyof Given & string]-?:
                | Exact<NonNullable<Given[Name]>, `${Path}.${Name}`, Shallower[Depth]>
                | ({} extends Pick<Given, Name>
                    ? { [Same in Name]: undefined } extends Pick<Given, Name>
                      ? never
                      : `${Path}.${Name}`
                    : never)
            }[keyof Given & string]
        : never

type ExactOfCalls<Calls, Path extends string> = {
  [Name in keyof Calls & string]: Calls[Name] extends (...given: infer Given) => unknown
    ? Exact<Given[number], `${Path}${Name}`>
    : never
}[keyof Calls & string]

type ExactOfMethods<Part, Path extends string> = {
  [Name in keyof Part & string]: Part[Name] extends (...given: never) => unknown
    ? never
    : ExactOfCalls<Part[Name], `${Path}${Name}.`>
}[keyof Part & string]

/** The models of the AI SDK and the pools of databases are not ours to define. */
type Foreign =
  | `drivers: ${string}.model.${string}`
  | `drivers: ${string}.${'pool' | 'client'}.${string}`
  | `testing: scriptedModel${string}`

type Refusing =
  | ExactOfCalls<typeof inlay, 'inlay: '>
  | ExactOfCalls<typeof agent, 'agent: '>
  | ExactOfCalls<typeof client, 'client: '>
  | ExactOfCalls<typeof conformance, 'conformance: '>
  | ExactOfCalls<typeof drivers, 'drivers: '>
  | ExactOfCalls<typeof knowledge, 'knowledge: '>
  | ExactOfCalls<typeof page, 'page: '>
  | ExactOfCalls<typeof protocol, 'protocol: '>
  | ExactOfCalls<typeof server, 'server: '>
  | ExactOfCalls<typeof testing, 'testing: '>
  | ExactOfCalls<client.Client, 'Client: '>
  | ExactOfMethods<client.Client, 'Client: '>
  | ExactOfCalls<inlay.Inlay, 'Inlay: '>
  | ExactOfMethods<inlay.Inlay, 'Inlay: '>
  | Exact<inlay.Principal, 'Principal'>

export const none = (refusing: `${Exclude<Refusing, Foreign>}`): never => refusing
