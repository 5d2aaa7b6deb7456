import { argumentFaults, InlayError, isInlayError, isJsonObject, type JsonObject } from '@inlay/protocol'
import type { Action, ActionResult, ActionTurn, InputSchema } from '@inlay/agent'
import type { FetchAddress, StoredTool } from './contracts.ts'
import { parseOpenApi, type OpenApiOperation } from './openapi-document.ts'
import { factsOf, fillArguments, fillText, withPresets } from './openapi-placeholders.ts'
import { upgraded } from './openapi-reader.ts'
import { faultsOf, shownArguments, toInputSchema, toRequest } from './openapi-request.ts'
import { tellAnswer } from './openapi-response.ts'

export interface OpenApiActionsOptions {
  readonly fetchAddress: FetchAddress
}

const timeoutMs = 60_000
const maxBytes = 10 * 2 ** 20

/** Creates the actions of a stored tool: one per operation of its document, all with the tool's id. */
export async function createOpenApiActions(
  tool: StoredTool,
  options: OpenApiActionsOptions,
): Promise<Action<JsonObject>[]> {
  const own = new Set(tool.customHeaders.map(({ key }) => key.toLowerCase()))
  return parseOpenApi(await upgraded(tool.definition)).operations.map((operation) => {
    // What the tool sends by itself is not asked of the model.
    const parameters = operation.parameters.filter(
      ({ place, name }) => place !== 'header' || !own.has(name.toLowerCase()),
    )
    return toAction(tool, { ...operation, parameters }, options)
  })
}

function toAction(tool: StoredTool, operation: OpenApiOperation, options: OpenApiActionsOptions): Action<JsonObject> {
  const { id } = tool
  const { name, summary, description, method, path } = operation
  return {
    id,
    name,
    displayName: tool.name,
    description: [...new Set([summary, description])].filter((text) => text !== '').join('\n') || `${method} ${path}`,
    builtIn: null,
    needsGrant: !tool.isForAll,
    isReadOnly: /^(?:get|head)$/i.test(operation.method),
    serverName: tool.name,
    input: inputOf(operation),
    start: () => ({ type: 'custom_tool_start', tool_name: name, tool_id: id }),
    run: async (input, turn) => {
      try {
        return await call(tool, operation, { input, turn }, options)
      } catch (error) {
        if (isInlayError(error) || turn.signal.aborted) throw error
        // This error does not come from the tool's author and may contain internal details.
        throw new InlayError('INTERNAL_ERROR', { message: `${name} failed for an unexpected reason.`, cause: error })
      }
    },
  }
}

function inputOf(operation: OpenApiOperation): InputSchema<JsonObject> {
  const schema = toInputSchema(operation)
  return {
    '~standard': {
      version: 1,
      vendor: 'inlay',
      jsonSchema: { input: () => ({ ...schema }) },
      validate: (value) => {
        if (!isJsonObject(value)) return { issues: [{ message: 'an object of arguments is expected' }] }
        const input = withPresets(operation, value)
        // Presets are no part of what the model wrote, and what is missing is told with them.
        const faults = [...argumentFaults(value, { ...schema, required: [] }), ...faultsOf(operation, input)]
        return faults.length > 0 ? { issues: faults.map((message) => ({ message })) } : { value: input }
      },
    },
  }
}

async function call(
  tool: StoredTool,
  operation: OpenApiOperation,
  { input, turn }: { readonly input: JsonObject; readonly turn: ActionTurn },
  { fetchAddress }: OpenApiActionsOptions,
): Promise<ActionResult> {
  const { name } = operation
  const facts = factsOf(turn)
  const filled = fillArguments(operation, input, facts)
  const shown = shownArguments(operation, filled)
  if (Object.keys(shown).length > 0) turn.emit({ type: 'custom_tool_args', tool_name: name, tool_args: shown })
  const request = toRequest(operation, filled, (template) => fillText(template, facts, encodeURIComponent))
  if (!URL.canParse(request.url))
    throw new InlayError('BAD_REQUEST', {
      message: `${name} has no valid address: the server in its OpenAPI document and the arguments do not form one.`,
    })
  const answer = await fetchAddress(request.url, {
    method: operation.method,
    headers: { accept: 'application/json, text/*;q=0.9, */*;q=0.5', ...request.headers, ...headersOf(tool, turn) },
    ...(request.body === undefined ? {} : { body: request.body }),
    signal: turn.signal,
    maxBytes,
    timeoutMs,
  })
  return tellAnswer({ name, id: tool.id }, answer, turn)
}

/** Headers of the tool, then those the host passes on; only tools that request it get the caller's `Authorization`. */
function headersOf({ customHeaders, passesAuth }: StoredTool, { headers = {} }: ActionTurn): Record<string, string> {
  const own = customHeaders.map(({ key, value }) => [key.toLowerCase(), value] as const)
  const passed = Object.entries(headers).filter(([name]) => name !== 'authorization')
  const authorization = passesAuth ? headers['authorization'] : undefined
  return {
    ...Object.fromEntries([...own, ...passed]),
    ...(authorization === undefined ? {} : { authorization }),
  }
}
