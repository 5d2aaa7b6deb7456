import type { Selectable, Updateable } from 'kysely'
import type { PersonaTable } from '../tables/library-tables.ts'
import { isUnheld, lockHolds } from '@inlay/records'
import { asUuid, hasScope, InlayError, isNamed, toUserId, type PersonaFields, type Principal } from '@inlay/protocol'
import type { ModelProvider, NamedDocumentSet, Services } from '@inlay/agent'
import { holdPresent } from '../files/file-records.ts'
import type { SqlFiles } from '../files/manage-files.ts'
import { idsOf, isRowId, type ConversationDatabase } from '../tables/database.ts'
import type { StoredPersona, Personas } from './contracts.ts'
import { mayChangePersona, maySeePersona } from './persona-access.ts'
import { defaultStoredPersona, toColumns, toPersona } from './persona-records.ts'

export interface PersonasOptions extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  readonly models: ModelProvider
  readonly files: Pick<SqlFiles, 'find' | 'byIds' | 'wantIndexed' | 'adoptPicture' | 'dropPicture'>
  /** Whether there is an action with this id, also one that cannot be used right now. */
  readonly holdsAction: (id: number) => Promise<boolean>
  /** Actions among the ids that only administrators can give to agents. */
  readonly restrictedActions: (ids: readonly number[]) => Promise<readonly number[]>
  /** Document sets that a caller may search. */
  readonly documentSets: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
}

export function createPersonas(options: PersonasOptions): Personas {
  const { db, now } = options
  const get = async (id: number, caller: Principal): Promise<StoredPersona> => {
    if (id === 0) return defaultStoredPersona
    const row = isRowId(id)
      ? await db.selectFrom('inlay_personas').selectAll().where('id', '=', id).executeTakeFirst()
      : undefined
    const persona = row && toPersona(row)
    if (persona && !persona.isDeleted && maySeePersona(persona, caller)) return persona
    throw new InlayError('PERSONA_NOT_FOUND')
  }
  const changeable = async (id: number, caller: Principal): Promise<StoredPersona> => {
    const persona = await get(id, caller)
    if (id === 0) throw new InlayError('INVALID_INPUT', { message: 'The default agent stays as it is: make another.' })
    if (mayChangePersona(persona, caller)) return persona
    throw forbidden('Only its owner or an administrator changes an agent.')
  }
  const put = (records: ConversationDatabase, id: number, columns: Updateable<PersonaTable>) =>
    records
      .updateTable('inlay_personas')
      .set({ ...columns, updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(() => new InlayError('PERSONA_NOT_FOUND'))
  return {
    get,
    list: (caller, query = {}) => listPersonas(db, caller, query),
    create: async (fields, caller) => {
      const blank = { ...defaultStoredPersona, actionIds: [], isPublic: false, isFeatured: false, ownerId: caller.id }
      const persona = await change(blank, fields, caller, options)
      const owned = { ...toColumns(persona), owner_id: caller.id, owner_email: caller.email ?? null }
      const dated = { ...owned, created_at: now(), updated_at: now(), deleted_at: null }
      return writePersona(options, held(persona), (records) =>
        records.insertInto('inlay_personas').values(dated).returningAll().executeTakeFirstOrThrow(),
      )
    },
    update: async (id, fields, caller) => {
      const before = await changeable(id, caller)
      const persona = await change(before, fields, caller, options)
      const added = held(persona).filter((file) => !held(before).includes(file))
      const changed = await writePersona(options, added, (records) => put(records, id, toColumns(persona)))
      const { pictureId } = before
      if (pictureId && pictureId !== changed.pictureId) await options.files.dropPicture(pictureId)
      return changed
    },
    transfer: async (id, owner, caller) => {
      const before = await changeable(id, caller)
      // The new owner is removed from the shares.
      const users = before.users.filter((user) => user !== owner.email && toUserId(user) !== toUserId(owner.id))
      const columns = { ...toColumns({ ...before, users }), owner_id: owner.id, owner_email: owner.email }
      return writePersona(options, [], (records) => put(records, id, columns))
    },
    findPerson: (userId) => findPerson(db, userId),
    showsPicture: async (fileId, caller) => {
      const id = asUuid(fileId)
      if (id === undefined) return false
      const holders = await personasHolding(db, id)
      return holders.some((persona) => persona.pictureId === id && maySeePersona(persona, caller))
    },
    leave: async (id, caller) => {
      const before = await get(id, caller)
      const users = before.users.filter((user) => !isNamed(new Set([user]), caller))
      if (users.length === before.users.length)
        throw new InlayError('INVALID_INPUT', { message: 'This agent is not shared with you by name.' })
      await put(db, id, toColumns({ ...before, users }))
    },
    remove: async (id, caller) => {
      const { pictureId } = await changeable(id, caller)
      await db.updateTable('inlay_personas').set({ deleted_at: now() }).where('id', '=', id).execute()
      if (pictureId) await options.files.dropPicture(pictureId)
    },
  }
}

/** Files that an agent keeps from being removed. */
const held = ({ fileIds, pictureId }: StoredPersona): readonly string[] => [
  ...fileIds,
  ...(pictureId ? [pictureId] : []),
]

type PersonaWrite = (records: ConversationDatabase) => Promise<Selectable<PersonaTable>>

/** Writes an agent, unless one of its new files has been removed meanwhile. */
async function writePersona(
  { db, files }: PersonasOptions,
  added: readonly string[],
  change: PersonaWrite,
): Promise<StoredPersona> {
  const persona = await db.transaction().execute(async (records) => {
    const row = await change(records)
    await holdPresent(records, added)
    return toPersona(row)
  })
  await files.wantIndexed(persona.fileIds)
  if (persona.pictureId && persona.ownerId !== null) await files.adoptPicture(persona.pictureId, persona.ownerId)
  return persona
}

/** Ids on the wire differ for ids that are not UUIDs, and cannot be converted back. */
async function findPerson(db: ConversationDatabase, userId: string): Promise<string | undefined> {
  for (const table of ['inlay_chat_sessions', 'inlay_personas'] as const) {
    const rows = await db.selectFrom(table).select('owner_id').distinct().execute()
    const owner = rows.find(({ owner_id: id }) => toUserId(id) === userId)
    if (owner) return owner.owner_id
  }
  return undefined
}

function forbidden(message: string): InlayError {
  return new InlayError('INSUFFICIENT_PERMISSIONS', { message })
}

async function listPersonas(
  db: ConversationDatabase,
  caller: Principal,
  { includeDeleted = false, ids }: NonNullable<Parameters<Personas['list']>[1]>,
): Promise<StoredPersona[]> {
  const rows = await db.selectFrom('inlay_personas').selectAll().orderBy('id').execute()
  const seen = rows
    .map(toPersona)
    .filter((persona) => (includeDeleted || !persona.isDeleted) && maySeePersona(persona, caller))
  const sorted = seen.toSorted((a, b) => priorityOf(a) - priorityOf(b) || a.id - b.id)
  return [defaultStoredPersona, ...sorted].filter(({ id }) => ids === undefined || ids.includes(id))
}

export async function personasWithFile(db: ConversationDatabase, fileId: string): Promise<string[]> {
  return (await personasHolding(db, fileId)).map(({ name }) => name)
}

async function personasHolding(db: ConversationDatabase, fileId: string): Promise<StoredPersona[]> {
  const rows = await db
    .selectFrom('inlay_personas')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where('settings', 'like', `%${fileId}%`)
    .orderBy('name')
    .execute()
  return rows.map(toPersona).filter((persona) => held(persona).includes(fileId))
}

/** Erases agents that were deleted before a time, the oldest first. @returns how many */
export async function eraseDeletedPersonas(
  db: ConversationDatabase,
  { deletedBefore, limit }: { readonly deletedBefore: number; readonly limit: number },
): Promise<number> {
  const old = db
    .selectFrom('inlay_personas')
    .select('id')
    .where('deleted_at', '<', deletedBefore)
    .where(isUnheld('owner_id'))
    .orderBy('deleted_at')
    .limit(limit)
  return db.transaction().execute(async (records) => {
    await lockHolds(records)
    const { numDeletedRows } = await records.deleteFrom('inlay_personas').where('id', 'in', old).executeTakeFirst()
    return Number(numDeletedRows)
  })
}

function priorityOf({ displayPriority }: StoredPersona): number {
  return displayPriority ?? Number.MAX_SAFE_INTEGER
}

/** Applies fields to an agent. References to models, tools, sets and files are checked if they are new. */
async function change(
  persona: StoredPersona,
  fields: PersonaFields,
  caller: Principal,
  options: PersonasOptions,
): Promise<StoredPersona> {
  const { starter_messages: starters, default_model_configuration_id: modelId, compared_citations: compared } = fields
  const wanted: StoredPersona = {
    ...persona,
    name: fields.name ?? persona.name,
    description: fields.description ?? persona.description,
    isPublic: fields.is_public ?? persona.isPublic,
    isListed: fields.is_listed ?? persona.isListed,
    isFeatured: fields.is_featured ?? persona.isFeatured,
    systemPrompt: fields.system_prompt ?? persona.systemPrompt,
    replacesBasePrompt: fields.replace_base_system_prompt ?? persona.replacesBasePrompt,
    taskPrompt: fields.task_prompt ?? persona.taskPrompt,
    isDatetimeAware: fields.datetime_aware ?? persona.isDatetimeAware,
    grounding: fields.grounding === undefined ? persona.grounding : fields.grounding,
    comparesCitations: compared === undefined ? persona.comparesCitations : compared,
    toolApproval: fields.tool_approval === undefined ? persona.toolApproval : fields.tool_approval,
    users: unique(fields.users ?? persona.users),
    groups: unique(fields.groups ?? persona.groups),
    starterMessages: starters === undefined ? persona.starterMessages : starters,
    iconName: fields.icon_name === undefined ? persona.iconName : fields.icon_name,
    searchStartDate: fields.search_start_date === undefined ? persona.searchStartDate : fields.search_start_date,
    displayPriority: fields.display_priority === undefined ? persona.displayPriority : fields.display_priority,
    actionIds: unique(fields.tool_ids ?? persona.actionIds ?? []),
    documentSetIds: unique(fields.document_set_ids ?? persona.documentSetIds),
    model: modelId === undefined ? persona.model : await modelOf(modelId, options.models),
    pictureId: await pictureOf(fields, persona, caller, options),
    fileIds: fields.user_file_ids ? await fileIdsOf(fields.user_file_ids, persona, caller, options) : persona.fileIds,
  }
  await refuseActions(wanted, persona, caller, options)
  await refuseUnknownSets(wanted, persona, caller, options)
  refuseReserved(wanted, persona, caller)
  return wanted
}

async function refuseActions(
  wanted: StoredPersona,
  before: StoredPersona,
  caller: Principal,
  { holdsAction, restrictedActions }: Pick<PersonasOptions, 'holdsAction' | 'restrictedActions'>,
): Promise<void> {
  const fresh = (wanted.actionIds ?? []).filter((id) => !before.actionIds?.includes(id))
  const areKnown = !(await Promise.all(fresh.map(holdsAction))).includes(false)
  if (areKnown && !hasScope(caller, 'admin') && (await restrictedActions(fresh)).length > 0)
    throw forbidden('tool_ids names a custom action that only administrators may give to agents.')
  if (areKnown) return
  throw new InlayError('VALIDATION_ERROR', { message: 'tool_ids names an action that does not exist: see GET /tool.' })
}

async function refuseUnknownSets(
  wanted: StoredPersona,
  before: StoredPersona,
  caller: Principal,
  { documentSets }: PersonasOptions,
): Promise<void> {
  const fresh = wanted.documentSetIds.filter((id) => !before.documentSetIds.includes(id))
  if (fresh.length === 0) return
  const seen = new Set(idsOf(await documentSets(caller)))
  if (!fresh.every((id) => seen.has(id))) throw new InlayError('DOCUMENT_SET_NOT_FOUND')
}

/** Only administrators can change how listings look for everybody. */
function refuseReserved(wanted: StoredPersona, before: StoredPersona, caller: Principal): void {
  if (hasScope(caller, 'admin')) return
  if (wanted.isPublic && !before.isPublic)
    throw forbidden('Only administrators make an agent public: share it with people or groups, or ask one of them.')
  const isSame = wanted.isFeatured === before.isFeatured && wanted.displayPriority === before.displayPriority
  if (!isSame)
    throw forbidden('Only administrators feature agents and order them: leave out is_featured and display_priority.')
}

/** Stored by name, since positions in the list change with the configuration. */
async function modelOf(id: number | null, models: ModelProvider): Promise<StoredPersona['model']> {
  if (id === null) return null
  const listing = (await models.list())[id - 1]
  if (listing) return { provider: listing.provider, name: listing.name }
  throw new InlayError('VALIDATION_ERROR', {
    message: 'default_model_configuration_id names no model: see GET /llm/provider.',
  })
}

/** Null keeps the picture, since clients send it with every change. */
async function pictureOf(
  { uploaded_image_id: given, remove_image: removes }: PersonaFields,
  { pictureId = null }: StoredPersona,
  caller: Principal,
  { files }: PersonasOptions,
): Promise<string | null> {
  if (!given) return removes ? null : pictureId
  if (given === pictureId) return pictureId
  const [file] = await files.find([given], caller)
  if (file?.kind === 'image') return file.id
  throw new InlayError('NOT_FOUND', {
    message: 'uploaded_image_id names no picture of yours: upload it by POST /persona/upload-image first.',
  })
}

async function fileIdsOf(
  given: readonly string[],
  before: StoredPersona,
  caller: Principal,
  { files }: PersonasOptions,
): Promise<string[]> {
  const fresh = given.filter((id) => !before.fileIds.includes(id))
  // Administrators can also use files of others.
  const others = hasScope(caller, 'admin') ? await files.byIds(fresh) : []
  const owned = [...(await files.find(fresh, caller)), ...others]
  const idOf = new Map(owned.flatMap(({ id, fileId }) => [[id, id] as const, [fileId, id] as const]))
  return unique(
    given.map((given) => {
      const id = before.fileIds.includes(given) ? given : idOf.get(given)
      if (id !== undefined) return id
      throw new InlayError('NOT_FOUND', { message: 'user_file_ids names a file that is not there: upload it first.' })
    }),
  )
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}
