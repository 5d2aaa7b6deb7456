import { isForeign } from '../tools/fit-tools.ts'
import { callsAsText } from './refused-messages.ts'
import { stepFor, type Refusal, type Step } from './step.ts'

const noTools =
  /(?:not|n't) support (?:tools?|functions?|tool use|function calling)\b|support tool use|auto\W{0,3}tool choice requires|tools param requires|unexpected keyword argument '?tools\b|tools?(?: use| calling)? (?:is|are) not supported|function calling is not (?:supported|enabled)/i
const unknownField =
  /unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|not permitted|not (?:be )?support|unsupported/i
const namesTools = /["'`.\s(]tools["'`\s:,)](?!.{0,40}(?:array|too))/
const noThinking = /tools with reasoning_effort are not supported/i

/** Change the tools of a request, or leave them out, where a refusal names them. */
export const toolSteps: readonly Step[] = [
  stepFor(
    'thinking with tools',
    ({ text, call }) => hasTools(call) && noThinking.test(text),
    (call) => (hasTools(call) ? { ...call, reasoning: 'none' } : call),
  ),
  stepFor('tools', refusesAll, ({ tools: _tools, toolChoice: _choice, ...call }) => ({
    ...call,
    prompt: callsAsText(call.prompt, () => true),
  })),
]

function refusesAll(refusal: Refusal): boolean {
  const { text, refused } = refusal
  const isThinking = noThinking.test(text) && refused.has('thinking with tools')
  return mayRefuseTools(refusal) && (isThinking || noTools.test(text))
}

/** Leaves out the tools of a server that does not know the field at all, which is not said of one tool, or of their number. */
export const unknownTools: Step = {
  read: (refusal) => {
    const { status, text } = refusal
    const isUnknown = mayRefuseTools(refusal) && status !== 500 && unknownField.test(text) && namesTools.test(text)
    return isUnknown ? ['tools'] : []
  },
}

export const toolName = (name: string): string => `the tool ${name}`

/** Leaves out tools that are no part of Inlay: those of MCP servers, OpenAPI documents and the host. */
export const foreignTools: Step = {
  read: ({ call: { tools = [] } }) => tools.flatMap((tool) => (isForeign(tool) ? toolName(tool.name) : [])),
  mend: withoutTools,
}

export function withoutTools(call: Refusal['call'], refused: ReadonlySet<string>): Refusal['call'] {
  const { tools: all = [], toolChoice, ...others } = call
  const tools = all.filter(({ name }) => !refused.has(toolName(name)))
  if (tools.length === all.length) return call
  if (tools.length === 0) return { ...others, prompt: callsAsText(call.prompt, () => true) }
  const isGone = toolChoice?.type === 'tool' && refused.has(toolName(toolChoice.toolName))
  return { ...call, tools, ...(isGone && { toolChoice: { type: 'auto' } }) }
}

const hasTools = ({ tools = [] }: Refusal['call']): boolean => tools.length > 0

export const mayRefuseTools = ({ status, call }: Refusal): boolean =>
  hasTools(call) && [400, 404, 405, 415, 422, 500, 501].includes(status)
