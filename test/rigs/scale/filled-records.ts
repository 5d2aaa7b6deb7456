import { sql, type Kysely } from 'kysely'

/** How many rows there are. */
export interface Filling {
  readonly documents: number
  readonly pairs: number
  readonly sessions: number
  readonly messages: number
  readonly auditRows: number
  /** Length of an answer. Default: that of a short question. */
  readonly answerCharacters?: number
}

/** The owner of a quarter of all sessions. */
export const busyOwner = 'owner-0'
const owners = 1_000

/**
 * Fills tables of records that are in place by a few statements, on SQLite or PostgreSQL. Every word that names a number
 * (`title12`, `said12`) stands in one text alone; `report` is in all.
 */
export async function fillRecords(db: Kysely<unknown>, filling: Filling, isPostgres: boolean): Promise<void> {
  await db.connection().execute(async (connection) => {
    const run = async (statement: string): Promise<void> => void (await sql.raw(statement).execute(connection))
    const numbers = (count: number): string =>
      isPostgres
        ? `(select n from generate_series(1, ${count}) as n) as numbers`
        : `(with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
            select n from numbers) as numbers`
    const session = (n: string): string =>
      `'00000000-0000-4000-8000-' || ${isPostgres ? `right('000000000000' || (${n}), 12)` : `substr('000000000000' || (${n}), -12)`}`
    await run(isPostgres ? 'begin' : 'begin immediate')
    // The work of triggers per row is done in one statement below.
    if (isPostgres) {
      await run('set local session_replication_role = replica')
      await run('drop index inlay_document_names_index')
      await run('drop index inlay_chat_search_words')
    }
    await run(`insert into inlay_pairs (id, name, is_public, is_paused, is_removed, created_at)
      select n + 1, 'Pair ' || n, case when n % 10 = 0 then 0 else 1 end, 0, 0, 0 from ${numbers(filling.pairs)}`)
    await run(`insert into inlay_grants (kind, target_id, grantee, name)
      select 'pair', id, 'group', 'staff' from inlay_pairs where is_public = 0 and id % 20 = 1`)
    await run(`insert into inlay_documents (id, revision, incarnation, state, hash, semantic_identifier, link, source,
        content_bytes, accepted_at, due_at, attempts, failures, interruptions, visible_generation, visible_revision,
        chunk_count, indexed_at, reason)
      select 'document-' || n, n, n,
        case when n % 1000 = 0 then 'failed' when n % 1000 = 1 then 'pending' else 'indexed' end, 'hash',
        'A report about title' || n, 'https://example/' || n, case when n % 7 = 0 then 'web' else 'file' end,
        2000, n, n, 1, 0, 0, 'generation-' || n, n, 2, n, case when n % 1000 = 0 then 'Bad' end
      from ${numbers(filling.documents)}`)
    // A fifth is in the default pair.
    await run(`insert into inlay_document_pairs (pair_id, document_id)
      select case when n % 5 = 0 then 1 else n % ${filling.pairs} + 2 end, 'document-' || n from ${numbers(filling.documents)}`)
    await run(`insert into inlay_tags (id, tag_key, tag_value, source, wording)
      select n, 'topic', 'value' || n, 'file', 'topic=value' || n from ${numbers(1_000)}`)
    await run(`insert into inlay_document_tags (tag_id, pair_id, document_id)
      select n % 1000 + 1, n % ${filling.pairs} + 2, 'document-' || n from ${numbers(filling.documents)}`)
    await run(`insert into inlay_chat_sessions (id, owner_id, name, persona_id, created_at, updated_at, is_public)
      select ${session('n')}, 'owner-' || (case when n % 4 = 0 then 0 else n % ${owners} end), 'About name' || n, 0, n, n, 0
      from ${numbers(filling.sessions)}`)
    const count = Math.floor((filling.answerCharacters ?? 0) / 5)
    const rest = isPostgres
      ? `repeat(' word', ${count})`
      : `replace(substr(hex(zeroblob(${count})), 1, ${count}), '0', ' word')`
    await run(`insert into inlay_chat_messages (id, session_id, parent_id, role, status, created_at, text)
      select n, ${session(`n % ${filling.sessions} + 1`)}, case when n > ${filling.sessions} then n - ${filling.sessions} end,
        case when n <= ${filling.sessions} then 'system' when (n / ${filling.sessions}) % 2 = 1 then 'user' else 'assistant' end,
        'done', n, 'A report of what said' || n || ' means for us in some more words' ||
          case when n > ${filling.sessions} and (n / ${filling.sessions}) % 2 = 0 then ${rest} else '' end
      from ${numbers(filling.messages)}`)
    const words = isPostgres
      ? `array['@' || encode(convert_to(owner_id, 'UTF8'), 'hex'), 'report', 'said' || n, 'means', 'some', 'more', 'word']`
      : `' @' || lower(hex(owner_id)) || ' report said' || n || ' means some more word '`
    await run(`insert into inlay_chat_search (session_id, message_id, words)
      select session_id, n, ${words} from (
        select session_id, message.id as n, owner_id from inlay_chat_messages as message
        join inlay_chat_sessions on inlay_chat_sessions.id = session_id where parent_id is not null) as said`)
    await run(`insert into inlay_audit (id, caller_id, operation, target, status, request_id)
      select '0000000' || (1000000 + n), 'caller-' || (n % 50), 'operation-' || (n % 20), '{}', 200, 'r' from ${numbers(filling.auditRows)}`)
    if (isPostgres) {
      await run(`insert into inlay_document_names (document_id, name)
        select id, lower(semantic_identifier) || ' ' || lower(id) from inlay_documents`)
      await run(`insert into inlay_pair_counts (pair_id, source, state, amount)
        select pair_id, source, state, count(*) from inlay_document_pairs
        join inlay_documents on inlay_documents.id = document_id group by pair_id, source, state`)
      await run('create index inlay_document_names_index on inlay_document_names using gin (inlay_pieces(name))')
      await run('create index inlay_chat_search_words on inlay_chat_search using gin (words)')
      await run(`select setval(pg_get_serial_sequence('inlay_chat_messages', 'id'), ${filling.messages + 1})`)
    }
    await run(`update inlay_counters set value = ${filling.documents} where name = 'revision'`)
    await run(`update inlay_counters set value = ${filling.pairs + 1} where name = 'pair'`)
    await run(`update inlay_counters set value = 1000 where name = 'tag'`)
    await run('commit')
    if (isPostgres) await run('vacuum analyze')
  })
}
