import type { EmbedderFigures } from '@inlay/knowledge'
import {
  InlayError,
  isInlayError,
  scopes,
  toUserId,
  userInfoSchema,
  userPermissionsSchema,
  type PersonalizationDetail,
  type Principal,
  type Scope,
  type UserInfo,
  type UserPermissions,
} from '@inlay/protocol'
import {
  authTypeSchema,
  noticesSchema,
  readinessSchema,
  versionsSchema,
  type Notices,
} from '@inlay/protocol/administration'
import { untilAborted } from '@inlay/protocol/concurrency'
import { readUserSettings } from '../../administration/workspace-records.ts'
import * as v from 'valibot'
import { reply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'
import { toPersonalization } from '../chat/memories.ts'

const topic = 'Service'
const route = routesOf(topic, { scope: scopes, owner: 'caller' })
const open = routesOf(topic, { scope: 'public', owner: 'none' })

/** API version: existing clients require 3.0.0 or newer. */
const contractVersion = '3.0.0'

/** Maximum wait for a process that is still opening its database, in milliseconds; later probes wait half a second. */
const openingMs = 5_000

function stillOpening(): InlayError {
  const message = 'This process is still opening its database: ask again in a moment.'
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable: true, data: { isExpected: true } })
}

const noThreads = { threadpool_total_tokens: 0, threadpool_borrowed_tokens: 0, threadpool_tasks_waiting: 0 }

/** Health, version and the current caller. */
export const serviceRoutes: readonly Route[] = [
  open('GET /health', 'health', 'Whether the service answers', {
    answer: {
      description: 'It does.',
      schema: v.object({ success: v.literal(true), message: v.string(), data: v.null() }),
    },
    handle: () => ({ success: true, message: 'ok', data: null }),
  }),
  open('GET /health/ready', 'ready', 'Whether the service can do its work', {
    description:
      'Asks the database, at the same cost at any size. Once the process is open, it answers within half a second: 503 when the ' +
      'database has been silent for five seconds, while the index has not been reached since the start, and before the process ends: ' +
      'send requests elsewhere. The message says so while the index is made anew from the records; what is in it already is found. It also says so while a disk is full, which searches bear, and while this process is set to ' +
      'another embedding model than the documents have.',
    answer: { description: 'It can.', schema: readinessSchema },
    errors: ['SERVICE_UNAVAILABLE'],
    async handle({ parts, settings, request, requestId }) {
      if (settings.isEnding()) throw new InlayError('SERVICE_UNAVAILABLE', { message: 'This process is about to end.' })
      try {
        const { rebuild, embedder, fullDisk } = await untilAborted(
          parts.knowledge.readiness(),
          AbortSignal.timeout(openingMs),
        )
        const notes = [
          ...(rebuild === undefined ? [] : ['the index is being made anew']),
          ...(fullDisk === undefined ? [] : [fullDisk]),
          ...(embedder.isUsed ? [] : [otherEmbedder(embedder)]),
        ]
        return { success: true, message: ['ok', ...notes].join('; '), data: noThreads, embedder: embedder.recorded }
      } catch (failure) {
        const error = failure instanceof DOMException && failure.name === 'TimeoutError' ? stillOpening() : failure
        settings.onError(error, { requestId, method: request.method, route: '/health/ready' })
        const isKnown = isInlayError(error) && error.code === 'SERVICE_UNAVAILABLE'
        const message = isKnown ? error.message : 'The database does not answer.'
        throw new InlayError('SERVICE_UNAVAILABLE', { message, cause: error })
      }
    },
  }),
  route('GET /metrics', 'metrics', 'Metrics for Prometheus', {
    scope: 'admin',
    owner: 'none',
    description:
      'Requests, model calls, tokens, runs, searches and documents of this process, in the text format of Prometheus. ' +
      'Nothing in it was written by a person.',
    answer: { description: 'The metrics.', mediaType: 'text/plain' },
    errors: ['NOT_IMPLEMENTED'],
    async handle({ parts }) {
      if (!parts.metrics)
        throw new InlayError('NOT_IMPLEMENTED', {
          message: 'Nothing is measured here. Set INLAY_TELEMETRY=on, or the option telemetry: true of createInlay().',
        })
      const { type, text } = await parts.metrics()
      return reply(text, { headers: { 'content-type': type } })
    },
  }),
  route('GET /service-api/notices', 'notices', 'What an operator should know', {
    scope: 'admin',
    owner: 'none',
    description:
      'Sentences about settings and data that do not fit together: an embedding model that is not the one of the documents, data ' +
      'in the data folder that is not used. They also stand in the log. Empty when all is well.',
    answer: { description: 'The messages.', schema: noticesSchema },
    handle: async ({ parts }): Promise<Notices> => ({ notices: [...((await parts.notices?.()) ?? [])] }),
  }),
  open('GET /version', 'version', 'Version of the service', {
    description:
      '`backend_version` is the API version, which clients compare; `inlay_version` is the version of Inlay.',
    answer: { description: 'The versions.', schema: versionsSchema },
    handle: ({ settings }) => ({ backend_version: contractVersion, inlay_version: settings.version }),
  }),
  open('GET /auth/type', 'authType', 'How callers sign in', {
    description: 'API keys; a host app can add other methods.',
    answer: { description: 'The authentication methods.', schema: authTypeSchema },
    handle: () => ({
      auth_type: 'api_key',
      password_min_length: 0,
      password_max_length: 0,
      password_require_uppercase: false,
      password_require_lowercase: false,
      password_require_digit: false,
      password_require_special_char: false,
      multi_tenant: false,
      requires_verification: false,
      anonymous_user_enabled: false,
      has_users: true,
      oauth_enabled: false,
      password_auth_enabled: false,
      sso_providers: [],
    }),
  }),
  route('GET /me', 'me', 'Who the key acts for', {
    answer: { description: 'The caller.', schema: userInfoSchema },
    async handle({ caller, parts }): Promise<UserInfo> {
      const [known, pinned, settings] = await Promise.all([
        parts.agent.memories.get(caller),
        parts.workspace?.get('pinned', 1, caller.id),
        readUserSettings(parts.workspace, caller.id),
      ])
      return toUserInfo(caller, toPersonalization(known), { ...settings, pinned_assistants: pinned?.value ?? [] })
    },
  }),
  route('GET /me/permissions', 'myPermissions', 'What the key may do', {
    description: 'Named as existing clients expect: `chat` is `basic`, `ingest` is `manage:connectors`.',
    answer: { description: 'The permissions.', schema: userPermissionsSchema },
    handle: ({ caller }): UserPermissions => ({
      permissions: toPermissions(caller),
      is_manager: false,
      managed_group_ids: [],
    }),
  }),
]

/** Message for a process configured with another embedding model than that of the documents. */
function otherEmbedder({ indexes }: EmbedderFigures): string {
  return indexes
    ? 'the embedding model of this process is not the one of the documents, and not used'
    : 'this process lacks the embedding model of the documents: it searches by words and indexes nothing'
}

const permissionsOf: Readonly<Record<Scope, readonly string[]>> = {
  search: ['read:search'],
  chat: ['basic', 'read:search', 'read:chat', 'write:chat', 'add:agents'],
  ingest: ['manage:connectors'],
  admin: ['admin'],
}

function toPermissions({ scopes: held }: Principal): string[] {
  const wanted = held.includes('admin') ? scopes : held
  return [...new Set(wanted.flatMap((scope) => permissionsOf[scope]))].toSorted()
}

function toUserInfo(
  caller: Principal,
  personalization: PersonalizationDetail,
  preferences: Readonly<Record<string, unknown>>,
): UserInfo {
  return {
    id: toUserId(caller.id),
    email: caller.email ?? '',
    is_active: true,
    is_superuser: caller.scopes.includes('admin'),
    is_verified: true,
    account_type: 'SERVICE_ACCOUNT',
    is_anonymous_user: false,
    effective_permissions: toPermissions(caller),
    groups: [...(caller.groups ?? [])],
    personalization,
    preferences: { hidden_assistants: [], visible_assistants: [], ...preferences },
    token_expires_at: null,
    is_cloud_superuser: false,
    team_name: null,
    password_configured: false,
    tenant_info: null,
    is_group_manager: false,
    admin_capabilities: [],
  }
}
