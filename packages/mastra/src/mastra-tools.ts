import { InlayError, isJsonObject } from '@inlay/protocol'
import type { Action, ActionTurn, HostAction, InputSchema } from '@inlay/agent'

/** The part of a tool of Mastra's `createTool` that is used here. */
export interface MastraTool {
  /** The name the model sees: letters, digits, `_` and `-`. */
  readonly id: string
  readonly title?: string
  readonly description: string
  /** Mastra converts any schema it is given to a Standard Schema with JSON Schema. Absent: no arguments. */
  readonly inputSchema?: InputSchema
  // Mastra types input and context by each tool's own schemas, which no common type fits.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly execute?: (input: any, context: any) => unknown
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly toModelOutput?: (output: any) => unknown
  readonly requireApproval?: unknown
  readonly needsApprovalFn?: unknown
}

/**
 * Converts Mastra tools to actions, for `createInlay({ actions: mastraTools(weather, orders) })`. A tool gets the abort
 * signal, the id of the call, and a request context with `caller` (the principal), `sessionId` and `messageId`.
 */
export function mastraTools(...tools: readonly MastraTool[]): HostAction[] {
  return tools.map(toAction)
}

function toAction(tool: MastraTool): HostAction {
  const { id: name, title, description, inputSchema = noArguments } = tool
  return {
    name,
    displayName: title ?? name,
    description,
    builtIn: null,
    input: checkOnly(inputSchema),
    // Its own function takes a context that only Mastra has.
    needsApproval: (tool.requireApproval ?? false) !== false || tool.needsApprovalFn !== undefined,
    run: async (input: unknown, turn): ReturnType<Action['run']> => {
      const output = await tool.execute?.(input, await toContext(turn))
      if (isRefusal(output)) throw new Error(output.message)
      return { text: toResultText(tool.toModelOutput ? await tool.toModelOutput(output) : output) }
    },
  }
}

async function toContext({ caller, sessionId, messageId, toolCallId, signal }: ActionTurn): Promise<object> {
  // Mastra is loaded lazily.
  const { RequestContext } = await import('@mastra/core/request-context')
  const requestContext = new RequestContext(Object.entries({ caller, sessionId, messageId }))
  const suspend = async (): Promise<never> => {
    throw new InlayError('UNSUPPORTED', { message: 'Suspending is not offered here.' })
  }
  return { abortSignal: signal, requestContext, agent: { agentId: 'inlay', toolCallId, messages: [], suspend } }
}

const noArguments: InputSchema = {
  '~standard': {
    version: 1,
    vendor: 'inlay',
    validate: () => ({ value: {} }),
    jsonSchema: { input: () => ({ type: 'object', properties: {} }) },
  },
}

/** Checks arguments without changing them: the tool parses its arguments itself. */
function checkOnly(schema: InputSchema): InputSchema {
  const standard = schema['~standard']
  return {
    '~standard': {
      version: 1,
      vendor: standard.vendor,
      jsonSchema: standard.jsonSchema,
      validate: async (value) => {
        const outcome = await standard.validate(value)
        return outcome.issues === undefined ? { value } : outcome
      },
    },
  }
}

/** Error returned by Mastra when arguments or output do not match the tool's schemas. */
function isRefusal(output: unknown): output is { readonly message: string } {
  return (
    isJsonObject(output) &&
    output['error'] === true &&
    'validationErrors' in output &&
    typeof output['message'] === 'string'
  )
}

/** Text for the model: strings as they are, the text of content parts, anything else as JSON. */
export function toResultText(output: unknown): string {
  if (typeof output === 'string') return output
  if (isJsonObject(output) && output['type'] === 'text' && typeof output['value'] === 'string') return output['value']
  if (isJsonObject(output) && output['type'] === 'json') return JSON.stringify(output['value']) ?? 'null'
  if (isJsonObject(output) && output['type'] === 'content' && Array.isArray(output['value'])) {
    return output['value'].flatMap((part: unknown) => (isJsonObject(part) ? (part['text'] ?? []) : [])).join('\n')
  }
  return JSON.stringify(output) ?? 'Done.'
}
