import type { CallerLimits } from '@inlay/protocol'
import type { Kysely } from 'kysely'

/** Table of settings that administrators and users make over the API, for Kysely. */
export interface WorkspaceTable {
  inlay_workspace: {
    kind: string
    /** Id of the owner; "" for shared records. */
    owner: string
    id: number
    /** JSON. */
    value: string
    /** Milliseconds since 1970 UTC. */
    created_at: number
    updated_at: number
  }
}

/** Stored values by kind. The id is that of the record itself, or of the object the record belongs to. */
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
    /** Names of the credential's fields; their values are not stored. */
    readonly fields: readonly string[]
    readonly isAdminPublic: boolean
    readonly ownerId: string
    readonly ownerEmail: string | null
  }
  /** By pair id. */
  readonly link: { readonly connectorId: number; readonly credentialId: number }
  readonly label: { readonly name: string }
  /** Label ids, by agent id. */
  readonly persona_labels: readonly number[]
  /** A single record with id 1. */
  readonly settings: Readonly<Record<string, unknown>>
  /** A single record with id 1. */
  readonly limits: {
    readonly callers?: CallerLimits | null
    readonly tenant?: CallerLimits | null
    readonly isSuspended?: boolean
  }
  /** The selected local model; a single record with id 1. */
  readonly local_model: { readonly server: string; readonly baseUrl: string; readonly model: string }
  /** Models that administrators added, by provider; the key is encrypted. */
  readonly model_provider: {
    readonly name: string
    /** As `api` of a model's options. */
    readonly type: string
    readonly baseUrl: string | null
    readonly apiKey: string | null
    readonly models: readonly {
      readonly name: string
      readonly contextTokens: number | null
      readonly takesImages: boolean | null
    }[]
    /** Its model that answers by default, in place of the configured one. */
    readonly defaultModel: string | null
  }
  /** MCP servers that administrators added, by the number of the server; the token is encrypted. */
  readonly mcp_server: {
    readonly name: string
    readonly description: string | null
    readonly url: string
    readonly transport: 'http' | 'sse'
    readonly token: string | null
  }
  /** What a model does by itself; one record with id 1, by the address of its server and its name as owner. */
  readonly model_abilities: { readonly callsTools: boolean; readonly cites: boolean }
  /** Length of the vectors of an embedding model, as it answered; one record with id 1, by its address and name as owner. */
  readonly embedder_dimensions: number
  /** How the assistant signed in to an MCP server: JSON with its tokens, encrypted where there is a key; one record with id 1, by server as owner. */
  readonly mcp_sign_in: string
  /** Ids of pinned agents in order; one record with id 1 per owner. */
  readonly pinned: readonly number[]
  /** Ids of disabled actions, by agent id and owner. */
  readonly disabled_tools: readonly number[]
  /** By {@link userSettingId} and owner. */
  readonly user_setting: string | number | boolean | null
  /** What a file was uploaded for over OpenAI's API, by owner. */
  readonly file_purpose: { readonly fileId: string; readonly purpose: string }
  /** What a client of OpenAI's API keeps with a conversation, which is a session, by owner. */
  readonly conversation: { readonly sessionId: string; readonly metadata: Readonly<Record<string, string>> }
  /** A vector store of OpenAI's API, by the id of its document set, with the pair of its documents. */
  readonly vector_store: {
    readonly name: string | null
    readonly pairId: number
    readonly ownerId: string
    readonly metadata: Readonly<Record<string, string>>
  }
  /** A file that was added to a vector store, with the store as owner; `fault` says why it has no document. */
  readonly vector_store_file: {
    readonly fileId: string
    readonly name: string
    readonly sizeBytes: number
    readonly attributes: Readonly<Record<string, string | number | boolean>>
    readonly addedAt: number
    readonly fault?: string
  }
  /** Files that were added to a vector store together, with the store as owner; `addedAt` as that of its new files. */
  readonly vector_store_batch: {
    readonly fileIds: readonly string[]
    readonly addedAt: number
    readonly isCancelled: boolean
  }
  /** Prompt shortcuts by owner. */
  readonly input_prompt: { readonly prompt: string; readonly content: string; readonly active: boolean }
}

/** Names of personal settings that clients read. Each is stored under its place, from 1: new ones go last. */
const userSettingNames = [
  'default_model',
  'theme_preference',
  'auto_scroll',
  'temperature_override_enabled',
  'shortcut_enabled',
  'paste_as_tile',
  'language',
  'chat_background',
  'default_app_mode',
  'voice_auto_send',
  'voice_auto_playback',
  'voice_playback_speed',
] as const

export type UserSettingName = (typeof userSettingNames)[number]

export const userSettingId = (name: UserSettingName): number => userSettingNames.indexOf(name) + 1

/** The settings of a person; null for those not set. */
export async function readUserSettings(
  workspace: Pick<WorkspaceRecords, 'list'> | undefined,
  ownerId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const records = (await workspace?.list('user_setting', ownerId)) ?? []
  const values = new Map(records.map(({ id, value }) => [id, value]))
  return Object.fromEntries(userSettingNames.map((name) => [name, values.get(userSettingId(name)) ?? null]))
}

/** A record of one kind. Times are milliseconds since 1970 UTC. */
export interface WorkspaceRecord<Kind extends keyof WorkspaceValues> {
  readonly id: number
  readonly value: WorkspaceValues[Kind]
  readonly createdAt: number
  readonly updatedAt: number
}

/** Stores settings made over the API that belong to no other component. */
export interface WorkspaceRecords {
  /** Sorted by id. */
  list<Kind extends keyof WorkspaceValues>(kind: Kind, owner?: string): Promise<readonly WorkspaceRecord<Kind>[]>
  get<Kind extends keyof WorkspaceValues>(
    kind: Kind,
    id: number,
    owner?: string,
  ): Promise<WorkspaceRecord<Kind> | undefined>
  /** Stores a value under the next free id of the kind, above {@link firstFreeId}. */
  add<Kind extends keyof WorkspaceValues>(
    kind: Kind,
    value: WorkspaceValues[Kind],
    owner?: string,
  ): Promise<WorkspaceRecord<Kind>>
  /** Creates or replaces a record. */
  put<Kind extends keyof WorkspaceValues>(
    kind: Kind,
    id: number,
    value: WorkspaceValues[Kind],
    owner?: string,
  ): Promise<void>
  /** @returns whether the record existed */
  remove(kind: keyof WorkspaceValues, id: number, owner?: string): Promise<boolean>
  /** Deletes all records of an owner. @throws CONFLICT for a person under a legal hold; what is of no person has none */
  erase(owner: string, options?: { readonly isPerson?: boolean }): Promise<void>
}

/**
 * Ids of added records are above this one. A pair created without a connector and credential is shown with its own
 * number for both, so that number must not be used by another record.
 */
export const firstFreeId = 1_000_000

/** Creates the store in a database with the tables of `migrateServer`. */
export function createWorkspaceRecords(options: {
  readonly db: Kysely<WorkspaceTable>
  readonly now?: () => number
}): WorkspaceRecords {
  const { db, now = Date.now } = options
  const read = <Kind extends keyof WorkspaceValues>(row: WorkspaceTable['inlay_workspace']): WorkspaceRecord<Kind> => ({
    id: Number(row.id),
    // Written only below, as the value of its kind.
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
      const row = await db
        .selectFrom('inlay_workspace')
        .selectAll()
        .where('kind', '=', kind)
        .where('owner', '=', owner)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && read(row)
    },
    async add(kind, value, owner = '') {
      return read(await addRow(db, { kind, owner, value: JSON.stringify(value) }, now()))
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
    async erase(owner, { isPerson = true } = {}) {
      if (owner === '') return
      const { removeOf } = await import('@inlay/records')
      await (isPerson ? removeOf(db, owner, (records) => allOf(records, owner).execute()) : allOf(db, owner).execute())
    },
    async remove(kind, id, owner = '') {
      const remove = (records: Kysely<WorkspaceTable>) =>
        allOf(records, owner).where('kind', '=', kind).where('id', '=', id).executeTakeFirst()
      // A text of a person, or what belongs to one.
      const isHeld = kind === 'input_prompt' || kind === 'conversation'
      const { numDeletedRows } = isHeld
        ? await (await import('@inlay/records')).removeOf(db, owner, remove)
        : await remove(db)
      return Number(numDeletedRows) > 0
    },
  }
}

const allOf = (db: Kysely<WorkspaceTable>, owner: string) => db.deleteFrom('inlay_workspace').where('owner', '=', owner)

async function addRow(
  db: Kysely<WorkspaceTable>,
  { kind, owner, value }: Pick<WorkspaceTable['inlay_workspace'], 'kind' | 'owner' | 'value'>,
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
        .values({ kind, owner, id: Number(last ?? firstFreeId) + 1, value, created_at: time, updated_at: time })
        .returningAll()
        .executeTakeFirstOrThrow()
    } catch (error) {
      // Another process used the id in the meantime, which the primary key detected.
      if (attempt >= 5) throw error
    }
  }
}
