export interface ModelLimits {
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly takesImages: boolean
  readonly reasons: boolean
  /** Whether it is known to call tools. */
  readonly callsTools: boolean
}

type Family = readonly [names: RegExp, contextTokens: number, takesImages: boolean, reasons: boolean]

const openAiReasons = /^(?:o\d|gpt-[5-9](?!.*chat))/

// Families by the beginning of their names, as their makers document them; the first that fits counts.
const families: readonly Family[] = [
  [/^gpt-4\.1/, 1_000_000, true, false],
  [/^gpt-[5-9](?!.*chat)/, 272_000, true, true],
  [/^gpt-[5-9]/, 128_000, true, false],
  [/^gpt-4o|^gpt-4-turbo|^chatgpt-4o/, 128_000, true, false],
  [/^gpt-4/, 8_192, false, false],
  [/^gpt-3\.5/, 16_385, false, false],
  [/^o\d-mini/, 128_000, false, true],
  [/^o\d/, 200_000, true, true],
  [/^claude-(?:[12]\b|instant|3-(?:opus|sonnet|haiku)|3[.-]5)/, 200_000, true, false],
  [/^claude-/, 200_000, true, true],
  [/^gemini-(?:1|2\.0)/, 1_000_000, true, false],
  [/^gemini-/, 1_000_000, true, true],
  [/^grok-(?:3|code)/, 131_072, false, false],
  [/^grok-/, 256_000, true, false],
]

// Weights that anyone may serve, with a smaller window: a server that tells its own is asked. Their effort has many forms.
const openFamilies: readonly Family[] = [
  [/^deepseek-(?:chat|reasoner|v[3-9])/, 128_000, false, false],
  [/^kimi-k2(?:-0905|-thinking)/, 262_144, false, false],
  [/^kimi-k2\./, 262_144, true, false],
  [/^kimi-k2/, 131_072, false, false],
  [/^glm-4\.\dv/, 65_536, true, false],
  [/^glm-(?:4\.[6-9]|[5-9])/, 200_000, false, false],
  [/^glm-4\.5/, 131_072, false, false],
  [/^qwen3-vl-(?:plus|235b)/, 262_144, true, false],
  [/^qwen3-(?:max|coder|235b|next)/, 262_144, false, false],
  [/^(?:mistral|pixtral)-(?:large|medium|small)-(?:latest|25[01]\d|26\d\d)/, 128_000, true, false],
  [/^(?:mistral-(?:large|medium|small)|magistral|codestral|devstral)-/, 128_000, false, false],
  [/^llama-4-/, 131_072, true, false],
]

const ofType: Readonly<Record<string, ModelLimits>> = {
  openai: { contextTokens: 128_000, takesImages: true, reasons: false, callsTools: true },
  anthropic: { contextTokens: 200_000, takesImages: true, reasons: false, callsTools: true },
}

const maker = /^(?:[a-z-]{2,6}\.)?(?:anthropic|mistral|meta|deepseek|openai|qwen)\./

/** Gateways and model hubs put the maker in front of a name, Bedrock also the region. */
const ownName = (name: string): string =>
  name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(maker, '')

// Small models are named after those that they learned from. The 17b of Llama 4 are of each of its experts.
const small = /(?<!^)(?:gemma|qwen|llama)|distill|gguf|mamba|(?:^|[-_:])[1-3]?\d(?:\.\d)?b\b(?!-\d+e)/

const isOf =
  (name: string) =>
  ([names]: readonly [RegExp, ...unknown[]]): boolean =>
    names.test(ownName(name)) && !small.test(ownName(name))

/** Whether a model's weights are open, so that its window depends on who serves it. */
export const isOpen = (name: string): boolean => openFamilies.some(isOf(name))

/** Whether a model takes `max_completion_tokens` in place of `max_tokens`, and no temperature while it reasons. */
export const isOpenAiReasoner = (name: string): boolean => isOf(name)([openAiReasons])

/** Limits of a model by its name, otherwise of its type of provider; 32,000 tokens without images if unknown. */
export function knownModel(providerType: string, name: string): ModelLimits {
  const family = [...families, ...openFamilies].find(isOf(name))
  if (family === undefined)
    return ofType[providerType] ?? { contextTokens: 32_000, takesImages: false, reasons: false, callsTools: false }
  const [, contextTokens, takesImages, reasons] = family
  return { contextTokens, takesImages, reasons, callsTools: true }
}
