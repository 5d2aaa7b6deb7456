import { isJsonObject } from '@inlay/protocol'
import { callsAsText } from './refused-messages.ts'
import { stepFor, type Refusal, type Step } from './step.ts'

const noTools =
  /(?:not|n't) support (?:tools?|functions?|tool use|function calling)\b|support tool use|auto\W{0,3}tool choice requires|tools param requires|unexpected keyword argument '?tools\b|tools?(?: use| calling)? (?:is|are) not supported|function calling is not (?:supported|enabled)/i
const unknownField =
  /unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|not permitted|not (?:be )?support|unsupported/i
const namesTools = /["'`.\s(]tools["'`\s:,)](?!.{0,40}(?:array|too))/
const noThinking = /tools with reasoning_effort are not supported/i
const noSchema =
  /json schema conversion failed|unable to generate parser|failed to (?:parse|initialize) (?:grammar|samplers)|invalid (?:json )?schema|schema .{0,60}(?:not supported|unsupported|not permitted)|\$schema|unsupported .{0,20}schema/i

const refusedKeywords = new Set(['$schema', 'pattern', 'format', 'default', 'examples', '$id', '$comment'])
const plainKeywords = new Set(['type', 'properties', 'required', 'items', 'enum', 'description', 'anyOf'])

/** Change the tools of a request, or leave them out, where a refusal names them. */
export const toolSteps: readonly Step[] = [
  stepFor(
    'thinking with tools',
    ({ text, call }) => hasTools(call) && noThinking.test(text),
    (call) => (hasTools(call) ? { ...call, reasoning: 'none' } : call),
  ),
  schemaStep('schema keywords', (keyword) => !refusedKeywords.has(keyword)),
  schemaStep('schema details', (keyword) => plainKeywords.has(keyword)),
  stepFor('tools', refusesAll, ({ tools: _tools, toolChoice: _choice, ...call }) => ({
    ...call,
    prompt: callsAsText(call.prompt, () => true),
  })),
]

/** Whether a server says that it takes no tools. */
function refusesAll(refusal: Refusal): boolean {
  const { text, refused } = refusal
  const isThinking = noThinking.test(text) && refused.has('thinking with tools')
  return mayRefuseTools(refusal) && (isThinking || noTools.test(text))
}

/** Leaves out the tools of a server that does not know the field at all, which is not said of one tool, or of their number. */
export const unknownTools: Step = {
  read: (refusal) =>
    mayRefuseTools(refusal) &&
    refusal.status !== 500 &&
    unknownField.test(refusal.text) &&
    namesTools.test(refusal.text)
      ? ['tools']
      : [],
  mend: (call) => call,
}

const toolName = (name: string): string => `the tool ${name}`

/** Leaves out tools that are no part of Inlay: those of MCP servers, OpenAPI documents and the host. */
export const foreignTools: Step = {
  read: ({ call: { tools = [] } }) =>
    tools.flatMap((tool) =>
      tool.type === 'function' && tool.providerOptions?.['inlay']?.['isForeign'] === true ? toolName(tool.name) : [],
    ),
  mend: (call, refused) => {
    const tools = call.tools?.filter(({ name }) => !refused.has(toolName(name))) ?? []
    if (tools.length === (call.tools ?? []).length) return call
    const { tools: _, toolChoice, ...others } = call
    if (tools.length === 0) return { ...others, prompt: callsAsText(call.prompt, () => true) }
    const isGone = toolChoice?.type === 'tool' && refused.has(toolName(toolChoice.toolName))
    return { ...call, tools, ...(isGone && { toolChoice: { type: 'auto' } }) }
  },
}

const hasTools = ({ tools = [] }: Refusal['call']): boolean => tools.length > 0

const mayRefuseTools = ({ status, call }: Refusal): boolean =>
  hasTools(call) && [400, 404, 405, 415, 422, 500, 501].includes(status)

function schemaStep(part: string, keeps: (keyword: string) => boolean): Step {
  return stepFor(
    part,
    ({ text, call }) => hasTools(call) && noSchema.test(text),
    (call) => ({
      ...call,
      tools:
        call.tools?.map((tool) =>
          // The schema of an object without some of its keywords is one.
          tool.type === 'function' ? { ...tool, inputSchema: plainSchema(tool.inputSchema, keeps) as object } : tool,
        ) ?? [],
    }),
  )
}

function plainSchema(schema: unknown, keeps: (keyword: string) => boolean): unknown {
  if (Array.isArray(schema)) return schema.map((part) => plainSchema(part, keeps))
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => {
      // Arguments may have the name of a keyword.
      if (name === 'properties' && isJsonObject(value)) {
        return [[name, Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plainSchema(part, keeps)]))]]
      }
      return keeps(name) ? [[name, plainSchema(value, keeps)]] : []
    }),
  )
}
