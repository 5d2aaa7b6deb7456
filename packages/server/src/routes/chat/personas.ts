import type { StoredFile } from '@inlay/agent'
import type { StoredPersona } from '@inlay/conversations'
import {
  complete,
  fullPersonaSchema,
  hasScope,
  InlayError,
  minimalPersonaSchema,
  personaCreationSchema,
  personaPageQuerySchema,
  personaPageSchema,
  personaQuerySchema,
  personaUpdateSchema,
  queryInteger,
  toUserId,
  validationFailed,
  type FullPersona,
  type MinimalPersona,
  type PersonaBase,
  type Principal,
} from '@inlay/protocol'
import { personaImageFormSchema } from '@inlay/protocol/administration'
import * as v from 'valibot'
import { readForm } from '../../http/multipart.ts'
import { reply } from '../../http/replies.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { checkLabels, readPersonaLabels, setLabels } from '../../administration/persona-labels.ts'
import { listDocumentSets } from '../knowledge/document-sets.ts'
import { fileReply, uploadLimits } from './files.ts'
import { listGrants } from './tool-snapshots.ts'

const route = routesOf('Agents', { scope: 'chat', owner: 'caller' })
/** Maximum size of the form with an agent's picture. */
const maxPictureBytes = 10_000_000
const personaPath = v.object({ persona_id: queryInteger({}) })

export const personaRoutes: readonly Route[] = [
  route('GET /persona', 'listPersonas', 'List agents', {
    description: 'Lists own, public and shared agents; the default agent has the id 0.',
    input: { query: personaQuerySchema },
    answer: { description: 'The agents.', schema: v.array(minimalPersonaSchema) },
    async handle({ query, caller, parts }) {
      const { include_deleted: includeDeleted, persona_ids: ids } = query
      const personas = await parts.agent.personas.list(caller, { includeDeleted, ids })
      return toMinimal(personas, caller, parts)
    },
  }),
  route('GET /agents', 'pagePersonas', 'List agents page by page', {
    input: { query: personaPageQuerySchema },
    answer: { description: 'A page.', schema: personaPageSchema },
    async handle({ query, caller, parts }) {
      const { include_deleted: includeDeleted, persona_ids: ids, page_num: page, page_size: size } = query
      const personas = await parts.agent.personas.list(caller, { includeDeleted, ids })
      const items = await toMinimal(personas.slice(page * size, (page + 1) * size), caller, parts)
      return { items, total_items: personas.length }
    },
  }),
  route('GET /persona/{persona_id}', 'getPersona', 'One agent', {
    input: { path: personaPath },
    answer: { description: 'The agent.', schema: fullPersonaSchema },
    errors: ['PERSONA_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      return toFull(await parts.agent.personas.get(path.persona_id, caller), caller, parts)
    },
  }),
  route('GET /persona/{persona_id}/avatar', 'getPersonaAvatar', 'Get the picture of an agent', {
    description: 'Returns the original bytes; 404 for an agent without a picture.',
    input: { path: personaPath },
    answer: { description: 'The picture.', mediaType: 'application/octet-stream' },
    errors: ['PERSONA_NOT_FOUND', 'NOT_FOUND'],
    async handle({ path, caller, parts, request }) {
      const { pictureId } = await parts.agent.personas.get(path.persona_id, caller)
      if (!pictureId) throw new InlayError('NOT_FOUND', { message: 'This agent has no picture.' })
      const { status, headers, body } = await fileReply(await parts.agent.files.openById(pictureId), request)
      // The agent may get another picture at the same URL.
      return reply(body, { status, headers: { ...headers, 'cache-control': 'private, no-cache' } })
    },
  }),
  route('POST /persona/upload-image', 'uploadPersonaImage', 'Upload a picture for an agent', {
    aliases: ['/admin/persona/upload-image'],
    description:
      'A form with one `file`: PNG, JPEG or WebP of at most 10 MB. Use `file_id` in ' +
      '`uploaded_image_id` of an agent; users of the agent can download the picture with `GET ' +
      '/chat/file/{file_id}`. It is deleted with the agent.',
    input: { body: { kind: 'stream', mediaType: 'multipart/form-data', schema: personaImageFormSchema } },
    answer: { description: 'Id of the picture.', schema: v.object({ file_id: v.string() }) },
    errors: ['INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED'],
    async handle({ request, caller, parts, settings }) {
      const limits = {
        ...uploadLimits(settings),
        totalBytes: Math.min(settings.limits.maxUploadBytes, maxPictureBytes),
      }
      let picture: StoredFile | undefined
      for await (const part of readForm(request, limits))
        if (part.kind === 'file' && part.name === 'file' && part.fileName !== '' && !picture)
          picture = await parts.agent.files.keepPicture(
            { name: part.fileName, mediaType: part.mediaType, bytes: part.bytes },
            caller,
          )
      if (picture) return { file_id: picture.id }
      throw validationFailed([{ loc: ['body', 'file'], msg: 'is required', type: 'missing' }])
    },
  }),
  route('POST /persona', 'createPersona', 'Create an agent', {
    aliases: ['/admin/persona'],
    description: 'Private unless shared, or made public by an administrator.',
    input: { body: personaCreationSchema },
    answer: { description: 'The agent.', schema: fullPersonaSchema },
    errors: ['VALIDATION_ERROR', 'DOCUMENT_SET_NOT_FOUND', 'NOT_FOUND', 'INSUFFICIENT_PERMISSIONS'],
    async handle({ body, caller, parts }) {
      await checkLabels(body.label_ids, parts)
      const persona = await parts.agent.personas.create(body, caller)
      await setLabels(persona.id, body.label_ids, parts)
      return toFull(persona, caller, parts)
    },
  }),
  route('PATCH /persona/{persona_id}', 'updatePersona', 'Change an agent', {
    description: 'Absent fields stay unchanged. Allowed for its owner and administrators.',
    input: { path: personaPath, body: personaUpdateSchema },
    answer: { description: 'The agent.', schema: fullPersonaSchema },
    errors: [
      'PERSONA_NOT_FOUND',
      'VALIDATION_ERROR',
      'INVALID_INPUT',
      'DOCUMENT_SET_NOT_FOUND',
      'NOT_FOUND',
      'INSUFFICIENT_PERMISSIONS',
    ],
    async handle({ path, body, caller, parts }) {
      await checkLabels(body.label_ids, parts)
      const persona = await parts.agent.personas.update(path.persona_id, body, caller)
      await setLabels(persona.id, body.label_ids, parts)
      return toFull(persona, caller, parts)
    },
  }),
  route('DELETE /persona/{persona_id}', 'deletePersona', 'Delete an agent', {
    description: 'Allowed for its owner and administrators. Its chats remain readable.',
    input: { path: personaPath },
    answer: { description: 'It is gone.', schema: v.null() },
    errors: ['PERSONA_NOT_FOUND', 'INVALID_INPUT', 'INSUFFICIENT_PERMISSIONS'],
    handle: ({ path, caller, parts }) => parts.agent.personas.remove(path.persona_id, caller),
  }),
]

/** Loads the records that agents refer to once, for any number of agents. */
async function baseOf(caller: Principal, parts: ServerParts): Promise<(persona: StoredPersona) => PersonaBase> {
  const { agent } = parts
  const [tools, models, sets, labelsOf] = await Promise.all([
    listGrants(agent, caller),
    agent.models(),
    listDocumentSets(parts, caller),
    readPersonaLabels(parts),
  ])
  return (persona) => {
    const { actionIds, documentSetIds, model } = persona
    const place = models.findIndex(({ provider, name }) => provider === model?.provider && name === model.name)
    const isOwner = persona.ownerId === caller.id
    const isAdmin = hasScope(caller, 'admin')
    return {
      id: persona.id,
      name: persona.name,
      description: persona.description,
      tools: tools
        .filter(({ snapshot, needsGrant }) => actionIds?.includes(snapshot.id) ?? !needsGrant)
        .map(({ snapshot }) => snapshot),
      starter_messages: persona.starterMessages,
      document_sets: sets.filter(({ id }) => documentSetIds.includes(id)),
      default_model_configuration_id: place === -1 ? null : place + 1,
      uploaded_image_id: persona.pictureId ?? null,
      icon_name: persona.iconName,
      is_public: persona.isPublic,
      is_listed: persona.isListed,
      is_featured: persona.isFeatured,
      builtin_persona: persona.id === 0,
      display_priority: persona.displayPriority,
      labels: labelsOf(persona.id),
      owner:
        persona.ownerId === null
          ? null
          : { id: toUserId(persona.ownerId), email: isOwner || isAdmin ? (persona.ownerEmail ?? '') : '' },
      owner_group: null,
      user_permission: persona.id === 0 ? null : isOwner ? 'OWNER' : isAdmin ? 'EDITOR' : 'VIEWER',
      permissions: toPermissions(persona.id !== 0 && (isOwner || isAdmin), persona.id !== 0 && isAdmin),
    }
  }
}

function toPermissions(mayChange: boolean, mayArrange: boolean): Record<string, boolean> {
  return {
    edit: mayChange,
    share: mayChange,
    view_stats: false,
    delete: mayChange,
    publish: mayArrange,
    feature: mayArrange,
    list: mayChange,
    reorder: mayArrange,
  }
}

async function toMinimal(
  personas: readonly StoredPersona[],
  caller: Principal,
  parts: ServerParts,
): Promise<MinimalPersona[]> {
  const toBase = await baseOf(caller, parts)
  return personas.map((persona) =>
    complete(minimalPersonaSchema, {
      ...toBase(persona),
      attached_document_count: persona.fileIds.length,
      knowledge_sources: persona.fileIds.length > 0 ? ['user_file'] : [],
    }),
  )
}

export async function toFullPersonas(
  personas: readonly StoredPersona[],
  caller: Principal,
  parts: ServerParts,
): Promise<FullPersona[]> {
  const toBase = await baseOf(caller, parts)
  return personas.map((persona) => toFullPersona(persona, toBase(persona)))
}

async function toFull(persona: StoredPersona, caller: Principal, parts: ServerParts): Promise<FullPersona> {
  return toFullPersona(persona, (await baseOf(caller, parts))(persona))
}

function toFullPersona(persona: StoredPersona, base: PersonaBase): FullPersona {
  const { users, groups, isPublic } = persona
  const isShared = users.length + groups.length > 0
  // Only people who can edit the agent see its files and who it is shared with.
  const mayChange = base.permissions['edit'] === true
  const named = mayChange ? users.map((user) => ({ id: toUserId(user), email: user.includes('@') ? user : '' })) : []
  return complete(fullPersonaSchema, {
    ...base,
    user_file_ids: mayChange ? persona.fileIds : [],
    users: named,
    groups: mayChange ? groups : [],
    user_shares: named.map((user) => ({ user, permission: 'VIEWER' as const })),
    sharing_status: isPublic ? 'PUBLIC' : isShared ? 'SHARED' : 'PRIVATE',
    system_prompt: persona.systemPrompt,
    replace_base_system_prompt: persona.replacesBasePrompt,
    task_prompt: persona.taskPrompt,
    datetime_aware: persona.isDatetimeAware,
    grounding: persona.grounding ?? null,
    compared_citations: persona.comparesCitations ?? null,
    tool_approval: persona.toolApproval ?? null,
    search_start_date: persona.searchStartDate,
  })
}
