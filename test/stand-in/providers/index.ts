import { anthropic } from './anthropic.ts'
import { geminiCompatible } from './gemini.ts'
import { deepseek, kimi } from './hosted.ts'
import { openai } from './openai.ts'
import type { Provider } from './provider.ts'

/** All stand-ins, by the names that tests use. */
export const providers = { openai, anthropic, geminiCompatible, deepseek, kimi } satisfies Record<string, Provider>
