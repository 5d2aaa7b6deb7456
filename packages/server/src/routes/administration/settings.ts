import {
  complete,
  hasScope,
  InlayError,
  queryInteger,
  scopes,
  toUserId,
  unknownName,
  validationFailed,
} from '@inlay/protocol'
import {
  knownUserPageSchema,
  knownUserSchema,
  knownUsersSchema,
  workspaceSettingsSchema,
  workspaceUpdateSchema,
  type KnownUser,
  type WorkspaceSettings,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { workspaceOf } from '../../administration/workspace-of.ts'
import type { WorkspaceRecords } from '../../administration/workspace-records.ts'
import type { ServerSettings } from '../../http/settings.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'

const route = routesOf('Workspace', { scope: 'admin', owner: 'any' })
const textNames = ['company_name', 'company_description', 'auto_scroll'] as const
const settingNames = Object.keys(workspaceSettingsSchema.entries)

export const workspaceRoutes: readonly Route[] = [
  route('GET /settings', 'getSettings', 'Get settings for clients', {
    scope: scopes,
    owner: 'none',
    answer: { description: 'The settings.', schema: workspaceSettingsSchema },
    handle: async ({ parts, settings }) => settingsWith(await textsOf(parts.workspace), settings),
  }),
  route('PATCH /admin/settings', 'updateSettings', 'Change settings', {
    description:
      'Absent fields stay unchanged. `company_name`, `company_description` and `auto_scroll` are ' +
      'stored for clients to show. All others are fixed by the deployment: their current value is ' +
      'accepted, any other is refused.',
    input: { body: workspaceUpdateSchema },
    answer: { description: 'Changed.', schema: v.null() },
    errors: ['DEPLOYMENT_UNSUPPORTED', 'NOT_IMPLEMENTED'],
    async handle({ body, parts, settings }) {
      refuseFixed(body, settings)
      const given = textNames.filter((name) => body[name] !== undefined).map((name) => [name, body[name]])
      const workspace = workspaceOf(parts)
      const before = (await workspace.get('settings', 1))?.value
      await workspace.put('settings', 1, { ...before, ...Object.fromEntries(given) })
    },
  }),
  route('GET /manage/users', 'listUsers', 'List people', {
    description: 'Lists the owners of API keys, as there are no accounts or invitations.',
    input: { query: v.object({ q: v.optional(v.string()) }) },
    answer: { description: 'The people.', schema: knownUsersSchema },
    handle: async ({ query, parts }) => complete(knownUsersSchema, { accepted: await knownUsers(parts, query.q) }),
  }),
  route('GET /users', 'listUserNames', 'List people in brief', {
    scope: scopes,
    description: 'Lists the owners of API keys to administrators, and the caller alone to others.',
    answer: {
      description: 'The people.',
      schema: v.array(v.object({ id: v.string(), email: v.string() })),
    },
    async handle({ caller, parts }) {
      if (!hasScope(caller, 'admin')) return [{ id: toUserId(caller.id), email: caller.email ?? '' }]
      return (await knownUsers(parts)).map(({ id, email }) => ({ id, email }))
    },
  }),
  route('GET /manage/users/accepted', 'pageUsers', 'List users page by page', {
    input: {
      query: v.object({
        q: v.optional(v.string()),
        page_num: v.optional(queryInteger({ least: 0, most: 1_000_000 }), '0'),
        page_size: v.optional(queryInteger({ least: 1, most: 1000 }), '10'),
      }),
    },
    answer: { description: 'A page.', schema: knownUserPageSchema },
    async handle({ query, parts }) {
      const { page_num: page, page_size: size } = query
      const users = await knownUsers(parts, query.q)
      return { items: users.slice(page * size, (page + 1) * size), total_items: users.length }
    },
  }),
]

type Texts = Pick<WorkspaceSettings, (typeof textNames)[number]>
const usualTexts: Texts = { company_name: null, company_description: null, auto_scroll: false }

function settingsWith(texts: Texts, { retentionDays, version }: ServerSettings): WorkspaceSettings {
  return complete(workspaceSettingsSchema, { ...texts, maximum_chat_retention_days: retentionDays, version })
}

async function textsOf(workspace: WorkspaceRecords | undefined): Promise<Texts> {
  const stored = (await workspace?.get('settings', 1))?.value ?? {}
  // Written only by the route above, from validated values.
  return { ...usualTexts, ...stored } as Texts
}

/** Refuses settings that would have no effect. */
function refuseFixed(body: Readonly<Record<string, unknown>>, settings: ServerSettings): void {
  const unknown = Object.keys(body).filter((name) => !settingNames.includes(name))
  if (unknown.length > 0)
    throw validationFailed(
      unknown.map((name) => ({ loc: ['body', name], msg: unknownName(name, settingNames), type: 'extra_forbidden' })),
    )
  const { version: _, ...fixed } = settingsWith(usualTexts, settings)
  const wrong = Object.entries(fixed).find(
    ([name, value]) =>
      !(name in usualTexts) && body[name] !== undefined && JSON.stringify(body[name]) !== JSON.stringify(value),
  )
  if (wrong === undefined) return
  throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
    message: `"${wrong[0]}" is fixed by this deployment as ${JSON.stringify(wrong[1])}: leave it out.`,
  })
}

/** One user per owner of a key, ordered by their first key. */
async function knownUsers({ keys }: ServerParts, search = ''): Promise<KnownUser[]> {
  const owners = Map.groupBy((await keys?.list()) ?? [], ({ owner }) => owner)
  const users = [...owners].map(([owner, held]): KnownUser => {
    const times = held.map(({ createdAt }) => createdAt)
    return complete(knownUserSchema, {
      id: toUserId(owner),
      email: held.find(({ email }) => email !== null)?.email ?? '',
      is_admin: held.some(({ scopes: granted }) => granted.includes('admin')),
      personal_name: held.find(({ name }) => name !== null)?.name ?? null,
      created_at: new Date(Math.min(...times)).toISOString(),
      updated_at: new Date(Math.max(...times)).toISOString(),
    })
  })
  const wanted = search.trim().toLowerCase()
  return users.filter((user) => `${user.email} ${user.personal_name ?? ''}`.toLowerCase().includes(wanted))
}
