import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { gemini, geminiCompatible } from './gemini.ts'
import { deepseek, groq, kimi, mistral, openrouter, xai } from './hosted.ts'
import { llamaCpp, lmStudio, ollama, vllm } from './local.ts'
import { azure, openai } from './openai.ts'
import { openaiResponses } from './responses.ts'
import type { Provider } from './provider.ts'

/** All stand-ins, by the names that tests use. */
export const providers = {
  openai,
  openaiResponses,
  azure,
  anthropic,
  gemini,
  geminiCompatible,
  deepseek,
  kimi,
  mistral,
  groq,
  xai,
  openrouter,
  bedrock,
  ollama,
  vllm,
  llamaCpp,
  lmStudio,
} satisfies Record<string, Provider>

export type ProviderName = keyof typeof providers
export const providerNames = Object.keys(providers) as ProviderName[]
