import type { LanguageModelV4 } from '@ai-sdk/provider'
import { installed, toMissing } from '../installed.ts'

export { isModelObject } from './model-object.ts'

/** Usual environment variable of a key, by the prefix of a model's name; in the order in which they are offered. */
export const keyVariables = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  groq: 'GROQ_API_KEY',
  azure: 'AZURE_API_KEY',
  xai: 'XAI_API_KEY',
  cohere: 'COHERE_API_KEY',
  'amazon-bedrock': 'AWS_BEARER_TOKEN_BEDROCK',
  openrouter: 'OPENROUTER_API_KEY',
} as const

/** Prefix of a model's name that stands for a provider with a package of its own in the AI SDK. */
export type OfficialPrefix = keyof typeof keyVariables

/** Access to a provider, as the AI SDK names it. */
export interface ProviderAccess {
  readonly name: string
  readonly baseURL?: string
  readonly apiKey?: string
  readonly headers: Record<string, string>
  readonly fetch: typeof globalThis.fetch
}

type Factory = (access: ProviderAccess) => (modelId: string) => LanguageModelV4

const factories: Readonly<Record<OfficialPrefix, () => Promise<Factory>>> = {
  // Chat completions rather than responses: the one form that gateways and local servers speak too.
  openai: async () => chatOf((await import('@ai-sdk/openai')).createOpenAI),
  anthropic: async () => (await import('@ai-sdk/anthropic')).createAnthropic,
  google: async () => (await import('@ai-sdk/google').catch(toMissing)).createGoogle,
  mistral: async () => (await import('@ai-sdk/mistral').catch(toMissing)).createMistral,
  deepseek: async () => (await import('@ai-sdk/deepseek').catch(toMissing)).createDeepSeek,
  groq: async () => (await import('@ai-sdk/groq').catch(toMissing)).createGroq,
  azure: async () => chatOf((await import('@ai-sdk/azure').catch(toMissing)).createAzure),
  xai: async () => (await import('@ai-sdk/xai').catch(toMissing)).createXai,
  cohere: async () => (await import('@ai-sdk/cohere').catch(toMissing)).createCohere,
  'amazon-bedrock': async () => (await import('@ai-sdk/amazon-bedrock').catch(toMissing)).createAmazonBedrock,
  openrouter: async () => (await import('@openrouter/ai-sdk-provider').catch(toMissing)).createOpenRouter,
}

function chatOf(create: (access: ProviderAccess) => { chat: ReturnType<Factory> }): Factory {
  return (access) => create(access).chat
}

/** Loads the package of a provider. @throws UNSUPPORTED that names the command when it is not installed */
export const loadOfficial = (type: OfficialPrefix): Promise<Factory> =>
  installed(type === 'openrouter' ? '@openrouter/ai-sdk-provider' : `@ai-sdk/${type}`, factories[type])

export const isOfficial = (type: string): type is OfficialPrefix => Object.hasOwn(keyVariables, type)

export const officialPrefixes: readonly OfficialPrefix[] = Object.keys(keyVariables).filter(isOfficial)

/** The provider in front of a model's name, as in `deepseek/deepseek-chat`; undefined for any other name. */
export function providerIn(name: string): OfficialPrefix | undefined {
  const [, prefix = ''] = /^([a-z-]+)\/./.exec(name) ?? []
  return isOfficial(prefix) ? prefix : undefined
}

/** Whether a provider is only reached with a key that Inlay hands on: the package of AWS finds other credentials. */
export const needsKey = (type: OfficialPrefix): boolean => type !== 'amazon-bedrock'

/** The forms of a model's name that need no base URL. */
export const officialForms: string = officialPrefixes.map((prefix) => `"${prefix}/<model>"`).join(', ')
