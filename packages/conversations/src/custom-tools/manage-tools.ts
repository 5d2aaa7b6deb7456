import { emptyLog, isAmong, prepared } from '@inlay/records'
import type { Kysely } from 'kysely'
import { InlayError } from '@inlay/protocol'
import type { Action, ActionSource, Services } from '@inlay/agent'
import { toPersona } from '../personas/persona-records.ts'
import type { FetchAddress, OpenApiReader, StoredTool, StoredTools } from './contracts.ts'
import { checkFields, loadSource } from './definitions.ts'
import { createOpenApiActions } from './openapi-actions.ts'
import { createToolNumbers, isToolNumber } from './tool-numbers.ts'
import { toStoredTool, toToolColumns } from './tool-records.ts'
import { idsOf, type ConversationDatabase, type ConversationTables } from '../tables/database.ts'

export interface StoredToolsOptions extends Pick<Services, 'now' | 'newId' | 'onError'> {
  readonly db: Kysely<unknown>
  /** Fetches their services; without it tools cannot be created and are not offered. */
  readonly fetchAddress: FetchAddress | undefined
  /** Default: documents are read in this thread. */
  readonly openApiReader?: OpenApiReader | undefined
  /** Switches of actions other than stored tools. */
  readonly switches: ActionSwitches
  /** Whether there is an action with this id, also one that cannot be used right now. */
  readonly holds: (id: number) => Promise<boolean>
}

/** Kind of stored tools in the table of tool numbers. */
const kind = 'openapi'

export function createStoredTools(options: StoredToolsOptions): {
  readonly tools: StoredTools
  readonly source: ActionSource
  /** Those of the ids that only some agents have. */
  readonly restricted: (ids: readonly number[]) => Promise<readonly number[]>
} {
  const db = options.db.withTables<ConversationTables>()
  const get = async (id: number): Promise<StoredTool> => {
    const row = isToolNumber(id)
      ? await db.selectFrom('inlay_agent_tool').selectAll().where('id', '=', id).executeTakeFirst()
      : undefined
    if (row) return toStoredTool(row)
    throw new InlayError('NOT_FOUND', { message: 'No custom action has this id.' })
  }
  return {
    tools: {
      get,
      list: async () => {
        const rows = await db.selectFrom('inlay_agent_tool').selectAll().orderBy('id').execute()
        return rows.map(toStoredTool)
      },
      ...changes(db, get, options),
      validate: async (fields) => {
        const source = await loadSource(fields, reachOf(options))
        return (await readerOf(options)).listOperations(source)
      },
    },
    restricted: async (ids) => {
      const possible = ids.filter(isToolNumber)
      if (possible.length === 0) return []
      const query = db
        .selectFrom('inlay_agent_tool')
        .select('id')
        .where(isAmong(db, 'id', possible))
      return idsOf(await query.where('is_for_all', '=', 0).execute())
    },
    source: {
      list: createLister(db, options),
      holds: async (id) => {
        const query = db.selectFrom('inlay_agent_tool').select('id').where('id', '=', id)
        return isToolNumber(id) && (await query.executeTakeFirst()) !== undefined
      },
    },
  }
}

function reachOf({ fetchAddress }: StoredToolsOptions): FetchAddress {
  if (fetchAddress) return fetchAddress
  throw new InlayError('UNSUPPORTED', { message: 'Custom actions need a way to reach addresses, and there is none.' })
}

async function readerOf({ openApiReader }: StoredToolsOptions): Promise<OpenApiReader> {
  return openApiReader ?? (await import('./openapi-reader.ts'))
}

function changes(
  db: ConversationDatabase,
  get: StoredTools['get'],
  options: StoredToolsOptions,
): Pick<StoredTools, 'create' | 'update' | 'remove' | 'enable'> {
  const { now, newId } = options
  const numbers = createToolNumbers(options.db)
  const reduced = async (fields: Parameters<typeof loadSource>[0]): ReturnType<OpenApiReader['reduceDocument']> => {
    const source = await loadSource(fields, reachOf(options))
    return (await readerOf(options)).reduceDocument(source)
  }
  return {
    create: async (fields, caller) => {
      checkFields(fields)
      const { definition, skipped } = await reduced(fields)
      const row = await db
        .insertInto('inlay_agent_tool')
        .values({
          ...toToolColumns({ ...fields, definition }),
          id: await numbers.numberOf(kind, newId()),
          owner_id: caller.id,
          is_enabled: 1,
          updated_at: now(),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return { ...toStoredTool(row), ...(skipped.length > 0 && { skipped }) }
    },
    update: async (id, fields) => {
      const before = await get(id)
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
      const wanted = { ...before, ...given }
      checkFields(wanted)
      const isRead = [fields.definition, fields.operations, fields.serverUrl].some((field) => field !== undefined)
      const { definition, skipped } = isRead ? await reduced(wanted) : { definition: before.definition, skipped: [] }
      const row = await db
        .updateTable('inlay_agent_tool')
        .set({ ...toToolColumns({ ...wanted, definition }), updated_at: Math.max(now(), before.updatedAt + 1) })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(() => new InlayError('NOT_FOUND'))
      return { ...toStoredTool(row), ...(skipped.length > 0 && { skipped }) }
    },
    remove: async (id) => {
      await get(id)
      const personas = await db.selectFrom('inlay_personas').selectAll().where('deleted_at', 'is', null).execute()
      if (personas.map(toPersona).some(({ actionIds }) => actionIds?.includes(id))) {
        throw new InlayError('VALIDATION_ERROR', { message: 'An agent uses this action: take it out of there first.' })
      }
      await db.deleteFrom('inlay_agent_tool').where('id', '=', id).execute()
      // Its headers may contain keys.
      await emptyLog(db)
    },
    enable: (ids, isEnabled) => enable(db, { ids: [...new Set(ids)], isEnabled }, options),
  }
}

async function enable(
  db: ConversationDatabase,
  { ids, isEnabled }: { readonly ids: readonly number[]; readonly isEnabled: boolean },
  { switches, holds }: StoredToolsOptions,
): Promise<number[]> {
  const possible = ids.filter(isToolNumber)
  const query = db
    .updateTable('inlay_agent_tool')
    .set({ is_enabled: isEnabled ? 1 : 0 })
    .where(isAmong(db, 'id', possible))
    .returning('id')
  const stored = possible.length === 0 ? [] : idsOf(await query.execute())
  const others = ids.filter((id) => !stored.includes(id))
  const areThere = await Promise.all(others.map(holds))
  const known = others.filter((_, index) => areThere[index])
  await switches.set(known, isEnabled)
  return [...stored, ...known].toSorted((a, b) => a - b)
}

const enabledTools = prepared((db: ConversationDatabase) =>
  db.selectFrom('inlay_agent_tool').select(['id', 'updated_at']).where('is_enabled', '=', 1).orderBy('id'),
)

/** Lists the functions of the tools that are switched on; each document is read once for as long as it stays. */
function createLister(db: ConversationDatabase, options: StoredToolsOptions): ActionSource['list'] {
  const { fetchAddress, onError } = options
  let known = new Map<string, readonly Action[]>()
  return async () => {
    if (!fetchAddress) return []
    const enabled = await enabledTools(db, {})
    const keys = new Map(enabled.map(({ id, updated_at: updatedAt }) => [`${id} ${updatedAt}`, id]))
    const fresh = [...keys].filter(([key]) => !known.has(key)).map(([, id]) => id)
    const query = db
      .selectFrom('inlay_agent_tool')
      .selectAll()
      .where(isAmong(db, 'id', fresh))
    const rows = fresh.length === 0 ? [] : await query.execute()
    const read = rows.map(async (row): Promise<[string, readonly Action[]]> => {
      const actions = await createOpenApiActions(toStoredTool(row), { fetchAddress }).catch((error: unknown) => {
        onError(error)
        return []
      })
      return [`${row.id} ${row.updated_at}`, actions.map(asAction)]
    })
    known = new Map([...known, ...(await Promise.all(read))].filter(([key]) => keys.has(key)))
    return [...keys.keys()].flatMap((key) => known.get(key) ?? [])
  }
}

/** An action with its own input type as one of many: its input is checked by its own schema before it runs. */
function asAction<Input>(action: Action<Input>): Action {
  return action as unknown as Action
}

/** Actions of any kind that an administrator disabled. */
export interface ActionSwitches {
  off(): Promise<ReadonlySet<number>>
  /** Idempotent. */
  set(ids: readonly number[], isEnabled: boolean): Promise<void>
}

const actionsOff = prepared((db: ConversationDatabase) => db.selectFrom('inlay_agent_action_off').select('id'))

export function createActionSwitches(db: Kysely<unknown>): ActionSwitches {
  const tables = db.withTables<ConversationTables>()
  return {
    off: async () => {
      const rows = await actionsOff(tables, {})
      return new Set(idsOf(rows))
    },
    set: async (ids, isEnabled) => {
      if (ids.length === 0) return
      if (isEnabled)
        await tables
          .deleteFrom('inlay_agent_action_off')
          .where(isAmong(tables, 'id', ids))
          .execute()
      else {
        const rows = ids.map((id) => ({ id }))
        const insert = tables.insertInto('inlay_agent_action_off').values(rows)
        await insert.onConflict((conflict) => conflict.column('id').doNothing()).execute()
      }
    },
  }
}
