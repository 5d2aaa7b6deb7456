import type { CallerLimits } from '@inlay/protocol'
import type { Kysely } from 'kysely'

/** Table of what administrators and people set over the API, as Kysely sees it. */
export interface WorkspaceTable {
  inlay_workspace: {
    kind: string
    /** Whom it belongs to; "" for everybody's. */
    owner: string
    id: number
    /** JSON. */
    value: string
    /** Milliseconds since 1970 UTC. */
    created_at: number
    updated_at: number
  }
}

/** What is kept, by kind. Ids are the record's own, or those of what it belongs to. */
export interface WorkspaceValues {
  readonly connector: {
    readonly name: string
    readonly source: string
    readonly inputType: string
    readonly config: Readonly<Record<string, unknown>>
    readonly refreshFreq: number | null
    readonly pruneFreq: number | null
  }
  readonly credential: {
    readonly name: string | null
    readonly source: string
    /** Names of what it was made with; the values are not kept. */
    readonly fields: readonly string[]
    readonly isAdminPublic: boolean
    readonly ownerId: string
    readonly ownerEmail: string | null
  }
  /** By pair. */
  readonly link: { readonly connectorId: number; readonly credentialId: number }
  readonly label: { readonly name: string }
  /** By agent: ids of its labels. */
  readonly persona_labels: readonly number[]
  /** Number 1 alone. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Number 1 alone. */
  readonly limits: { readonly callers?: CallerLimits | null; readonly tenant?: CallerLimits | null }
  /** Number 1 alone: the model of this machine that answers. */
  readonly local_model: { readonly server: string; readonly baseUrl: string; readonly model: string }
  /** Number 1 of each owner: ids of agents in order. */
  readonly pinned: readonly number[]
  /** By agent, of each owner: ids of actions they switched off for it. */
  readonly disabled_tools: readonly number[]
  /** By {@link userSettingIds}, of each owner. */
  readonly user_setting: UserSettings[keyof UserSettings]
  /** Prompt shortcuts of each owner. */
  readonly input_prompt: { readonly prompt: string; readonly content: string; readonly active: boolean }
}

/** What a person sets for clients to read. */
export interface UserSettings {
  readonly default_model: string | null
  readonly theme_preference: string | null
  readonly auto_scroll: boolean | null
  readonly temperature_override_enabled: boolean | null
  readonly shortcut_enabled: boolean | null
}

/** The number under which each setting of a person is kept. */
export const userSettingIds: Readonly<Record<keyof UserSettings, number>> = {
  default_model: 1,
  theme_preference: 2,
  auto_scroll: 3,
  temperature_override_enabled: 4,
  shortcut_enabled: 5,
}

/** The settings of a person; null where nothing was set. */
export async function readUserSettings(
  workspace: Pick<WorkspaceRecords, 'list'> | undefined,
  ownerId: string,
): Promise<Readonly<Record<keyof UserSettings, unknown>>> {
  const records = (await workspace?.list('user_setting', ownerId)) ?? []
  const valueOf = (name: keyof UserSettings): unknown =>
    records.find(({ id }) => id === userSettingIds[name])?.value ?? null
  return {
    default_model: valueOf('default_model'),
    theme_preference: valueOf('theme_preference'),
    auto_scroll: valueOf('auto_scroll'),
    temperature_override_enabled: valueOf('temperature_override_enabled'),
    shortcut_enabled: valueOf('shortcut_enabled'),
  }
}

/** A record of one kind; times are milliseconds since 1970 UTC. */
export interface WorkspaceRecord<Kind extends keyof WorkspaceValues> {
  readonly id: number
  readonly value: WorkspaceValues[Kind]
  readonly createdAt: number
  readonly updatedAt: number
}

/** Keeps what is set over the API and belongs to no other part. */
export interface WorkspaceRecords {
  /** By id. */
  list<Kind extends keyof WorkspaceValues>(kind: Kind, owner?: string): Promise<readonly WorkspaceRecord<Kind>[]>
  get<Kind extends keyof WorkspaceValues>(
    kind: Kind,
    id: number,
    owner?: string,
  ): Promise<WorkspaceRecord<Kind> | undefined>
  /** Stores under the next free id of the kind, above {@link firstFreeId}. */
  add<Kind extends keyof WorkspaceValues>(kind: Kind, value: WorkspaceValues[Kind]): Promise<WorkspaceRecord<Kind>>
  /** Stores or replaces. */
  put<Kind extends keyof WorkspaceValues>(
    kind: Kind,
    id: number,
    value: WorkspaceValues[Kind],
    owner?: string,
  ): Promise<void>
  /** Whether there was one. */
  remove(kind: keyof WorkspaceValues, id: number, owner?: string): Promise<boolean>
  /** Removes all that belongs to a person. */
  erase(owner: string): Promise<void>
}

/**
 * Ids of added records are above this one. A pair made without a connector and a credential shows both under its own
 * number, which therefore never belongs to another.
 */
export const firstFreeId = 1_000_000

/** What is kept in a database that holds the tables of `migrateServer`. */
export function createWorkspaceRecords(options: {
  readonly db: Kysely<WorkspaceTable>
  readonly now?: () => number
}): WorkspaceRecords {
  const { db, now = Date.now } = options
  const read = <Kind extends keyof WorkspaceValues>(row: WorkspaceTable['inlay_workspace']): WorkspaceRecord<Kind> => ({
    id: Number(row.id),
    // Written below alone, as the value of its kind.
    value: JSON.parse(row.value) as WorkspaceValues[Kind],
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  })
  return {
    async list(kind, owner = '') {
      const rows = await db
        .selectFrom('inlay_workspace')
        .selectAll()
        .where('kind', '=', kind)
        .where('owner', '=', owner)
        .orderBy('id')
        .execute()
      return rows.map((row) => read(row))
    },
    async get(kind, id, owner = '') {
      const row = await rowOf(db, kind, id, owner).executeTakeFirst()
      return row && read(row)
    },
    async add(kind, value) {
      return read(await addRow(db, kind, JSON.stringify(value), now()))
    },
    async put(kind, id, value, owner = '') {
      const time = now()
      const stored = { value: JSON.stringify(value), updated_at: time }
      await db
        .insertInto('inlay_workspace')
        .values({ kind, owner, id, created_at: time, ...stored })
        .onConflict((conflict) => conflict.columns(['kind', 'owner', 'id']).doUpdateSet(stored))
        .execute()
    },
    async erase(owner) {
      if (owner !== '') await db.deleteFrom('inlay_workspace').where('owner', '=', owner).execute()
    },
    async remove(kind, id, owner = '') {
      const { numDeletedRows } = await db
        .deleteFrom('inlay_workspace')
        .where('kind', '=', kind)
        .where('owner', '=', owner)
        .where('id', '=', id)
        .executeTakeFirst()
      return Number(numDeletedRows) > 0
    },
  }
}

function rowOf(db: Kysely<WorkspaceTable>, kind: string, id: number, owner: string) {
  return db
    .selectFrom('inlay_workspace')
    .selectAll()
    .where('kind', '=', kind)
    .where('owner', '=', owner)
    .where('id', '=', id)
}

async function addRow(
  db: Kysely<WorkspaceTable>,
  kind: string,
  value: string,
  time: number,
): Promise<WorkspaceTable['inlay_workspace']> {
  for (let attempt = 1; ; attempt++) {
    const { last } = await db
      .selectFrom('inlay_workspace')
      .select((expression) => expression.fn.max('id').as('last'))
      .where('kind', '=', kind)
      .executeTakeFirstOrThrow()
    try {
      return await db
        .insertInto('inlay_workspace')
        .values({ kind, owner: '', id: Number(last ?? firstFreeId) + 1, value, created_at: time, updated_at: time })
        .returningAll()
        .executeTakeFirstOrThrow()
    } catch (error) {
      // Another process took the id in between: the table's primary key noticed.
      if (attempt >= 5) throw error
    }
  }
}
