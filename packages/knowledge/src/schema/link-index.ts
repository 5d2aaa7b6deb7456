import { sql, type RawBuilder } from 'kysely'

/** Number of characters of a link in the index, since Postgres limits the size of index rows. */
export const indexedLinkCharacters = 400

/** SQL expression for the start of a link, as in the index. */
export const linkStart: RawBuilder<string> = sql<string>`substr(link, 1, ${sql.lit(indexedLinkCharacters)})`
