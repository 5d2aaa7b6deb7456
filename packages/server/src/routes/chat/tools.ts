import {
  customToolSchema,
  customToolUpdateSchema,
  hasScope,
  InlayError,
  queryInteger,
  toolMethodsSchema,
  toolSnapshotSchema,
  toolStatusSchema,
  toolStatusUpdateSchema,
  toolValidationSchema,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'
import { listCustomTools, listSnapshots, toolPermissions, toSnapshot, toStoredSnapshot } from './tool-snapshots.ts'

const route = routesOf('Actions', { scope: 'admin', owner: 'any' })
const toolPath = v.object({ tool_id: queryInteger({}) })
// A document of 30 million characters as a JSON string.
const documentLimit = 48 * 2 ** 20
const definitionErrors = ['VALIDATION_ERROR', 'BAD_REQUEST', 'BAD_GATEWAY', 'GATEWAY_TIMEOUT', 'UNSUPPORTED'] as const

export const toolRoutes: readonly Route[] = [
  route('GET /tool', 'listTools', 'List actions', {
    scope: 'chat',
    owner: 'caller',
    description:
      'Lists the actions that the caller may use now; use their ids in `allowed_tool_ids` and `forced_tool_id`. ' +
      'The functions of one custom action share its id and are one entry.',
    answer: { description: 'The actions.', schema: v.array(toolSnapshotSchema) },
    handle: ({ caller, parts }) => listSnapshots(parts.agent, caller),
  }),
  route('GET /tool/openapi', 'listCustomTools', 'List custom actions', {
    scope: 'chat',
    owner: 'caller',
    description:
      'Lists the actions made from OpenAPI documents that the caller may use, with its permissions. ' +
      'Administrators also see disabled actions and the documents.',
    answer: { description: 'The actions.', schema: v.array(toolSnapshotSchema) },
    async handle({ caller, parts }) {
      const permissions = toolPermissions(caller)
      const tools = await listCustomTools(parts.agent, caller)
      return tools
        .filter(({ isEnabled }) => isEnabled || hasScope(caller, 'admin'))
        .map((tool) => ({ ...toStoredSnapshot(tool, caller), permissions }))
    },
  }),
  route('GET /tool/{tool_id}', 'getTool', 'One action', {
    scope: 'chat',
    owner: 'caller',
    input: { path: toolPath },
    answer: { description: 'The action.', schema: toolSnapshotSchema },
    errors: ['NOT_FOUND', 'INSUFFICIENT_PERMISSIONS'],
    async handle({ path, caller, parts }) {
      const { tool_id: id } = path
      const stored = (await listCustomTools(parts.agent, caller)).find((tool) => tool.id === id)
      if (stored && (stored.isEnabled || hasScope(caller, 'admin'))) return toStoredSnapshot(stored, caller)
      const shown = (await listSnapshots(parts.agent, caller)).find((snapshot) => snapshot.id === id)
      if (shown) return shown
      const off = (await parts.agent.actions(caller, { evenOff: true })).find((action) => action.id === id)
      if (off && hasScope(caller, 'admin')) return { ...toSnapshot(off), enabled: false }
      if (stored || (off && !off.needsGrant))
        throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'This action cannot be selected.' })
      throw new InlayError('NOT_FOUND', { message: 'There is no action with this id that you may use.' })
    },
  }),
  route('POST /admin/tool/custom', 'createCustomTool', 'Create a custom action', {
    description:
      'Operations of the OpenAPI document become functions that models can call: those chosen with `operations`, or ' +
      'the first 100 that can be called; `skipped` lists the others. Agents have the action if their `tool_ids` ' +
      'contain its id, the default agent if `default_enabled` is true.',
    input: { body: { kind: 'json', schema: customToolSchema, limit: documentLimit } },
    answer: { description: 'The action.', schema: toolSnapshotSchema },
    errors: [...definitionErrors, 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ body, caller, parts }) {
      refuseOAuth(body.oauth_config_id)
      const { name, description, definition, custom_headers: customHeaders, passthrough_auth: passesAuth } = body
      const { default_enabled: isForAll, operations, server_url: serverUrl } = body
      const chosen = { operations: operations ?? undefined, serverUrl: serverUrl ?? undefined }
      const fields = { name, description, definition, customHeaders, passesAuth, isForAll, ...chosen }
      return toStoredSnapshot(await parts.agent.tools.create(fields, caller), caller)
    },
  }),
  route('PUT /admin/tool/custom/{tool_id}', 'updateCustomTool', 'Change a custom action', {
    description:
      'Absent and null fields stay unchanged; `custom_headers: []` removes the headers. Without `definition`, ' +
      '`operations` chooses among those that the action has.',
    input: { path: toolPath, body: { kind: 'json', schema: customToolUpdateSchema, limit: documentLimit } },
    answer: { description: 'The action.', schema: toolSnapshotSchema },
    errors: ['NOT_FOUND', ...definitionErrors, 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ path, body, caller, parts }) {
      refuseOAuth(body.oauth_config_id)
      const changed = await parts.agent.tools.update(path.tool_id, {
        name: body.name ?? undefined,
        description: body.description ?? undefined,
        definition: body.definition ?? undefined,
        operations: body.operations ?? undefined,
        serverUrl: body.server_url ?? undefined,
        customHeaders: body.custom_headers ?? undefined,
        passesAuth: body.passthrough_auth ?? undefined,
        isForAll: body.default_enabled ?? undefined,
      })
      return toStoredSnapshot(changed, caller)
    },
  }),
  route('DELETE /admin/tool/custom/{tool_id}', 'deleteCustomTool', 'Delete a custom action', {
    description: 'Refused while an agent uses the action. Built-in actions cannot be deleted.',
    input: { path: toolPath },
    answer: { description: 'It is gone.', schema: v.null() },
    errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
    async handle({ path, caller, parts }) {
      const tools = await parts.agent.tools.list()
      const isOther = !tools.some(({ id }) => id === path.tool_id)
      if (isOther && (await parts.agent.actions(caller)).some(({ id }) => id === path.tool_id)) {
        throw new InlayError('VALIDATION_ERROR', { message: 'Only custom actions can be deleted.' })
      }
      await parts.agent.tools.remove(path.tool_id)
    },
  }),
  route('PATCH /admin/tool/status', 'updateToolStatus', 'Enable or disable actions', {
    description: 'Applies to everybody and to actions of any kind; unknown ids are ignored.',
    input: { body: toolStatusUpdateSchema },
    answer: { description: 'The changed actions.', schema: toolStatusSchema },
    async handle({ body, parts }) {
      const ids = await parts.agent.tools.enable(body.tool_ids, body.enabled)
      return { updated_count: ids.length, tool_ids: ids }
    },
  }),
  route('POST /admin/tool/custom/validate', 'validateCustomTool', 'Validate an OpenAPI document', {
    owner: 'none',
    description: 'Returns the functions that can be chosen from it, and what cannot be called; nothing is stored.',
    input: { body: { kind: 'json', schema: toolValidationSchema, limit: documentLimit } },
    answer: { description: 'The functions.', schema: toolMethodsSchema },
    errors: definitionErrors,
    async handle({ body, parts }) {
      const { definition, server_url: serverUrl } = body
      return parts.agent.tools.validate({ definition, serverUrl: serverUrl ?? undefined })
    },
  }),
]

function refuseOAuth(id: number | null): void {
  if (id === null) return
  throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
    message: 'OAuth for actions is not supported: omit oauth_config_id.',
  })
}
