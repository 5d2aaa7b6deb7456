import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { geminiCompatible } from './gemini.ts'
import { deepseek, groq, kimi, mistral, openrouter, xai } from './hosted.ts'
import { llamaCpp, lmStudio, ollama, vllm } from './local.ts'
import { openai } from './openai.ts'
import type { Provider } from './provider.ts'

/** All stand-ins, by the names that tests use. */
export const providers = {
  openai,
  azure,
  anthropic,
  geminiCompatible,
  deepseek,
  kimi,
  mistral,
  groq,
  xai,
  openrouter,
  ollama,
  vllm,
  llamaCpp,
  lmStudio,
} satisfies Record<string, Provider>
