import { overBytes, overPixels } from './adapting/refused-pictures.ts'
import { refusal } from './tools/tool-rules.ts'

/** By the kind of provider, the host of its address and the name of the model; all that match count. */
const known: readonly (readonly [names: RegExp, refused: readonly string[]])[] = [
  // github.com/nspady/google-calendar-mcp/issues/39, modelscope/ms-agent/pull/610, getsentry/sentry-mcp/issues/106
  [
    /^(?:openai|azure) |api\.openai\.com|\.azure\.com|[\s/](?:gpt-(?!oss)|o\d\b)/,
    [refusal.isPlainAtTop, refusal.hasItems, refusal.longDescriptions(1024), refusal.manyTools(128)],
  ],
  // github.com/anthropics/claude-code/issues/5319, can1357/oh-my-pi/issues/1101, docs.anthropic.com on vision
  [
    /^(?:anthropic|amazon-bedrock) |api\.anthropic\.com|bedrock|[\s/.]claude/,
    [refusal.isPlainAtTop, refusal.isNamedPlainly, refusal.isWithoutTuples, overBytes(5_000_000), overPixels(8_000)],
  ],
  // github.com/google-gemini/gemini-cli/issues/2966 and 19083
  [/^google |generativelanguage|aiplatform|[\s/]gemini/, [refusal.isNamedByLetters, refusal.manyTools(512)]],
  // Google's own form takes JSON Schema; others hand on that of Gemini: pizza-bot-app/pizza-bot/issues/62
  [/^(?!google ).*(?:generativelanguage|aiplatform|[\s/]gemini)/, [refusal.isOpenApi]],
  // github.com/gsd-build/gsd-2/issues/4376, api-docs.deepseek.com
  [/^(?:groq|deepseek) |api\.(?:groq|deepseek)\.com/, [refusal.manyTools(128)]],
  // console.groq.com/docs/vision
  [/^groq |api\.groq\.com/, [overBytes(4_000_000)]],
  // docs.x.ai
  [/^xai |api\.x\.ai/, [refusal.manyTools(200)]],
  // github.com/ollama/ollama/issues/14256
  [/:11434\b|ollama/, [refusal.isWithoutBooleans]],
]

export function knownRefusals(names: string): readonly string[] {
  return known.flatMap(([pattern, refused]) => (pattern.test(names.toLowerCase()) ? refused : []))
}
