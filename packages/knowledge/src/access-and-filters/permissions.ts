import { idList, isAmong, isAmongIds, prepared, preparedRows } from '@inlay/records'
import { InlayError, hasScope, isNamed, toUserId } from '@inlay/protocol'
import type { Access, Caller } from '../contracts/pairs.ts'
import { type Insertable, type RawBuilder, type SqlBool, sql } from 'kysely'
import { batchesOf } from '../schema/sql.ts'
import type { GrantRow, Records, Tables } from '../schema/tables.ts'

/** Access settings of a pair or document set. */
export interface Guarded {
  readonly id: number
  readonly isPublic: boolean
  readonly users: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
}

export interface GuardedPair extends Guarded {
  readonly isPaused: boolean
  /** While true, its documents are being removed and no longer count as part of it. */
  readonly isRemoved: boolean
}

/** The pair of private files. No caller may see it, whatever its scopes, and neither may the host. */
export const privateFilesPair: number = 2 ** 31 - 1

/** The only caller allowed to see private files. Compared by reference, so it cannot be forged. */
export const privateFilesCaller: Caller = { id: 'inlay:private-files', scopes: [] }

/** Whether the caller may see everything: the host itself (no caller), and callers with the scope `admin`. */
export function isUnrestricted(caller: Caller | undefined): boolean {
  return !caller || hasScope(caller, 'admin')
}

/** Whether the caller may see the documents of a pair or set; for a pair, also whether it may add documents. */
export function maySee(guarded: Guarded, caller: Caller | undefined): boolean {
  if (guarded.id === privateFilesPair) return caller === privateFilesCaller
  if (!caller || hasScope(caller, 'admin') || guarded.isPublic || isNamed(guarded.users, caller)) return true
  return caller.groups?.some((group) => guarded.groups.has(group)) ?? false
}

/** Like {@link maySee}, for a pair or set in its public form. */
export function maySeeRecord(record: Access & { readonly id: number }, caller: Caller | undefined): boolean {
  return maySee({ ...record, users: new Set(record.users), groups: new Set(record.groups) }, caller)
}

/** Databases reject comparisons with values out of a column's range. */
export function isRecordId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id <= 2 ** 31 - 1
}

const storedPairs = (db: Records) => db.selectFrom('inlay_pairs').select(['id', 'is_public', 'is_paused', 'is_removed'])

const allPairs = prepared(storedPairs)
const pairsAmong = prepared((db: Records, { ids }: { readonly ids: string }) =>
  storedPairs(db).where(isAmongIds(db, 'id', ids)),
)

/** Reads all pairs, or those with the given ids. Each id must be valid (`isRecordId`). */
export async function readPairs(db: Records, ids?: readonly number[]): Promise<Map<number, GuardedPair>> {
  if (ids?.length === 0) return new Map()
  const rows = ids ? await pairsAmong(db, { ids: idList(db, ids) }) : await allPairs(db, {})
  const guarded = rows.filter((row) => !row.is_public).map((row) => row.id)
  const grants = guarded.length > 0 ? await readGrants(db, 'pair', guarded) : undefined
  return new Map(
    rows.map((row) => [
      row.id,
      {
        ...(grants?.get(row.id) ?? noGrants),
        id: row.id,
        isPublic: row.is_public === 1,
        isPaused: row.is_paused === 1,
        isRemoved: row.is_removed === 1,
      },
    ]),
  )
}

/** Pairs of a query as an SQL condition: there may be more than the parameter limit of a statement. */
export interface PairScope {
  /** The pair, if the query is for a single one. */
  readonly pairId?: number
  /** SQL condition: the column is the id of one of the pairs. */
  readonly holds: (column: string) => RawBuilder<SqlBool>
}

/**
 * Pairs whose documents the caller may see, or one of them if the query asks for it; undefined for all. The same rule
 * as {@link maySee}, in SQL.
 */
export async function pairsFor(
  db: Records,
  caller: Caller | undefined,
  pairId?: number,
): Promise<PairScope | undefined> {
  const visible = visiblePairs(db, caller)
  if (pairId !== undefined) {
    const matches = isRecordId(pairId)
      ? await sql`select id from inlay_pairs where id = ${pairId} and id in ${visible}`.execute(db)
      : { rows: [] }
    if (matches.rows.length === 0) return { holds: () => sql<SqlBool>`1 = 0` }
    return { pairId, holds: (column) => sql<SqlBool>`${sql.ref(column)} = ${pairId}` }
  }
  if (isUnrestricted(caller)) {
    const hidden = await sql`
      select id from inlay_pairs where id = ${privateFilesPair}
      union all select id from inlay_pairs where is_removed = 1 limit 1`.execute(db)
    if (hidden.rows.length === 0) return undefined
  }
  return { holds: (column) => sql<SqlBool>`${sql.ref(column)} in ${visible}` }
}

function visiblePairs(db: Records, caller: Caller | undefined): RawBuilder<unknown> {
  const present = sql`is_removed = 0 and id <> ${sql.lit(privateFilesPair)}`
  if (!caller || isUnrestricted(caller)) return sql`(select id from inlay_pairs where ${present})`
  const names = [caller.id, toUserId(caller.id), ...(caller.email === undefined ? [] : [caller.email])]
  const own =
    caller === privateFilesCaller
      ? sql`union all select id from inlay_pairs where id = ${sql.lit(privateFilesPair)}`
      : sql``
  return sql`(
    select id from inlay_pairs where ${present} and is_public = 1
    union all select inlay_pairs.id from inlay_grants join inlay_pairs on inlay_pairs.id = target_id
    where kind = 'pair' and grantee = 'user' and ${isAmong(db, 'inlay_grants.name', names)} and ${present}
    union all select inlay_pairs.id from inlay_grants join inlay_pairs on inlay_pairs.id = target_id
    where kind = 'pair' and grantee = 'group' and ${isAmong(db, 'inlay_grants.name', [...(caller.groups ?? [])])} and ${present}
    ${own}
  )`
}

/** Ids of the pairs that documents are in, ascending, by document id. */
export async function readMemberships(db: Records, documentIds: readonly string[]): Promise<Map<string, number[]>> {
  const rows = await memberships(db, { ids: idList(db, documentIds) })
  const byDocument = new Map<string, number[]>()
  for (const { document_id: id, pair_id: pairId } of rows) byDocument.set(id, [...(byDocument.get(id) ?? []), pairId])
  return byDocument
}

const memberships = prepared((db: Records, { ids }: { readonly ids: string }) =>
  db
    .selectFrom('inlay_document_pairs')
    .selectAll()
    .where(isAmongIds(db, 'document_id', ids, 'text'))
    .orderBy('pair_id'),
)

export type Grants = Pick<Guarded, 'users' | 'groups'>

export const noGrants: Grants = { users: new Set(), groups: new Set() }

/** Reads the people and groups with access to pairs or sets, by id; ids without any are omitted. */
export async function readGrants(
  db: Records,
  kind: GrantRow['kind'],
  ids: readonly number[],
): Promise<ReadonlyMap<number, Grants>> {
  const grants = new Map<number, { readonly users: Set<string>; readonly groups: Set<string> }>()
  if (ids.length === 0) return grants
  const rows = await db
    .selectFrom('inlay_grants')
    .select(['target_id', 'grantee', 'name'])
    .where('kind', '=', kind)
    .where(isAmong(db, 'target_id', ids))
    .orderBy('name')
    .execute()
  for (const { target_id: id, grantee, name } of rows) {
    const named = grants.get(id) ?? { users: new Set(), groups: new Set() }
    grants.set(id, named)
    named[grantee === 'user' ? 'users' : 'groups'].add(name)
  }
  return grants
}

export async function writeGrants(
  db: Records,
  kind: GrantRow['kind'],
  id: number,
  access: { users?: readonly string[]; groups?: readonly string[] },
): Promise<void> {
  for (const [grantee, names] of [
    ['user', access.users],
    ['group', access.groups],
  ] as const) {
    if (!names) continue
    await db
      .deleteFrom('inlay_grants')
      .where('kind', '=', kind)
      .where('target_id', '=', id)
      .where('grantee', '=', grantee)
      .execute()
    const rows = [...new Set(names)].map((name) => ({ kind, target_id: id, grantee, name }))
    for (const batch of batchesOf(rows)) await db.insertInto('inlay_grants').values(batch).execute()
  }
}

export function forbidden(message: string): InlayError {
  return new InlayError('INSUFFICIENT_PERMISSIONS', { message })
}

export async function noteActivity(
  db: Records,
  what: 'accepted_at' | 'indexed_at',
  { pairIds, now }: { pairIds: readonly number[]; now: number },
): Promise<void> {
  // Always in the same order, so that two transactions cannot deadlock.
  const rows = [...new Set(pairIds)]
    .toSorted((left, right) => left - right)
    .map((id) => ({ pair_id: id, accepted_at: null, indexed_at: null, [what]: now }))
  await noted[what](db, rows)
}

const noting = (what: 'accepted_at' | 'indexed_at') =>
  preparedRows(
    ['pair_id', 'accepted_at', 'indexed_at'],
    (db: Records, rows: readonly Insertable<Tables['inlay_pair_activity']>[]) =>
      db
        .insertInto('inlay_pair_activity')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('pair_id').doUpdateSet((of) => ({ [what]: of.ref(`excluded.${what}`) })),
        ),
  )

const noted = { accepted_at: noting('accepted_at'), indexed_at: noting('indexed_at') }
