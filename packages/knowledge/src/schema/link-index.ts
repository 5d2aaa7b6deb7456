import { sql, type RawBuilder } from 'kysely'

/** Characters of a link that the index of links holds: Postgres bounds what an index row may be. */
export const indexedLinkCharacters = 400

/** How a link begins, as its index has it. */
export const linkStart: RawBuilder<string> = sql<string>`substr(link, 1, ${sql.lit(indexedLinkCharacters)})`
