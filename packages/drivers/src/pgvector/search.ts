import { createParameters, vectorText, type Parameters } from './filter.ts'
import type { PgTables } from './schema.ts'
import { editDistance } from '@inlay/text'

export interface PgHit {
  readonly document_id: string
  readonly generation: string
  readonly position: number
  readonly text: string
  readonly metadata: string
  readonly source: string
  /** `bigint`: a string or a number, depending on the client. */
  readonly updated_at: string | number
  readonly score: string | number
  /** The vector as text, in the form of a JSON array; only if requested. */
  readonly vector?: string
}

export interface PgSearch {
  run<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  readonly tables: PgTables
  readonly language: string
  readonly limit: number
  /** Returns SQL that precedes the conditions of a vector search with a limit. */
  readonly hnswSettings: (limit: number) => string
}

/**
 * Words are split as in other indexes: PostgreSQL would keep `std.fs` as a host name, and read the `-1` of `L121-1` as
 * a negative number.
 */
export const withoutSigns = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')

type Conditions = (parameters: Parameters) => string

const columns = 'document_id, generation, position, text, card as metadata, source, updated_at'

/** Fusing needs more candidates from both searches than it returns. */
const depthOf = (limit: number, fused: boolean): number => (fused ? Math.max(limit * 4, 50) : limit)

/** Maximum number of different words of a query that are used; the beginning of a pasted page is enough. */
const maxWords = 48

/** Most rows that are counted or ranked, so that no search takes longer as the table grows. */
const maxRanked = 5_000

/**
 * Hits of keyword search, best first, with scores divided by the best. The weight of a word is its rarity times its
 * rank in the row; a word that the index does not contain is replaced by similarly spelled words. Where more rows hold
 * one of the words than are ranked, those with a rare word or with all words come first.
 */
export async function textHits(
  search: PgSearch,
  text: string,
  conditions: Conditions,
  fused: boolean,
): Promise<PgHit[]> {
  const { terms, total } = await termsOf(search, text)
  if (terms.length === 0) return []
  const operands = terms.map(({ word }) => quoteLexeme(word))
  const depth = depthOf(search.limit, fused)
  const ranked = (query: string): Promise<PgHit[]> => {
    const parameters = createParameters()
    const words = parameters.add(operands)
    const weights = parameters.add(terms.map(({ weight }) => weight))
    return search.run<PgHit>(
      `select ${columns}, (select sum(q.weight * ts_rank(r.words, q.operand, 1))
         from unnest(${words}::text[]::tsquery[], ${weights}::float8[]) as q(operand, weight)) as score
       from (select * from ${search.tables.rows} where words @@ ${parameters.add(query)}::tsquery
         and ${conditions(parameters)} limit ${2 * maxRanked}) r
       order by score desc, generation, position limit ${parameters.add(depth)}::int`,
      parameters.values,
    )
  }
  let sum = 0
  // A small table is ranked whole. A count that reached the maximum may stand for any number.
  const rare = operands.filter((_, at) => (sum += terms[at]!.rows) < maxRanked || total < maxRanked)
  let rows = await ranked([...rare, `(${operands.join(' & ')})`].join(' | '))
  if (rows.length < depth && rare.length < operands.length) {
    rows = rows.concat(await ranked(operands.join(' | '))).toSorted((a, b) => Number(b.score) - Number(a.score))
    rows = [...new Map(rows.map((row) => [`${row.position} ${row.generation}`, row])).values()].slice(0, depth)
  }
  const best = Number(rows[0]?.score ?? 0) || 1
  return rows.map((row) => ({ ...row, score: Number(row.score) / best }))
}

interface Term {
  readonly word: string
  readonly weight: number
  /** About how many hold it. */
  readonly rows: number
}

/** Terms, rarest first, and about how many rows there are. */
async function termsOf(search: PgSearch, text: string): Promise<{ readonly terms: Term[]; readonly total: number }> {
  const { rows: table } = search.tables
  const few = (from: string): string => `(select count(*) from (select ${from} limit ${maxRanked}) as first)`
  // Large numbers come from the statistics of the server.
  const counts = await search.run<{ word: string; count: unknown; total: unknown }>(
    `with known as (select nspname, relname, greatest(reltuples, ${few(`from ${table}`)}) as total
       from pg_class c join pg_namespace n on n.oid = relnamespace where c.oid = to_regclass('${table}')),
     common as materialized (select word, frequency
       from known join pg_stats on schemaname = nspname and tablename = relname and attname = 'words',
       unnest(most_common_elems::text::text[], most_common_elem_freqs) as elements(word, frequency))
     select q.word, total, coalesce(frequency * total, ${few(`from ${table} r where r.words @@ ${operandOf('q.word')}`)}) as count
     from (select lexeme as word from unnest(to_tsvector('${search.language}', $1)) limit ${maxWords}) q
     left join common using (word), known`,
    [withoutSigns(text.slice(0, 8_000))],
  )
  const terms: Term[] = []
  for (const { word, count, total } of counts) {
    const rows = Number(count)
    // Inverse document frequency as in BM25, with a minimum so that a word in most rows still breaks ties.
    const rarity = (holding: number): number =>
      Math.max(Math.log(1 + (Number(total) - holding + 0.5) / (holding + 0.5)), 0.01)
    if (rows > 0) terms.push({ word, weight: rarity(rows), rows })
    else if (word.length > 4)
      for (const near of await speltLike(search, word)) terms.push({ word: near, weight: rarity(1) * 0.8, rows: 1 })
  }
  return { terms: terms.toSorted((a, b) => a.rows - b.rows), total: Number(counts[0]?.total ?? 0) }
}

/** Known words with the same first letter within one edit (two for words longer than seven letters), nearest first. */
async function speltLike(search: PgSearch, word: string): Promise<string[]> {
  const edits = word.length > 7 ? 2 : 1
  const first = [...word][0] ?? ''
  const rows = await search.run<{ word: string }>(
    `select word from ${search.tables.words}
     where word >= $1 and word < $1 || chr(1114111) and length(word) between $2::int and $3::int limit 20000`,
    [first, word.length - edits, word.length + edits],
  )
  return rows
    .map((row) => ({ word: row.word, distance: editDistance(word, row.word, edits) }))
    .filter(({ distance }) => distance <= edits)
    .sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1))
    .slice(0, 10)
    .map((near) => near.word)
}

/** Quotes a lexeme as a `tsquery` operand: only quotes and backslashes need escaping. */
const quoteLexeme = (word: string): string => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** SQL for the same, for a column of lexemes. */
export const operandOf = (column: string): string =>
  String.raw`('''' || replace(replace(${column}, '\', '\\'), '''', '''''') || '''')::tsquery`

/**
 * Hits by cosine, nearest first; score (1 + cosine) / 2. An HNSW index applies the filter to the rows its scan finds,
 * so the scan continues until the limit is reached; if it stops early, all rows that match the filter are compared.
 */
export async function vectorHits(
  search: PgSearch,
  vector: Float32Array,
  conditions: Conditions,
  fused: boolean,
): Promise<PgHit[]> {
  const limit = depthOf(search.limit, fused)
  const near = (order: (distance: string) => string, settings: string): Promise<PgHit[]> => {
    const parameters = createParameters()
    const distance = `vector <=> ${parameters.add(vectorText(vector))}::vector`
    return search.run<PgHit>(
      `select ${columns}, 1 - (${distance}) / 2 as score from ${search.tables.rows}
       where ${settings}${conditions(parameters)}
       order by ${order(distance)} limit ${parameters.add(limit)}::int`,
      parameters.values,
    )
  }
  const rows = await near((distance) => distance, search.hnswSettings(limit))
  if (rows.length >= limit || !(await hasVectorIndex(search))) return rows
  // An expression that cannot use the index.
  return near((distance) => `(${distance}) + 0`, '')
}

async function hasVectorIndex({ run, tables }: PgSearch): Promise<boolean> {
  const [row] = await run<{ present: boolean }>('select to_regclass($1) is not null as present', [
    `${tables.rows}_vector`,
  ])
  return row?.present === true
}

/**
 * A condition that is always true and configures HNSW scans, for its own statement only, since a pool may run each
 * statement on another connection. It refers to no column, so PostgreSQL evaluates it before the scan starts.
 * @param version of the extension; before 0.8 a scan cannot be continued
 */
export function hnswSettingsOf(version: string | undefined): (limit: number) => string {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  const isIterative = major > 0 || minor >= 8
  return (limit) => {
    // Limited to the maximum of the extension. Scanning twice the limit finds about 98 % of the nearest rows.
    const efSearch = Math.min(1000, Math.max(100, Math.trunc(limit) * 2))
    const settings = [
      `set_config('hnsw.ef_search', '${efSearch}', true)`,
      ...(isIterative ? [`set_config('hnsw.iterative_scan', 'strict_order', true)`] : []),
    ]
    return `(select ${settings.join(' || ')}) is not null and `
  }
}
