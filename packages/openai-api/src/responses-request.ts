import type { Action, AnswerParameters, ClientTool } from '@inlay/agent'
import { boolean, integer } from '@inlay/protocol'
import * as v from 'valibot'
import type { readMessages } from './chat-messages.ts'
import { absent, between, checkNames, count, object, responseFormatOf, toolChoiceOf } from './chat-request.ts'
import { contentSchema } from './content.ts'
import { invalid } from './errors.ts'

/** An item of `input`; which fields it needs depends on its type. */
const itemSchema = v.object({
  type: v.nullish(v.string()),
  id: v.nullish(v.string()),
  role: v.nullish(v.picklist(['system', 'developer', 'user', 'assistant'])),
  content: contentSchema,
  call_id: v.nullish(v.string()),
  name: v.nullish(v.string()),
  arguments: v.nullish(v.string()),
  output: contentSchema,
})

export const itemsSchema = v.array(itemSchema)

export type InputItem = v.InferOutput<typeof itemSchema>

const toolSchema = v.looseObject({
  type: v.string(),
  name: absent(v.pipe(v.string(), v.regex(/^[\w.-]{1,128}$/))),
  description: absent(v.string()),
  parameters: absent(object),
  strict: absent(boolean),
  vector_store_ids: absent(v.array(v.string())),
  filters: absent(v.unknown()),
  max_num_results: absent(v.pipe(integer, v.minValue(1), v.maxValue(50))),
})

/** What is known of a request; other fields are ignored. */
export const responseRequestSchema = v.object({
  model: v.string(),
  input: v.union([v.string(), itemsSchema]),
  instructions: absent(v.string()),
  tools: absent(v.array(toolSchema)),
  tool_choice: absent(
    v.union([v.picklist(['auto', 'none', 'required']), v.looseObject({ type: v.string(), name: absent(v.string()) })]),
  ),
  include: absent(v.array(v.string())),
  text: absent(
    v.looseObject({
      format: absent(
        v.looseObject({
          type: v.picklist(['text', 'json_object', 'json_schema']),
          name: absent(v.string()),
          description: absent(v.string()),
          schema: absent(object),
        }),
      ),
    }),
  ),
  stream: absent(boolean),
  store: absent(boolean),
  background: absent(boolean),
  previous_response_id: absent(v.string()),
  conversation: absent(v.union([v.string(), v.object({ id: v.string() })])),
  metadata: absent(object),
  temperature: between(0, 2),
  top_p: between(0, 1),
  max_output_tokens: count,
  reasoning: absent(
    v.looseObject({ effort: absent(v.picklist(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])) }),
  ),
  user: absent(v.string()),
})

export type ResponseRequest = v.InferOutput<typeof responseRequestSchema>

/** Tools of OpenAI's API that are actions of Inlay. */
const ownTools: Readonly<Record<string, readonly string[]>> = {
  file_search: ['SearchTool'],
  web_search: ['WebSearchTool', 'OpenURLTool'],
  web_search_preview: ['WebSearchTool', 'OpenURLTool'],
  code_interpreter: ['PythonTool'],
  image_generation: ['ImageGenerationTool'],
}

/** @param actions those that the caller may use */
export function readTools({ tools, tool_choice: choice }: ResponseRequest, actions: readonly Action[]) {
  const [own, allowed, storeIds]: [ClientTool[], Set<number>, string[]] = [[], new Set(), []]
  let [filters, param, maxPassages]: [unknown, string, number | undefined] = [undefined, 'tools', undefined]
  for (const [at, tool] of (tools ?? []).entries()) {
    if (tool.type === 'function') {
      if (!tool.name) throw invalid(`tools.${at}.name`, 'A function needs a name.', 'missing_required_parameter')
      const { name, description, parameters, strict } = tool
      own.push({ name, description, parameters, strict })
      continue
    }
    for (const { id } of actionsOf(tool.type, actions, `tools.${at}`)) allowed.add(id)
    if (tool.filters && filters)
      throw invalid(`tools.${at}.filters`, 'One search is made of all stores: put the filters into one tool.')
    if (tool.filters) [filters, param] = [tool.filters, `tools.${at}.filters`]
    storeIds.push(...(tool.vector_store_ids ?? []))
    // One search is made for all such tools.
    if (tool.max_num_results) maxPassages = Math.max(maxPassages ?? 0, tool.max_num_results)
  }
  checkNames(own)
  const named = typeof choice === 'object' && choice.type === 'function' ? choice.name : undefined
  const isOwn = typeof choice === 'object' ? choice.type !== 'function' : choice === 'required' && own.length === 0
  const [forced] = isOwn && typeof choice === 'object' ? actionsOf(choice.type, actions, 'tool_choice') : []
  const wanted = isOwn ? 'auto' : typeof choice === 'object' ? { function: { name: named ?? '' } } : choice
  return {
    message: {
      ...(allowed.size > 0 && { allowed_tool_ids: [...allowed] }),
      ...(forced && { forced_tool_id: forced.id }),
    },
    client: {
      maxPassages,
      tools: choice === 'none' ? [] : own,
      toolChoice: toolChoiceOf({ tool_choice: wanted }, own),
    },
    stores: { storeIds, filters, param },
  }
}

function actionsOf(type: string, actions: readonly Action[], param: string): readonly Action[] {
  if (type === 'mcp')
    throw invalid(
      param,
      'MCP servers of a request are not called: an administrator adds them at the server, with POST /admin/mcp/servers/create or the option mcpServers. The agent then calls their tools by itself.',
    )
  const kinds = Object.hasOwn(ownTools, type) ? ownTools[type]! : []
  const usable = actions.filter(({ builtIn }) => builtIn !== null && kinds.includes(builtIn))
  if (usable.length > 0) return usable
  throw invalid(
    param,
    kinds.length > 0
      ? `The tool "${type}" is not set up here: leave it out.`
      : `The tool "${type.slice(0, 60)}" is not supported: take function, ${Object.keys(ownTools).join(', ')}.`,
  )
}

export function parametersOf(body: ResponseRequest): AnswerParameters {
  return {
    temperature: body.temperature,
    topP: body.top_p,
    maxOutputTokens: body.max_output_tokens,
    reasoning: body.reasoning?.effort,
    responseFormat: responseFormatOf(body.text?.format, 'text.format'),
  }
}

type Messages = Parameters<typeof readMessages>[0]

/** Items as messages of a chat, which say the same in other words. Items of own tools and reasoning say nothing to it. */
export function toMessages(input: ResponseRequest['input']): Messages {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const messages: Messages[number][] = []
  for (const [at, item] of input.entries()) {
    const type = item.type ?? 'message'
    if (type === 'function_call') {
      if (!item.call_id || !item.name)
        throw invalid(`input.${at}`, 'A function_call needs its call_id and name.', 'missing_required_parameter')
      const call = { id: item.call_id, function: { name: item.name, arguments: item.arguments } }
      const last = messages.at(-1)
      if (last?.tool_calls) last.tool_calls.push(call)
      else messages.push({ role: 'assistant', content: '', tool_calls: [call] })
    } else if (type === 'function_call_output')
      messages.push({ role: 'tool', content: item.output, tool_call_id: item.call_id })
    else if (type === 'message') {
      if (!item.role) throw invalid(`input.${at}.role`, 'A message needs a role.', 'missing_required_parameter')
      messages.push({ role: item.role, content: item.content })
    }
  }
  return messages
}
