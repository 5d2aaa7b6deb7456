import { isJsonObject } from '@inlay/protocol'
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'

function valueFor(schema: unknown, question: string): unknown {
  if (!isJsonObject(schema)) return question
  if ('default' in schema) return schema['default']
  if ('const' in schema) return schema['const']
  const choices = schema['enum']
  if (Array.isArray(choices)) return choices[0]
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  if (type === 'array') return [valueFor(schema['items'], question)]
  if (type === 'object') return objectFor(schema, question)
  if (type === 'number' || type === 'integer') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
  if (type === 'boolean') return false
  return question
}

function objectFor(schema: Record<string, unknown>, question: string): Record<string, unknown> {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const listed = Array.isArray(schema['required']) ? schema['required'].map(String) : []
  const names = listed.length > 0 ? listed : Object.keys(properties).slice(0, 1)
  return Object.fromEntries(names.map((name) => [name, valueFor(properties[name], question)]))
}

/** Creates arguments that match a tool's schema without understanding it: string fields get the question. */
export function argumentsFor(tool: LanguageModelV4FunctionTool | undefined, question: string): Record<string, unknown> {
  return objectFor(isJsonObject(tool?.inputSchema) ? tool.inputSchema : {}, question)
}
