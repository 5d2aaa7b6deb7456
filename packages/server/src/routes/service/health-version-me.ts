import type { EmbedderFigures } from '@inlay/knowledge'
import {
  complete,
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
} from '@inlay/protocol'
import { authTypeSchema, noticesSchema, readinessSchema, versionsSchema } from '@inlay/protocol/administration'
import { untilAborted } from '@inlay/scheduling'
import { needed } from '../../administration/workspace-of.ts'
import { readUserSettings } from '../../administration/workspace-records.ts'
import * as v from 'valibot'
import { reply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'
import { toPersonalization } from '../chat/memories.ts'

const topic = 'Service'
const route = routesOf(topic, { scope: scopes, owner: 'caller' })
const open = routesOf(topic, { scope: 'public', owner: 'none' })

/** API version: existing clients require 3.0.0 or newer. */
const apiVersion = '3.0.0'

/** Maximum wait for a process that is still opening its database, in milliseconds; later probes wait half a second. */
const openingMs = 5_000

function stillOpening(): InlayError {
  const message = 'This process is still opening its database: try again in a moment.'
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable: true, data: { isExpected: true } })
}

/** Whether anybody may read the message. What an engine gives as a cause is advice for the operator. */
function isForAll(error: unknown): error is InlayError {
  if (!isInlayError(error) || error.code !== 'SERVICE_UNAVAILABLE') return false
  return error.data['isForOperator'] !== true && (error.cause === undefined || error.data['isOutage'] === true)
}

export const serviceRoutes: readonly Route[] = [
  open('GET /health', 'health', 'Check that the service responds', {
    answer: {
      description: 'The service responds.',
      schema: v.object({ success: v.literal(true), message: v.string(), data: v.null() }),
    },
    handle: () => ({ success: true as const, message: 'ok', data: null }),
  }),
  open('GET /health/ready', 'ready', 'Check that the service is ready', {
    description:
      'Queries the database, at a cost that does not depend on its size. After startup it responds ' +
      'within half a second. Returns 503 if the database has not responded for five seconds, if the ' +
      'index has not been reached since the start, and while the process shuts down: send requests ' +
      'elsewhere. `message` also reports a rebuild of the index from the records (documents already ' +
      'in it are found), a full disk (search still works), an embedding model other than that of ' +
      'the documents, a lost database, and documents that only the index holds. What to do about it is ' +
      'in the log and in `GET /service-api/notices`.',
    answer: { description: 'The service is ready.', schema: readinessSchema },
    errors: ['SERVICE_UNAVAILABLE'],
    async handle({ parts, settings, request, requestId }) {
      if (settings.isEnding())
        throw new InlayError('SERVICE_UNAVAILABLE', { message: 'This process is shutting down.' })
      try {
        const { rebuild, embedder, fullDisk, missingRecords } = await untilAborted(
          parts.knowledge.readiness(),
          AbortSignal.timeout(openingMs),
        )
        const notes = [
          ...(rebuild === undefined ? [] : [{ code: 'index_rebuilding', message: 'the index is being rebuilt' }]),
          ...(missingRecords === undefined ? [] : [{ code: 'records_missing', message: 'records are missing' }]),
          ...(fullDisk === undefined ? [] : [{ code: 'disk_full', message: 'a disk is full' }]),
          ...(embedder.isUsed ? [] : [{ code: 'embedder_mismatch', message: otherEmbedder(embedder) }]),
        ]
        return {
          success: true as const,
          message: ['ok', ...notes.map(({ message }) => message)].join('; '),
          notes,
          data: complete(readinessSchema.entries.data, {}),
          embedder: embedder.recorded,
        }
      } catch (failure) {
        const error = failure instanceof DOMException && failure.name === 'TimeoutError' ? stillOpening() : failure
        settings.onError(error, { requestId, method: request.method, route: '/health/ready' })
        const message = isForAll(error) ? error.message : 'This process cannot open its data: its log says why.'
        throw new InlayError('SERVICE_UNAVAILABLE', { message, cause: error })
      }
    },
  }),
  route('GET /metrics', 'metrics', 'Metrics for Prometheus', {
    scope: 'admin',
    owner: 'none',
    remembersCallers: true,
    description:
      'Requests, model calls, tokens, runs, searches and documents of this process, in the text ' +
      'format of Prometheus. Contains no text written by people. A key that was accepted within the ' +
      'last hour is accepted here also while the database is down.',
    answer: { description: 'The metrics.', mediaType: 'text/plain' },
    errors: ['NOT_IMPLEMENTED'],
    async handle({ parts }) {
      const advice = 'Set INLAY_TELEMETRY=on, or the option telemetry: true of createInlay().'
      const { type, text } = await needed(parts.metrics, `Metrics are disabled. ${advice}`)()
      return reply(text, { headers: { 'content-type': type } })
    },
  }),
  route('GET /service-api/notices', 'notices', 'List notices for operators', {
    scope: 'admin',
    owner: 'none',
    description:
      'Warnings about settings that do not match the data: an embedding model other than that of the ' +
      'documents, a lost database, a full disk, unused data in the data folder. They are also logged. ' +
      'Empty if there are none.',
    answer: { description: 'The messages.', schema: noticesSchema },
    handle: async ({ parts }) => {
      const details = [...((await parts.notices?.()) ?? [])]
      return { notices: details.map(({ message }) => message), details }
    },
  }),
  open('GET /version', 'version', 'Get the version', {
    description: '`backend_version` is the API version; calls of what `serves` leaves out get 404.',
    answer: { description: 'The versions.', schema: versionsSchema },
    handle: ({ settings: { version, serves } }) => ({ backend_version: apiVersion, inlay_version: version, serves }),
  }),
  open('GET /auth/type', 'authType', 'Get authentication methods', {
    description: 'API keys; a host app can add other methods.',
    answer: { description: 'The authentication methods.', schema: authTypeSchema },
    handle: () => complete(authTypeSchema, { auth_type: 'api_key', anonymous_user_enabled: false, has_users: true }),
  }),
  route('GET /me', 'me', 'Get the current user', {
    answer: { description: 'The caller.', schema: userInfoSchema },
    async handle({ caller, parts }) {
      const [known, pinned, settings] = await Promise.all([
        parts.agent.memories.get(caller),
        parts.workspace?.get('pinned', 1, caller.id),
        readUserSettings(parts.workspace, caller.id),
      ])
      return toUserInfo(caller, toPersonalization(known), { ...settings, pinned_assistants: pinned?.value ?? [] })
    },
  }),
  route('GET /me/permissions', 'myPermissions', 'Get permissions of the key', {
    description: 'Named as existing clients expect: `chat` is `basic`, `ingest` is `manage:connectors`.',
    answer: { description: 'The permissions.', schema: userPermissionsSchema },
    handle: ({ caller }) => complete(userPermissionsSchema, { permissions: toPermissions(caller) }),
  }),
]

function otherEmbedder({ indexes }: EmbedderFigures): string {
  return indexes
    ? 'the embedding model of this process differs from that of the documents and is not used'
    : 'this process lacks the embedding model of the documents: it uses keyword search only and does not index'
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
  return complete(userInfoSchema, {
    id: toUserId(caller.id),
    email: caller.email ?? '',
    is_superuser: caller.scopes.includes('admin'),
    account_type: 'SERVICE_ACCOUNT',
    effective_permissions: toPermissions(caller),
    groups: [...(caller.groups ?? [])],
    personalization,
    preferences: { hidden_assistants: [], visible_assistants: [], ...preferences },
  })
}
