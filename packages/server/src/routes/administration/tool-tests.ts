import type { Action } from '@inlay/agent'
import { InlayError, queryInteger, type Principal } from '@inlay/protocol'
import {
  toolFunctionsSchema,
  toolTestRequestSchema,
  toolTestSchema,
  type ToolTest,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'

const route = routesOf('Actions', { scope: 'admin', owner: 'any' })
const toolPath = v.object({ tool_id: queryInteger({}) })
const timeoutMs = 60_000
const maxResultLength = 20_000

export const toolTestRoutes: readonly Route[] = [
  route('GET /admin/tool/{tool_id}/functions', 'listToolFunctions', 'Functions of an action', {
    description: 'With the JSON Schema of their arguments, as models get them.',
    input: { path: toolPath },
    answer: { description: 'The functions.', schema: toolFunctionsSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const actions = await actionsOf(path.tool_id, caller, parts)
      return {
        functions: actions.map(({ name, description, input }) => ({
          name,
          description,
          parameters: input['~standard'].jsonSchema.input({ target: 'draft-07' }),
        })),
      }
    },
  }),
  route('POST /admin/tool/{tool_id}/test', 'testTool', 'Call an action', {
    description:
      'Calls a function of an OpenAPI document or an MCP server with these arguments, as a model would: it has the effects ' +
      'that the function has. Answers 200 also when the call fails, with the reason. Built-in actions need a chat.',
    input: { path: toolPath, body: toolTestRequestSchema },
    answer: { description: 'The result.', schema: toolTestSchema },
    errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
    async handle({ path, body, caller, parts, request }) {
      const actions = await actionsOf(path.tool_id, caller, parts)
      const action =
        body.name === null && actions.length === 1 ? actions[0] : actions.find(({ name }) => name === body.name)
      if (action === undefined)
        throw new InlayError('VALIDATION_ERROR', {
          message: `"name" has to be one of: ${actions.map(({ name }) => name).join(', ')}.`,
        })
      if (action.builtIn !== null)
        throw new InlayError('VALIDATION_ERROR', { message: 'A built-in action needs a chat: ask a question there.' })
      return callAction(action, body.arguments, caller, request.signal)
    },
  }),
]

/** The functions with this id, also while they are switched off. */
async function actionsOf(id: number, caller: Principal, { agent }: ServerParts): Promise<readonly Action[]> {
  const actions = (await agent.actions(caller, { evenOff: true })).filter((action) => action.id === id)
  if (actions.length > 0) return actions
  throw new InlayError('NOT_FOUND', { message: 'No action with this id can be called now.' })
}

async function callAction(
  action: Action,
  given: Readonly<Record<string, unknown>>,
  caller: Principal,
  aborted: AbortSignal,
): Promise<ToolTest> {
  const startedAt = performance.now()
  const end = (ok: boolean, result: string): ToolTest => ({
    ok,
    result: result.slice(0, maxResultLength),
    duration_ms: Math.round(performance.now() - startedAt),
  })
  const checked = await action.input['~standard'].validate(given)
  if (checked.issues !== undefined) return end(false, checked.issues.map(({ message }) => message).join('; '))
  try {
    const { text } = await action.run(checked.value, {
      caller,
      sessionId: '',
      messageId: 0,
      userMessage: '',
      toolCallId: 'test',
      arguments: given,
      signal: AbortSignal.any([aborted, AbortSignal.timeout(timeoutMs)]),
      emit: () => {},
      cite: (documents) => documents.map((_, index) => index + 1),
    })
    return end(true, text)
  } catch (error) {
    return end(false, error instanceof Error ? error.message : 'The call failed.')
  }
}
