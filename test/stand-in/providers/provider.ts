import type { ModelSpec } from '@inlay/drivers/model-providers'
import {
  startModelServer,
  type Dialect,
  type RecordedRequest,
  type Replies,
  type Reply,
  type StandIn,
} from '../model-server.ts'

export type Json = Readonly<Record<string, unknown>>

/** Why a provider refuses a request, in its own words. */
export interface Refusal {
  readonly message: string
  /** Default 400. */
  readonly status?: number
  readonly param?: string
  readonly code?: string
  readonly type?: string
}

/** The refusal, its words alone for a 400, or nothing. */
export type Outcome = Refusal | string | undefined | false

/** One thing that a provider demands of requests. */
export interface Rule {
  readonly name: string
  /** Where the provider, or somebody who met the rule, says so. */
  readonly source: string
  readonly refuses: (request: RecordedRequest) => Outcome
}

/** A provider as its clients meet it. */
export interface Provider {
  readonly title: string
  readonly rules: readonly Rule[]
  /** How it writes the answer to a request; undefined for a path that it does not have. */
  readonly dialect: (request: RecordedRequest) => Dialect | undefined
  /** Body of an error. */
  readonly error: (refusal: Refusal) => unknown
  /** Name of its model. */
  readonly modelId: string
  /** What `createInlay` is told that it speaks, to choose the provider's own client. */
  readonly api?: NonNullable<ModelSpec['api']>
  /** Path of its API. Default `/v1`. */
  readonly base?: string
  /** Whether its model takes pictures. */
  readonly seesPictures: boolean
  /** What other paths answer. */
  readonly others?: Readonly<Record<string, unknown>>
}

/** What `createInlay` is handed as `model`. */
export interface ProviderModel {
  readonly name: string
  readonly api?: NonNullable<ModelSpec['api']>
  readonly baseUrl: string
  readonly apiKey: string
  readonly contextTokens: number
  readonly grounding: 'tools'
  readonly takesImages: boolean
}

/** A running stand-in of a provider. `requests` are those it has answered. */
export interface ProviderStandIn extends StandIn {
  readonly model: ProviderModel
  /** The requests it has refused, and by which rule. */
  readonly refused: readonly { readonly rule: string; readonly message: string; readonly request: RecordedRequest }[]
}

/** Starts a provider that checks each request against all its rules, and answers by the script what keeps them. */
export async function startProvider(provider: Provider, script: Replies): Promise<ProviderStandIn> {
  const accepted: RecordedRequest[] = []
  const refused: ProviderStandIn['refused'][number][] = []
  const reply = (request: RecordedRequest): Reply => {
    for (const { name, refuses } of provider.rules) {
      const why = refuses(request)
      if (!why) continue
      const refusal = typeof why === 'string' ? { message: why } : why
      refused.push({ rule: name, message: refusal.message, request })
      return { status: refusal.status ?? 400, body: provider.error(refusal) }
    }
    const index = accepted.push(request) - 1
    return typeof script === 'function' ? script(request, index) : (script[index] ?? script.at(-1) ?? [])
  }
  const server = await startModelServer(reply, provider.dialect, provider.others)
  return {
    origin: server.origin,
    abandoned: server.abandoned,
    close: server.close,
    requests: accepted,
    refused,
    model: {
      name: provider.modelId,
      ...(provider.api && { api: provider.api }),
      baseUrl: server.origin + (provider.base ?? '/v1'),
      apiKey: 'not-a-real-key',
      contextTokens: 64_000,
      grounding: 'tools',
      takesImages: provider.seesPictures,
    },
  }
}

/** Where a rule was met: `owner/repository#number` on GitHub, which finds issues and pull requests by either word. */
export const github = (thread: string): string => `https://github.com/${thread.replace('#', '/issues/')}`

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** The objects in a list; none when it is no list. */
export const objects = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

/** The key must come in this header. */
export const keyed = (header: string, source: string, refusal: Refusal): Rule => ({
  name: 'key',
  source,
  refuses: ({ headers }) =>
    String(headers[header] ?? '').replace(/^Bearer\s*/, '') === '' && { status: 401, ...refusal },
})
