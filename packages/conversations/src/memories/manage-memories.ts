import { emptyLog, isAmong, prepared, refuseHeld } from '@inlay/records'
import { memoryChars, type KeptMemory, type Memory, type MemoryStore, type Services } from '@inlay/agent'
import { InlayError, storable, type Principal } from '@inlay/protocol'
import { isRowId, type ConversationDatabase } from '../tables/database.ts'
import type { Memories, Personalization, PersonalizationChanges } from './contracts.ts'
import { toMemory } from './memory-records.ts'

export interface MemoriesOptions extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  /** Whether the host has memories at all. */
  readonly isOn: boolean
}

export interface SqlMemories extends Memories, MemoryStore {}

export const maxMemories = 100

export function createMemories(options: MemoriesOptions): SqlMemories {
  const { db, now, isOn } = options
  const get = async (caller: Principal): Promise<Personalization> => {
    const [settings, memories] = await Promise.all([readSettings(db, caller), isOn ? listOwn(db, caller) : []])
    return isOn ? { ...settings, memories } : { ...settings, usesMemories: false, keepsMemories: false, memories }
  }
  const write = createWriter(now)
  const change = async <Result>(work: (records: ConversationDatabase) => Promise<Result>): Promise<Result> => {
    if (!isOn) throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Memories are switched off here.' })
    return db.transaction().execute(work)
  }
  /** Like `change`, for a removed or replaced text, which is removed from SQLite's log, too. */
  const erase: typeof change = async (work) => {
    const result = await change(work)
    await emptyLog(db)
    return result
  }
  return {
    canKeep: isOn,
    get,
    update: async (changes, caller) => {
      const { memories } = changes
      if (memories) await change((records) => write.all(records, memories, caller))
      await writeSettings(db, changes, caller, now())
      await emptyLog(db)
      return get(caller)
    },
    add: async (content, caller) => change(async (records) => write.add(records, checkContent(content), caller)),
    edit: async (id, content, caller) =>
      erase(async (records) => write.over(records, await ownId(records, id, caller), checkContent(content))),
    remove: (id, caller) =>
      erase(async (records) => {
        await refuseHeld(records, caller.id)
        const own = await ownId(records, id, caller)
        await records.deleteFrom('inlay_memories').where('id', '=', own).execute()
      }),
    clear: (caller) =>
      erase(async (records) => {
        await refuseHeld(records, caller.id)
        await records.deleteFrom('inlay_memories').where('owner_id', '=', caller.id).execute()
      }),
    person: async (caller) => {
      const known = await get(caller)
      return known.usesMemories ? known : { ...known, memories: [] }
    },
    mayKeep: async ({ id }) => {
      if (!isOn) return false
      const [settings] = await settingsOf(db, { id })
      return settings?.keeps_memories !== 0
    },
    keep: async (content, replaces, caller) =>
      change(async (records) => keepOne(records, write, { content, replaces, caller })),
  }
}

/** The id, where the memory is the caller's. NOT_FOUND. */
async function ownId(records: ConversationDatabase, id: number, { id: owner }: Principal): Promise<number> {
  const row = isRowId(id)
    ? await records.selectFrom('inlay_memories').select('owner_id').where('id', '=', id).executeTakeFirst()
    : undefined
  if (row?.owner_id === owner) return id
  throw new InlayError('NOT_FOUND', { message: 'There is no such memory.' })
}

async function keepOne(
  records: ConversationDatabase,
  write: Writer,
  {
    content,
    replaces,
    caller,
  }: { readonly content: string; readonly replaces: number | null; readonly caller: Principal },
): Promise<KeptMemory> {
  const text = checkContent(content)
  const memories = await listOwn(records, caller)
  const index = memories.findIndex(({ id, content: other }) =>
    replaces === null ? sameWords(text, other) : id === replaces,
  )
  const old = memories[index]
  if (old) return { memory: await write.over(records, old.id, text), operation: 'update', index }
  if (replaces === null) return { memory: await write.add(records, text, caller), operation: 'add', index: null }
  throw new InlayError('NOT_FOUND', {
    message: `No memory has the id ${replaces}: give the id of one that you were shown, or none to add this.`,
  })
}

type Settings = Omit<Personalization, 'memories'>
type Owner = Pick<Principal, 'id'>

const settingsOf = prepared((db: ConversationDatabase, { id }: Owner) =>
  db.selectFrom('inlay_personalizations').selectAll().where('owner_id', '=', id),
)
const memoriesOf = prepared((db: ConversationDatabase, { id }: Owner) =>
  db.selectFrom('inlay_memories').selectAll().where('owner_id', '=', id).orderBy('id', 'desc'),
)

async function readSettings(db: ConversationDatabase, { id }: Principal): Promise<Settings> {
  const [row] = await settingsOf(db, { id })
  return {
    name: row?.name ?? '',
    role: row?.role ?? '',
    preferences: row?.preferences ?? '',
    usesMemories: row?.uses_memories !== 0,
    keepsMemories: row?.keeps_memories !== 0,
  }
}

async function writeSettings(
  db: ConversationDatabase,
  changes: PersonalizationChanges,
  caller: Principal,
  time: number,
): Promise<void> {
  const { memories: _, ...settings } = changes
  if (Object.values(settings).every((value) => value === undefined)) return
  const merged = { ...(await readSettings(db, caller)), ...withoutAbsent(settings) }
  const values = {
    name: checkLength('name', merged.name, 200),
    role: checkLength('role', merged.role, 200),
    preferences: checkLength('user_preferences', merged.preferences, 2_000),
    uses_memories: merged.usesMemories ? 1 : 0,
    keeps_memories: merged.keepsMemories ? 1 : 0,
    updated_at: time,
  }
  await db
    .insertInto('inlay_personalizations')
    .values({ owner_id: caller.id, ...values })
    .onConflict((conflict) => conflict.column('owner_id').doUpdateSet(values))
    .execute()
}

function withoutAbsent(settings: Partial<Settings>): Partial<Settings> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

async function listOwn(db: ConversationDatabase, { id }: Principal): Promise<Memory[]> {
  const rows = await memoriesOf(db, { id })
  return rows.map(toMemory)
}

interface Writer {
  add(records: ConversationDatabase, content: string, caller: Principal): Promise<Memory>
  over(records: ConversationDatabase, id: number, content: string): Promise<Memory>
  all(records: ConversationDatabase, wanted: PersonalizationChanges['memories'] & {}, caller: Principal): Promise<void>
}

function createWriter(now: () => number): Writer {
  const insert = async (records: ConversationDatabase, content: string, caller: Principal): Promise<Memory> => {
    const time = now()
    const row = await records
      .insertInto('inlay_memories')
      .values({ owner_id: caller.id, content, created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toMemory(row)
  }
  const over: Writer['over'] = async (records, id, content) => {
    const row = await records
      .updateTable('inlay_memories')
      .set({ content, updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return toMemory(row)
  }
  return {
    add: async (records, content, caller) => {
      if ((await listOwn(records, caller)).length >= maxMemories) throw tooMany()
      return insert(records, content, caller)
    },
    over,
    all: async (records, wanted, caller) => {
      if (wanted.length > maxMemories) throw tooMany()
      const old = new Map((await listOwn(records, caller)).map((memory) => [memory.id, memory]))
      const gone = new Set(old.keys())
      // The first of the list is the newest.
      for (const { id, content } of wanted.toReversed()) {
        const text = checkContent(content)
        const known = id === null ? undefined : old.get(id)
        if (!known) await insert(records, text, caller)
        else if (known.content !== text) await over(records, known.id, text)
        if (known) gone.delete(known.id)
      }
      if (gone.size === 0) return
      await refuseHeld(records, caller.id)
      await records
        .deleteFrom('inlay_memories')
        .where(isAmong(records, 'id', [...gone]))
        .execute()
    },
  }
}

/** One line without blanks around it. */
function checkContent(content: string): string {
  const text = storable(content).replace(/\s+/g, ' ').trim()
  if (text.length >= 1 && text.length <= memoryChars) return text
  throw new InlayError('INVALID_INPUT', { message: `A memory takes 1 to ${memoryChars} characters.` })
}

function checkLength(field: string, value: string, most: number): string {
  const text = storable(value).trim()
  if (text.length <= most) return text
  throw new InlayError('INVALID_INPUT', { message: `${field} takes ${most} characters at most.` })
}

function tooMany(): InlayError {
  const message = `There are ${maxMemories} memories already: replace or remove one first.`
  return new InlayError('INVALID_INPUT', { message })
}

/** Whether two texts say the same but for case and punctuation. */
function sameWords(a: string, b: string): boolean {
  const words = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')
  const wanted = words(a)
  return wanted === '' ? a === b : wanted === words(b)
}
