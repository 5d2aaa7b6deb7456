/** What matters of a model for building its prompt. */
export interface ModelLimits {
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly takesImages: boolean
  /** Whether it is known to call tools by itself. */
  readonly callsTools: boolean
}

// Families by the beginning of their names, as their makers document them; the first that fits counts.
const families: readonly (readonly [RegExp, number, boolean])[] = [
  [/^gpt-4\.1/, 1_000_000, true],
  [/^gpt-5/, 272_000, true],
  [/^gpt-4o|^gpt-4-turbo|^chatgpt-4o/, 128_000, true],
  [/^gpt-4/, 8_192, false],
  [/^gpt-3\.5/, 16_385, false],
  [/^o\d-mini/, 128_000, false],
  [/^o\d/, 200_000, true],
  [/^claude-/, 200_000, true],
  [/^gemini-/, 1_000_000, true],
]

const ofType: Readonly<Record<string, ModelLimits>> = {
  openai: { contextTokens: 128_000, takesImages: true, callsTools: true },
  anthropic: { contextTokens: 200_000, takesImages: true, callsTools: true },
}

/** Limits of a model by its name, else of its type of provider; 32,000 tokens without images when nothing is known. */
export function knownModel(providerType: string, name: string): ModelLimits {
  // Gateways put the maker in front.
  const ownName = name.slice(name.lastIndexOf('/') + 1)
  const [, contextTokens, takesImages] = families.find(([pattern]) => pattern.test(ownName)) ?? []
  if (contextTokens !== undefined && takesImages !== undefined) return { contextTokens, takesImages, callsTools: true }
  return ofType[providerType] ?? { contextTokens: 32_000, takesImages: false, callsTools: false }
}
