import { InlayError, integer, queryInteger, scopes } from '@inlay/protocol'
import * as v from 'valibot'
import { workspaceOf } from '../../administration/workspace-of.ts'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Workspace', { scope: scopes, owner: 'none' })
const idList = v.pipe(v.array(integer), v.maxLength(1000))
const personaPath = v.object({ persona_id: queryInteger({}) })
const done = { description: 'Done.', schema: v.null() }
const disabledTools = v.object({ disabled_tool_ids: idList })
const counts = { total_items: v.number(), undismissed_count: v.number() }

/** Personal preferences, and lists that clients read at start but that are always empty here. */
export const preferenceRoutes: readonly Route[] = [
  route('GET /user/assistant/preferences', 'listAssistantPreferences', 'List disabled actions of the caller by agent', {
    scope: 'chat',
    owner: 'caller',
    answer: { description: 'By id of the agent.', schema: v.record(v.string(), disabledTools) },
    async handle({ caller, parts }) {
      const records = (await parts.workspace?.list('disabled_tools', caller.id)) ?? []
      return Object.fromEntries(records.map(({ id, value }) => [String(id), { disabled_tool_ids: value }]))
    },
  }),
  route('PATCH /user/assistant/{persona_id}/preferences', 'setAssistantPreferences', 'Disable actions of an agent', {
    scope: 'chat',
    owner: 'caller',
    description: 'Stored for clients, which omit these actions from `allowed_tool_ids`.',
    input: { path: personaPath, body: disabledTools },
    answer: done,
    errors: ['PERSONA_NOT_FOUND', 'NOT_IMPLEMENTED'],
    async handle({ path, body, caller, parts }) {
      await parts.agent.personas.get(path.persona_id, caller)
      await workspaceOf(parts).put('disabled_tools', path.persona_id, body.disabled_tool_ids, caller.id)
    },
  }),
  route('PATCH /user/pinned-assistants', 'pinAssistants', 'Pin agents', {
    scope: 'chat',
    owner: 'caller',
    description:
      'Replaces the list, which `GET /me` returns. The default agent and agents that the caller ' +
      'cannot see are dropped.',
    input: { body: v.object({ ordered_assistant_ids: idList }) },
    answer: done,
    errors: ['NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      const ids = [...new Set(body.ordered_assistant_ids)].filter((id) => id !== 0)
      const seen = new Set((await parts.agent.personas.list(caller, { ids })).map(({ id }) => id))
      const pinned = ids.filter((id) => seen.has(id))
      await workspaceOf(parts).put('pinned', 1, pinned, caller.id)
    },
  }),
  empty('/federated', 'listFederated', 'Connectors of other services', [], v.array(v.unknown())),
  empty('/federated/oauth-status', 'listFederatedSignIns', 'Sign-ins to other services', [], v.array(v.unknown())),
  empty('/user-oauth-token/status', 'listActionSignIns', 'Sign-ins to actions', [], v.array(v.unknown())),
  empty(
    '/voice/status',
    'voiceStatus',
    'Get availability of speech',
    { stt_enabled: false, tts_enabled: false },
    v.object({ stt_enabled: v.boolean(), tts_enabled: v.boolean() }),
  ),
  route('GET /mcp/servers/persona/{persona_id}', 'listPersonaMcpServers', 'List MCP servers that require sign-in', {
    scope: 'chat',
    description: 'Always empty: `GET /tool` lists the actions of MCP servers.',
    input: { path: v.object({ persona_id: queryInteger({}) }) },
    answer: { description: 'None.', schema: v.object({ mcp_servers: v.array(v.unknown()) }) },
    handle: () => ({ mcp_servers: [] }),
  }),
  route('GET /notifications', 'listNotifications', 'Notifications', {
    description: 'There are none.',
    input: {
      query: v.object({
        page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
        page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
      }),
    },
    answer: {
      description: 'An empty page.',
      schema: v.object({
        notifications: v.array(v.unknown()),
        ...counts,
        page_num: v.number(),
        page_size: v.number(),
        has_more: v.boolean(),
      }),
    },
    handle: ({ query }) => ({ notifications: [], total_items: 0, undismissed_count: 0, ...query, has_more: false }),
  }),
  empty(
    '/notifications/summary',
    'summarizeNotifications',
    'Count notifications',
    { total_items: 0, undismissed_count: 0 },
    v.object(counts),
  ),
  route('POST /notifications/dismiss-all', 'dismissNotifications', 'Dismiss all notifications', {
    answer: done,
    handle: () => null,
  }),
  route('POST /notifications/{notification_id}/dismiss', 'dismissNotification', 'Dismiss a notification', {
    description: 'There are none: always 404.',
    input: { path: v.object({ notification_id: queryInteger({}) }) },
    errors: ['NOT_FOUND'],
    handle() {
      throw new InlayError('NOT_FOUND', { message: 'No such notification.' })
    },
  }),
]

function empty(
  path: `/${string}`,
  operationId: string,
  summary: string,
  value: unknown,
  schema: v.GenericSchema,
): Route {
  return route(`GET ${path}`, operationId, summary, {
    description: 'Not supported.',
    answer: { description: 'Nothing.', schema },
    handle: () => value,
  })
}
