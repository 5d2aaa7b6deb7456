import type { LanguageModelV4 } from '@ai-sdk/provider'
import { installed, toMissing } from '../installed.ts'

export { isModelObject } from './model-object.ts'

/** Access to a provider, as the AI SDK names it. */
export interface ProviderAccess {
  readonly name: string
  readonly baseURL?: string
  readonly apiKey?: string
  readonly headers: Record<string, string>
  readonly fetch: typeof globalThis.fetch
}

type Factory = (access: ProviderAccess) => (modelId: string) => LanguageModelV4

/** A provider with a package of its own in the AI SDK. */
export interface OfficialProvider {
  /** Usual environment variable of its key. */
  readonly keyVariable: string
  /** Whether its package finds other credentials in the environment. */
  readonly hasOtherCredentials?: boolean
  /** Under which name its package reads `providerOptions`. Default: the prefix. */
  readonly optionsKey?: string
  /** Loads the package. @throws UNSUPPORTED that names the command when it is not installed */
  readonly load: () => Promise<Factory>
}

const optional = (name: string, keyVariable: string, load: () => Promise<Factory>): OfficialProvider => ({
  keyVariable,
  load: () => installed(name, load),
})

/** In the order in which they are offered. */
export const officialPrefixes = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'groq',
  'azure',
  'xai',
  'cohere',
  'amazon-bedrock',
  'openrouter',
] as const

/** Prefix of a model's name that stands for a provider. */
export type OfficialPrefix = (typeof officialPrefixes)[number]

/** By the prefix of a model's name. Packages that not every host needs are installed by the host. */
export const officialProviders: Readonly<Record<OfficialPrefix, OfficialProvider>> = {
  // Chat completions rather than responses: the one form that gateways and local servers speak too.
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    load: async () => chatOf((await import('@ai-sdk/openai')).createOpenAI),
  },
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    load: async () => (await import('@ai-sdk/anthropic')).createAnthropic,
  },
  google: optional(
    '@ai-sdk/google',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    async () => (await import('@ai-sdk/google').catch(toMissing)).createGoogle,
  ),
  mistral: optional(
    '@ai-sdk/mistral',
    'MISTRAL_API_KEY',
    async () => (await import('@ai-sdk/mistral').catch(toMissing)).createMistral,
  ),
  deepseek: optional(
    '@ai-sdk/deepseek',
    'DEEPSEEK_API_KEY',
    async () => (await import('@ai-sdk/deepseek').catch(toMissing)).createDeepSeek,
  ),
  groq: optional(
    '@ai-sdk/groq',
    'GROQ_API_KEY',
    async () => (await import('@ai-sdk/groq').catch(toMissing)).createGroq,
  ),
  azure: optional('@ai-sdk/azure', 'AZURE_API_KEY', async () =>
    chatOf((await import('@ai-sdk/azure').catch(toMissing)).createAzure),
  ),
  xai: optional('@ai-sdk/xai', 'XAI_API_KEY', async () => (await import('@ai-sdk/xai').catch(toMissing)).createXai),
  cohere: optional(
    '@ai-sdk/cohere',
    'COHERE_API_KEY',
    async () => (await import('@ai-sdk/cohere').catch(toMissing)).createCohere,
  ),
  'amazon-bedrock': {
    ...optional(
      '@ai-sdk/amazon-bedrock',
      'AWS_BEARER_TOKEN_BEDROCK',
      async () => (await import('@ai-sdk/amazon-bedrock').catch(toMissing)).createAmazonBedrock,
    ),
    hasOtherCredentials: true,
    optionsKey: 'amazonBedrock',
  },
  openrouter: optional(
    '@openrouter/ai-sdk-provider',
    'OPENROUTER_API_KEY',
    async () => (await import('@openrouter/ai-sdk-provider').catch(toMissing)).createOpenRouter,
  ),
}

function chatOf(create: (access: ProviderAccess) => { chat: ReturnType<Factory> }): Factory {
  return (access) => create(access).chat
}

export const isOfficial = (type: string): type is OfficialPrefix => Object.hasOwn(officialProviders, type)

/** The provider in front of a model's name, as in `deepseek/deepseek-chat`; undefined for any other name. */
export function providerIn(name: string): OfficialPrefix | undefined {
  const [, prefix = ''] = /^([a-z-]+)\/./.exec(name) ?? []
  return isOfficial(prefix) ? prefix : undefined
}

/** Whether a provider is only reached with a key that Inlay hands on. */
export const needsKey = (type: OfficialPrefix): boolean => officialProviders[type].hasOtherCredentials !== true

/** The forms of a model's name that need no base URL. */
export const officialForms: string = officialPrefixes.map((prefix) => `"${prefix}/<model>"`).join(', ')
