import { isJsonObject, type JsonObject } from '@inlay/protocol'
import type { ActionTurn } from '@inlay/agent'
import type { OpenApiOperation } from './openapi-document.ts'
import { bodyArgument } from './openapi-parameters.ts'
import { toInputSchema } from './openapi-request.ts'

/** Values of a call by the placeholder for them in a document. */
export type CallFacts = Readonly<Record<string, string>>

// Not inside braces: there it is the name of a parameter.
const placeholder = /(?<![A-Za-z0-9_{])(CHAT_SESSION_ID|MESSAGE_ID|USER_ID|USER_EMAIL)(?![A-Za-z0-9_}])/

/** Values that OpenAPI documents can reference; an unknown e-mail address is "". */
export function factsOf({ sessionId, messageId, caller }: ActionTurn): CallFacts {
  return {
    CHAT_SESSION_ID: sessionId,
    MESSAGE_ID: String(messageId),
    USER_ID: caller.id,
    USER_EMAIL: caller.email ?? '',
  }
}

export function fillText(text: string, facts: CallFacts, write: (fact: string) => string = String): string {
  return text.replace(new RegExp(placeholder, 'g'), (word) => write(facts[word] ?? ''))
}

function mentions(schema: unknown): boolean {
  return placeholder.test(JSON.stringify(schema) ?? '')
}

/** The only value a schema allows, if it contains a placeholder. */
function presetOf(schema: unknown): unknown {
  if (!isJsonObject(schema)) return undefined
  const { default: preset, const: only, enum: choices } = schema
  const value = preset ?? only ?? (Array.isArray(choices) && choices.length === 1 ? (choices[0] as unknown) : undefined)
  return mentions(value) ? value : undefined
}

/**
 * Adds arguments that the document presets with a placeholder and the model left out. Placeholders are not replaced
 * yet, so values do not pass through the model.
 */
export function withPresets({ parameters, body }: OpenApiOperation, input: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...input }
  for (const { argument, schema } of parameters) result[argument] ??= presetOf(schema)
  const properties = body?.schema['properties']
  const given = result[bodyArgument] ?? (body?.isRequired === true ? {} : undefined)
  if (isJsonObject(properties) && isJsonObject(given)) {
    const presets = Object.entries(properties).flatMap(([name, schema]) => {
      const value = given[name] === undefined ? presetOf(schema) : undefined
      return value === undefined ? [] : [[name, value] as const]
    })
    if (presets.length > 0) result[bodyArgument] = { ...given, ...Object.fromEntries(presets) }
  }
  return result
}

/** Replaces placeholders in arguments where the document itself presets them. */
export function fillArguments(operation: OpenApiOperation, input: JsonObject, facts: CallFacts): JsonObject {
  const { properties } = toInputSchema(operation)
  const filled = Object.entries(input).map(([argument, value]) => [
    argument,
    mentions(properties[argument]) ? fillValue(value, facts) : value,
  ])
  return Object.fromEntries(filled)
}

function fillValue(value: unknown, facts: CallFacts): unknown {
  if (typeof value === 'string') return fillText(value, facts)
  if (Array.isArray(value)) return value.map((inner) => fillValue(inner, facts))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fillValue(inner, facts)]))
}
