import { declaredName, fitCall, fitTool, isForeign } from '../tools/fit-tools.ts'
import { refusal as names, rulesOf } from '../tools/tool-rules.ts'
import { mayRefuseTools, toolName, withoutTools } from './refused-tools.ts'
import type { Refusal, Step } from './step.ts'

type Tools = NonNullable<Refusal['call']['tools']>

// Words of OpenAI, Anthropic, Ollama, Gemini and llama.cpp.
const reasons: readonly (readonly [said: RegExp, refused: string])[] = [
  [/at the top level/i, names.isPlainAtTop],
  [/missing items|items: missing field/i, names.hasItems],
  [/property keys should match/i, names.isNamedPlainly],
  [/cannot unmarshal bool/i, names.isWithoutBooleans],
  [/draft 2020-12/i, names.isWithoutTuples],
  [/function name.{0,40}start with a letter/i, names.isNamedByLetters],
  [/pattern must start|parse grammar|initialize samplers/i, names.keyword('pattern')],
]
const keywords = /unknown name\W{1,4}([$\w]{2,40})|['"`]([$\w]{2,40})['"`]:? is not (?:permitted|supported|allowed)/gi
// What these say is put in another form, not left out.
const indispensable =
  /^(?:type|properties|required|items|enum|const|\$ref|\$defs|definitions|allOf|anyOf|oneOf|parameters)$/
const aboutSchemas =
  /schema|tools?[.[]|toolSpec|function_declaration|tool .{0,80}parameters|pattern must start|unable to generate parser|failed to (?:parse|initialize) (?:grammar|samplers)|cannot unmarshal .{0,200}tool/i

/** Refusals of single tools after which all foreign ones get as little as any provider takes. */
const maxNamed = 4

/** Fits the tools to what a server takes; one whose schema it still refuses is left out by its name. */
export const schemaStep: Step = {
  read: (refusal) => (mayRefuseTools(refusal) ? readRefusal(refusal) : []),
  mend: fitCall,
}

function readRefusal({ text, call, refused }: Refusal): readonly string[] {
  const { tools: sent = [] } = fitCall(withoutTools(call, refused), refused)
  const limit = limitIn(text, sent.length)
  if (limit !== undefined) return [names.manyTools(limit)]
  const length = /description/i.test(text) ? Number(limits.exec(text)?.[1] ?? Number.NaN) : Number.NaN
  const long = sent.filter((tool) => tool.type === 'function' && (tool.description?.length ?? 0) > length)
  if (long.length > 0) return [`${names.longDescriptions(length)}: ${listOf(long)}`]
  if (!aboutSchemas.test(text) || /response_format|messages?[.[]\d/.test(text)) return []
  const said = [...text.matchAll(keywords)].map(([, unknown, refusedWord]) => unknown ?? refusedWord ?? '')
  const words = said.filter((word) => !indispensable.test(word)).map(names.keyword)
  for (const reason of [...reasons.flatMap(([pattern, part]) => (pattern.test(text) ? part : [])), ...words]) {
    const more = new Set([...refused, reason])
    const affected = sent.filter(({ name }) => differs(call, name, refused, more))
    if (affected.length > 0) return [`${reason}: ${listOf(affected)}`]
  }
  const strict = [...refused].filter((part) => part.startsWith(names.schemaOf('')))
  // A server that refuses one tool after the other refuses more.
  const named = strict.length < maxNamed ? namedTools(text, sent) : []
  const stricter = (tools: Tools): readonly string[] =>
    namesOf(tools)
      .filter((name) => differs(call, name, refused, new Set([...refused, names.schemaOf(name)])))
      .map(names.schemaOf)
  const left = named.length > 0 ? namesOf(named.filter(isForeign)).map(toolName) : stricter(sent)
  const plain = stricter(named.length > 0 ? named : sent.filter(isForeign))
  return plain.length > 0 ? plain : left
}

const namesOf = (tools: Tools): readonly string[] => tools.map(({ name }) => name)
const listOf = (tools: Tools): string => namesOf(tools.slice(0, 10)).join(', ')

type Refused = ReadonlySet<string>

/** Whether a tool would be sent in another form. */
function differs({ tools = [] }: Refusal['call'], name: string, refused: Refused, more: Refused): boolean {
  const tool = tools.find((each) => each.name === declaredName(name, tools))
  const [now, then] = [refused, more].map((set) => tool && JSON.stringify(fitTool(tool, rulesOf(set, name))))
  return now !== then
}

const ofTools =
  /array too long|number of (?:items|tools|functions)|tools? limit|too many (?:tools|functions)|function declarations can|than \d+ (?:tools|functions)|tools have been/i
const limits =
  /(?:maximum(?: length| number of \w+)?(?: is| of)?|at most|more than|less than or equal to|limit(?: is| of)?) (\d+)/i

/** The number of tools that a server takes, if a refusal names it or says that there are too many. */
function limitIn(text: string, count: number): number | undefined {
  if (!ofTools.test(text) || !/tool|function/i.test(text)) return undefined
  const limit = Number(limits.exec(text)?.[1] ?? Math.min(128, Math.floor(count / 2)))
  return limit > 0 && limit < count ? limit : undefined
}

/** The tools that a refusal names, by name or by place. */
function namedTools(text: string, sent: Tools): Tools {
  const said = new Set(
    [...text.matchAll(/['"`]([\w-]{1,64})\\?['"`]|(?:tool|function) ([\w-]{1,64})/g)].map(([, a, b]) => a ?? b),
  )
  const byName = sent.filter(({ name }) => said.has(name))
  if (byName.length > 0) return byName
  // Gemini numbers the functions in its one tool, AWS counts from 1.
  const isGemini = /function_declarations|request\.tools/.test(text)
  const places = isGemini ? /function_declarations\[(\d+)\]/g : /\btools(?:\[|\.|', )(\d+)(\.member)?/g
  const indices = new Set([...text.matchAll(places)].map(([, at, isFrom1]) => Number(at) - (isFrom1 ? 1 : 0)))
  const byPlace = sent.filter((_, at) => indices.has(at))
  if (byPlace.length > 0) return byPlace
  // Mistral and llama.cpp show the schema, or the part that they do not know.
  const shown = bare(text)
  const part = bare(/schema:? (\{[^}]*)/i.exec(text)?.[1] ?? '\0')
  return sent.filter((tool) => {
    const schema = tool.type === 'function' ? bare(JSON.stringify(tool.inputSchema)) : ''
    return shown.includes(schema) || schema.includes(part)
  })
}

const bare = (text: string): string => text.replace(/[\s'"\\]/g, '').toLowerCase()

/** What the known rules of a provider change of the tools of a call, which no refusal tells. */
export function knownChanges({ tools = [] }: Refusal['call'], sent: Refusal['call'], refused: Refused): string[] {
  const { maxTools } = rulesOf(refused)
  const reported = [...refused].join('\n')
  const schemas = new Set(sent.tools?.map((tool) => tool.type === 'function' && tool.inputSchema))
  const gone = tools.filter(
    (tool) => isForeign(tool) && !schemas.has(tool.inputSchema) && !reported.includes(tool.name),
  )
  const changed = gone.filter(({ name }) => sent.tools?.some((tool) => tool.name === name))
  return [
    ...(tools.length > maxTools ? [names.manyTools(maxTools)] : []),
    ...(changed.length > 0 ? [`the declared form of the schema of ${listOf(changed)}`] : []),
  ]
}
