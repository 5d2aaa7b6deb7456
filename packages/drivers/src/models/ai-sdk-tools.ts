import type { Action, ActionTurn, HostAction, InputSchema } from '@inlay/agent'
import { InlayError, isJsonObject } from '@inlay/protocol'
import { jsonSchemaInput } from '../json-schema-input.ts'

/** The part of a tool of the AI SDK that is used here. */
export interface AiSdkTool {
  readonly description?: unknown
  readonly title?: string | undefined
  /**
   * Zod 4, any other Standard Schema with JSON Schema, or what `jsonSchema()`, `zodSchema()` and `valibotSchema()`
   * give.
   */
  readonly inputSchema: unknown
  // The AI SDK types input and options by each tool's own schemas, which no common type fits.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly execute?: ((input: any, options: any) => unknown) | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly toModelOutput?: ((options: any) => unknown) | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly needsApproval?: boolean | ((input: any, options: any) => boolean | PromiseLike<boolean>) | undefined
}

/**
 * Converts tools of the AI SDK to actions: `createInlay({ actions: aiSdkTools({ weather, orders }) })`. A tool gets the
 * abort signal, the id of the call, the conversation as `messages`, and a `context` with `caller` (the principal),
 * `sessionId` and `messageId`. If a tool yields several outputs, the last one is used.
 * @param tools by the name that the model sees: letters, digits, `_` and `-`
 * @throws UNSUPPORTED for a tool that runs elsewhere; VALIDATION_ERROR for a schema without JSON Schema
 */
export function aiSdkTools(tools: Readonly<Record<string, AiSdkTool>>): HostAction[] {
  return Object.entries(tools).map(([name, tool]) => toAction(name, tool))
}

function toAction(name: string, tool: AiSdkTool): HostAction {
  const { execute, description, title = name, needsApproval = false } = tool
  if (execute === undefined) {
    throw unsupported(`The tool ${name} has no execute: it would run in a page or at a provider.`)
  }
  return {
    name,
    displayName: title,
    description: typeof description === 'string' ? description : title,
    builtIn: null,
    input: toInputSchema(name, tool.inputSchema),
    needsApproval:
      typeof needsApproval === 'function' ? async (input: unknown) => needsApproval(input, {}) : needsApproval,
    run: async (input: unknown, turn): ReturnType<Action['run']> => {
      const output = await lastOutput(execute(input, toOptions(turn)))
      const { toolCallId } = turn
      if (!tool.toModelOutput) return { text: asText(output) }
      return { text: toText(await tool.toModelOutput({ toolCallId, input, output })) }
    },
  }
}

const unsupported = (message: string): InlayError => new InlayError('UNSUPPORTED', { message })

function toOptions(turn: ActionTurn): object {
  const { caller, sessionId, messageId, toolCallId, signal, userMessage } = turn
  const past = (turn.messages ?? []).map(({ role, text }) => ({ role, content: text }))
  const context = { caller, sessionId, messageId }
  return {
    toolCallId,
    messages: [...past, { role: 'user', content: userMessage }],
    abortSignal: signal,
    context,
    // Its name in AI SDK versions before 7.
    experimental_context: context,
  }
}

async function lastOutput(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let last: unknown
  // A value with this symbol is an async iterable.
  for await (const output of result as AsyncIterable<unknown>) last = output
  return last
}

/** Text of what `toModelOutput` gave: its text or JSON, other strings as they are, anything else as JSON. */
function toText(output: unknown): string {
  const { type, value, reason } = isJsonObject(output) ? output : {}
  if (type === 'error-text' || type === 'error-json' || type === 'execution-denied')
    throw new Error(asText(value ?? reason ?? 'The tool was not run.'))
  if (type === 'text' || type === 'json') return asText(value)
  if (type !== 'content' || !Array.isArray(value)) return asText(output)
  return value.flatMap((part: unknown) => (isJsonObject(part) ? (part['text'] ?? []) : [])).join('\n')
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'Done.'))

function toInputSchema(name: string, given: unknown): InputSchema {
  const schema = typeof given === 'function' && !('~standard' in given) ? given() : given
  if (hasStandard(schema)) return schema
  if (!isSdkSchema(schema) || !isJsonObject(schema.jsonSchema) || 'then' in schema.jsonSchema) {
    throw new InlayError('VALIDATION_ERROR', {
      message: `The input schema of the tool ${name} gives no JSON Schema: use zod 4, or wrap it by zodSchema() or jsonSchema() of ai.`,
    })
  }
  const { jsonSchema, validate } = schema
  if (validate === undefined) return jsonSchemaInput(jsonSchema)
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      jsonSchema: { input: () => ({ ...jsonSchema }) },
      validate: async (value) => toOutcome(await validate(value)),
    },
  }
}

// The value is known to be an object here.
const isObject = (value: unknown): value is Record<string, unknown> =>
  (typeof value === 'object' || typeof value === 'function') && value !== null

function hasStandard(schema: unknown): schema is InputSchema {
  const standard = isObject(schema) ? schema['~standard'] : undefined
  return isObject(standard) && isObject(standard['jsonSchema'])
}

/** Result of `jsonSchema()` of the AI SDK. */
const isSdkSchema = (
  schema: unknown,
): schema is { readonly jsonSchema: unknown; readonly validate?: (value: unknown) => unknown } =>
  isObject(schema) && 'jsonSchema' in schema

function toOutcome(result: unknown) {
  if (isJsonObject(result) && result['success'] === true) return { value: result['value'] }
  const error = isJsonObject(result) ? result['error'] : undefined
  return { issues: [{ message: error instanceof Error ? error.message : 'The arguments do not fit the schema.' }] }
}
