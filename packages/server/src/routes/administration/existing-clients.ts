import {
  baseFiltersSchema,
  boolean,
  complete,
  exactText,
  InlayError,
  integer,
  limitNames,
  queryBoolean,
  queryInteger,
  searchDocSchema,
  toUserId,
  type Principal,
  type SearchDoc,
} from '@inlay/protocol'
import {
  connectorSchema,
  credentialSchema,
  documentSizeInfoSchema,
  inputPromptSchema,
  mcpUserCredentialsSchema,
  ownUsagesSchema,
  searchHistorySchema,
  wireLimitName,
  type InputPrompt,
  type OwnUsages,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { credentialIdsOf, readLinkedRecords, toConnector, toCredential } from '../../administration/pair-view.ts'
import {
  userSettingId,
  type UserSettingName,
  type WorkspaceRecord,
  type WorkspaceValues,
} from '../../administration/workspace-records.ts'
import { workspaceOf } from '../../administration/workspace-of.ts'
import { periodOf } from '../../limits/usage-counters.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'

const own = routesOf('Workspace', { scope: 'chat', owner: 'caller' })
const administration = routesOf('Connectors', { scope: 'admin', owner: 'any' })
const search = routesOf('Search', { scope: 'search', owner: 'pair' })

const done = { description: 'Kept.', schema: v.null() }
/** Earlier versions had these below `/user`. */
const underUser = new Set(['/auto-scroll', '/temperature-override-enabled', '/shortcut-enabled'])
const speechSettings = v.object({
  auto_send: v.optional(v.nullable(boolean), null),
  auto_playback: v.optional(v.nullable(boolean), null),
  playback_speed: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0.25), v.maxValue(4))), null),
})
const promptPath = v.object({ prompt_id: queryInteger({ least: 1 }) })
const textOrNull = (maxLength: number): v.GenericSchema =>
  v.optional(v.nullable(v.pipe(v.string(), v.maxLength(maxLength))), null)
const promptFields = {
  prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  content: v.pipe(v.string(), v.minLength(1), v.maxLength(10_000)),
}
const maxPrompts = 500

/** Number of passages in an administrator's search. */
const adminLimit = 50
const dayMs = 86_400_000

export const existingClientRoutes: readonly Route[] = [
  setting('/user/default-model', 'setOwnDefaultModel', 'default_model', 'body', textOrNull(500)),
  setting('/user/theme-preference', 'setTheme', 'theme_preference', 'body', v.picklist(['light', 'dark', 'system'])),
  setting('/auto-scroll', 'setAutoScroll', 'auto_scroll', 'body', v.optional(v.nullable(boolean), null)),
  setting(
    '/temperature-override-enabled',
    'setTemperatureOverride',
    'temperature_override_enabled',
    'query',
    queryBoolean,
  ),
  setting('/shortcut-enabled', 'setShortcutEnabled', 'shortcut_enabled', 'query', queryBoolean),
  setting('/paste-as-tile', 'setPasteAsTile', 'paste_as_tile', 'query', queryBoolean),
  setting('/user/language', 'setLanguage', 'language', 'body', textOrNull(35)),
  setting('/user/chat-background', 'setChatBackground', 'chat_background', 'body', textOrNull(500)),
  setting(
    '/user/default-app-mode',
    'setDefaultAppMode',
    'default_app_mode',
    'body',
    v.pipe(v.string(), v.minLength(1), v.maxLength(50)),
  ),
  own('PATCH /voice/settings', 'setVoiceSettings', 'Set preferences for speech', {
    description: 'Stored for clients and returned in `preferences` of `GET /me`; absent fields stay unchanged.',
    input: { body: speechSettings },
    answer: done,
    errors: ['NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      for (const [field, value] of Object.entries(body)) {
        const id = userSettingId(`voice_${field}` as UserSettingName)
        if (value !== null && value !== undefined) await workspaceOf(parts).put('user_setting', id, value, caller.id)
      }
    },
  }),
  own('GET /input_prompt', 'listInputPrompts', 'Prompt shortcuts', {
    description: 'Lists those of the caller.',
    answer: { description: 'The shortcuts, by id.', schema: v.array(inputPromptSchema) },
    async handle({ caller, parts }) {
      const records = (await parts.workspace?.list('input_prompt', caller.id)) ?? []
      return records.map((record) => toInputPrompt(record, caller))
    },
  }),
  own('POST /input_prompt', 'createInputPrompt', 'Create a prompt shortcut', {
    description: 'Only for the caller: `is_public` must be false.',
    input: { body: v.object({ ...promptFields, is_public: boolean }) },
    answer: { description: 'The shortcut.', schema: inputPromptSchema },
    errors: ['DEPLOYMENT_UNSUPPORTED', 'VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      if (body.is_public)
        throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
          message: 'Prompt shortcuts are private: set is_public to false.',
        })
      const workspace = workspaceOf(parts)
      if ((await workspace.list('input_prompt', caller.id)).length >= maxPrompts)
        throw new InlayError('VALIDATION_ERROR', {
          message: `A person can have at most ${maxPrompts} prompt shortcuts.`,
        })
      // Random, so that two concurrent calls create two shortcuts.
      const id = 1 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 2_147_483_646)
      await workspace.put('input_prompt', id, { prompt: body.prompt, content: body.content, active: true }, caller.id)
      return toInputPrompt(await promptOf(id, caller, parts), caller)
    },
  }),
  own('GET /input_prompt/{prompt_id}', 'getInputPrompt', 'Get a prompt shortcut', {
    input: { path: promptPath },
    answer: { description: 'The shortcut.', schema: inputPromptSchema },
    errors: ['NOT_FOUND', 'NOT_IMPLEMENTED'],
    handle: async ({ path, caller, parts }) => toInputPrompt(await promptOf(path.prompt_id, caller, parts), caller),
  }),
  own('PATCH /input_prompt/{prompt_id}', 'updateInputPrompt', 'Change a prompt shortcut', {
    input: { path: promptPath, body: v.object({ ...promptFields, active: boolean }) },
    answer: { description: 'The shortcut.', schema: inputPromptSchema },
    errors: ['NOT_FOUND', 'NOT_IMPLEMENTED'],
    async handle({ path, body, caller, parts }) {
      await promptOf(path.prompt_id, caller, parts)
      const { prompt, content, active } = body
      await workspaceOf(parts).put('input_prompt', path.prompt_id, { prompt, content, active }, caller.id)
      return toInputPrompt(await promptOf(path.prompt_id, caller, parts), caller)
    },
  }),
  own('DELETE /input_prompt/{prompt_id}', 'deleteInputPrompt', 'Delete a prompt shortcut', {
    input: { path: promptPath },
    answer: { description: 'Removed.', schema: v.null() },
    errors: ['NOT_FOUND', 'CONFLICT', 'NOT_IMPLEMENTED'],
    async handle({ path, caller, parts }) {
      await promptOf(path.prompt_id, caller, parts)
      await workspaceOf(parts).remove('input_prompt', path.prompt_id, caller.id)
    },
  }),
  own('GET /mcp/servers', 'listMcpServers', 'List MCP servers that require sign-in', {
    description: 'Always empty: `GET /tool` lists the actions of MCP servers.',
    answer: { description: 'None.', schema: v.object({ mcp_servers: v.array(v.unknown()) }) },
    handle: () => ({ mcp_servers: [] }),
  }),
  own('GET /mcp/user-credentials', 'listMcpUserCredentials', 'List MCP credentials of the caller', {
    description: 'Always empty: no MCP server requires sign-in.',
    answer: { description: 'None.', schema: v.object({ credentials: v.array(v.unknown()) }) },
    handle: () => ({ credentials: [] }),
  }),
  own('POST /mcp/user-credentials', 'setMcpUserCredentials', 'Sign in to an MCP server', {
    description: 'Always 404: no MCP server requires sign-in, see `GET /mcp/servers`.',
    input: { body: mcpUserCredentialsSchema },
    errors: ['NOT_FOUND'],
    handle: noMcpServer,
  }),
  own('DELETE /mcp/user-credentials/{server_id}', 'deleteMcpUserCredentials', 'Sign out of an MCP server', {
    description: 'Always 404: no MCP server requires sign-in, see `GET /mcp/servers`.',
    input: { path: v.object({ server_id: queryInteger({}) }) },
    errors: ['NOT_FOUND'],
    handle: noMcpServer,
  }),
  own('GET /user/usage', 'ownUsage', "Get the caller's usage", {
    description:
      'Usage in the current minute or day for each limit that applies to the caller. Without limits ' +
      'nothing is counted.',
    answer: { description: 'The limits.', schema: ownUsagesSchema },
    handle: ({ caller, parts }) => usageOf(caller, parts),
  }),
  own('GET /search/search-history', 'searchHistory', "List the caller's searches", {
    description:
      'Document searches made for answers in chats of the caller, newest first. Searches outside of ' +
      'chats are not kept.',
    input: {
      query: v.object({
        limit: v.optional(queryInteger({ least: 1, most: 1000 }), '100'),
        filter_days: v.optional(queryInteger({ least: 1, most: 3650 })),
      }),
    },
    answer: { description: 'The searches.', schema: searchHistorySchema },
    async handle({ query, caller, parts }) {
      const { limit, filter_days: days } = query
      const since = days === undefined ? {} : { since: Date.now() - days * dayMs }
      const searches = await parts.agent.sessions.searches(caller, { limit, ...since })
      return {
        search_queries: searches.map(({ queries: [first = '', ...others], createdAt }) => ({
          query: first,
          query_expansions: others,
          created_at: new Date(createdAt).toISOString(),
        })),
      }
    },
  }),
  administration('GET /manage/admin/connector', 'listConnectors', 'Connectors', {
    answer: { description: 'The connectors, by id.', schema: v.array(connectorSchema) },
    async handle({ parts }) {
      if (!parts.workspace) return []
      const records = await readLinkedRecords(parts.workspace)
      return [...records.connectors.values()].map((connector) =>
        toConnector(connector, credentialIdsOf(connector.id, records)),
      )
    },
  }),
  administration('GET /manage/admin/credential', 'listCredentials', 'Credentials', {
    description: 'Returns field names only; values are not stored.',
    answer: { description: 'The credentials, by id.', schema: v.array(credentialSchema) },
    handle: async ({ parts }) => ((await parts.workspace?.list('credential')) ?? []).map(toCredential),
  }),
  search('POST /admin/search', 'adminSearch', 'Search documents as an administrator', {
    scope: 'admin',
    description: 'Keyword search over all documents that the caller can see, regardless of agents.',
    input: {
      body: v.object({
        query: v.pipe(v.string(), v.minLength(1), v.maxLength(2048)),
        filters: v.nullish(baseFiltersSchema, null),
      }),
    },
    answer: {
      description: 'The best passage of each document.',
      schema: v.object({ documents: v.array(searchDocSchema) }),
    },
    errors: ['INSUFFICIENT_PERMISSIONS'],
    async handle({ body, caller, parts }) {
      const passages = await parts.knowledge.search({
        text: body.query,
        filters: body.filters,
        caller,
        limit: adminLimit,
      })
      const best = new Map<string, SearchDoc>()
      for (const { document } of passages) if (!best.has(document.document_id)) best.set(document.document_id, document)
      return { documents: [...best.values()] }
    },
  }),
  search('GET /document/document-size-info', 'documentSizeInfo', 'Get the size of a document', {
    scope: ['search', 'chat'],
    input: { query: v.object({ document_id: exactText }) },
    answer: { description: 'The number of chunks and the estimated number of tokens.', schema: documentSizeInfoSchema },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ query, caller, parts }) {
      const size = await parts.knowledge.size(query.document_id, { caller })
      if (size === undefined || size.chunks === 0)
        throw new InlayError('DOCUMENT_NOT_FOUND', { message: 'There is no searchable document with this id.' })
      return { num_chunks: size.chunks, num_tokens: size.tokens }
    },
  }),
  search('GET /document/chunk-info', 'chunkInfo', 'Get a chunk of a document', {
    scope: ['search', 'chat'],
    input: { query: v.object({ document_id: exactText, chunk_id: queryInteger({ least: 0 }) }) },
    answer: {
      description: 'Text of the document and its approximate number of tokens.',
      schema: v.object({ content: v.string(), num_tokens: integer }),
    },
    errors: ['DOCUMENT_NOT_FOUND'],
    async handle({ query, caller, parts }) {
      const { document_id: documentId, chunk_id: chunk } = query
      const excerpt = await parts.knowledge.excerpt({ documentId, first: chunk, last: chunk, chunk, caller })
      if (excerpt === undefined || excerpt.content === '')
        throw new InlayError('DOCUMENT_NOT_FOUND', { message: 'There is no such chunk.' })
      return { content: excerpt.content, num_tokens: excerpt.tokens }
    },
  }),
]

function setting(
  path: `/${string}`,
  operationId: string,
  name: UserSettingName,
  place: 'body' | 'query',
  value: v.GenericSchema,
): Route {
  return own(`PATCH ${path}`, operationId, `Set ${name}`, {
    ...(underUser.has(path) && { aliases: [`/user${path}`] }),
    description: 'Stored for clients and returned in `preferences` of `GET /me`.',
    input: { [place]: v.object({ [name]: value }) },
    answer: done,
    errors: ['NOT_IMPLEMENTED'],
    async handle({ [place]: given, caller, parts }) {
      // Validated with the schema of the same name.
      const { [name]: chosen = null } = given as unknown as Readonly<Record<string, WorkspaceValues['user_setting']>>
      await workspaceOf(parts).put('user_setting', userSettingId(name), chosen, caller.id)
    },
  })
}

function noMcpServer(): never {
  throw new InlayError('NOT_FOUND', { message: 'No MCP server requires sign-in here.' })
}

async function usageOf(caller: Principal, { usage }: ServerParts): Promise<OwnUsages> {
  const counts = (await usage?.used()) ?? []
  const bounds = usage ? await Promise.all(limitNames.map((name) => usage.boundsOf(caller, name))) : []
  return complete(ownUsagesSchema, {
    usage: bounds.flat().flatMap(({ scope, owner, name, limit }) => {
      // Callers do not see the usage of others.
      if (scope === 'tenant') return []
      const ownCount = counts.find((count) => count.scope === scope && count.owner === owner && count.name === name)
      return [
        {
          limit: wireLimitName(name),
          of: scope,
          max: limit,
          used: ownCount?.used ?? 0,
          resets_at: ownCount ? new Date(ownCount.period + periodOf(name)).toISOString() : null,
        },
      ]
    }),
  })
}

async function promptOf(id: number, caller: Principal, parts: ServerParts): Promise<WorkspaceRecord<'input_prompt'>> {
  const record = await workspaceOf(parts).get('input_prompt', id, caller.id)
  if (record === undefined) throw new InlayError('NOT_FOUND', { message: 'You have no prompt shortcut with this id.' })
  return record
}

function toInputPrompt({ id, value }: WorkspaceRecord<'input_prompt'>, caller: Principal): InputPrompt {
  return complete(inputPromptSchema, { id, ...value, user_id: toUserId(caller.id) })
}
