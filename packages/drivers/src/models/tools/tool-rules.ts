/** What servers refuse of tools, as operators read it. */
const flags = {
  isPlainAtTop: 'unions at the top of schemas',
  hasItems: 'lists without items in schemas',
  isNamedPlainly: 'unusual names of arguments',
  isWithoutBooleans: 'schemas that are true or false',
  /** `items` is one schema, as in JSON Schema 2020-12. */
  isWithoutTuples: 'lists of schemas for items',
  /** Only the keywords that Gemini knows, one type, choices that are texts, no references. */
  isOpenApi: 'JSON Schema beyond OpenAPI 3.0',
  isNamedByLetters: 'names of tools that begin with no letter',
} as const

type Flag = keyof typeof flags

export interface ToolRules extends Readonly<Record<Flag, boolean>> {
  /** As little as any provider takes: no unions at all. */
  readonly isStrict: boolean
  readonly keeps: (keyword: string) => boolean
  /** The same for the same rules. */
  readonly key: string
  readonly maxDescription: number
  readonly maxTools: number
}

export const refusal = {
  ...flags,
  keyword: (name: string) => `the keyword ${name} in schemas`,
  longDescriptions: (limit: number) => `descriptions of tools over ${limit} characters`,
  manyTools: (limit: number) => `more than ${limit} tools`,
  schemaOf: (tool: string) => `the schema of the tool ${tool}`,
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))
// Google's list of the fields of a schema.
const openApiKeywords = setOf(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum',
)
const strictKeywords = setOf('type description enum properties required items')

/**
 * The rules for a tool by what is refused; a name of it may go on with those of the tools that it was found in. A tool
 * whose schema was refused for a reason that is not known gets the least that any provider takes.
 */
export function rulesOf(refused: ReadonlySet<string>, tool = ''): ToolRules {
  const names = new Set([...refused].map((part) => part.split(': ')[0] ?? ''))
  const isOpenApi = names.has(flags.isOpenApi)
  const isStrict = refused.has(refusal.schemaOf(tool))
  return {
    ...toFlags((name) => names.has(name) || (isStrict && name !== flags.isNamedByLetters)),
    isStrict,
    keeps: (name) =>
      (!isOpenApi || openApiKeywords.has(name)) &&
      (!isStrict || strictKeywords.has(name)) &&
      !names.has(refusal.keyword(name)),
    key: `${isStrict} ${[...names].join()}`,
    maxDescription: Math.min(
      leastLimit(refused, refusal.longDescriptions),
      isStrict ? 1_000 : Number.POSITIVE_INFINITY,
    ),
    maxTools: leastLimit(refused, refusal.manyTools),
  }
}

/** The least of the limits that were refused; a name of a limit may go on with where it was met. */
export function leastLimit(refused: ReadonlySet<string>, nameOf: (limit: number) => string): number {
  const [before = '', after = ''] = nameOf(0).split('0')
  const limits = [...refused].flatMap((part) => {
    const [name = ''] = part.split(': ')
    return name.startsWith(before) && name.endsWith(after) ? Number(name.slice(before.length, -after.length)) : []
  })
  return Math.min(...limits)
}

function toFlags(isSet: (name: string) => boolean): Record<Flag, boolean> {
  // The names of the flags are the keys.
  return Object.fromEntries(Object.entries(flags).map(([flag, name]) => [flag, isSet(name)])) as Record<Flag, boolean>
}
