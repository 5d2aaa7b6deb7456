import { DatabaseSync } from 'node:sqlite'

/** How each peer is set up by its own getting-started page; title and text are both searched. */
export const peers = {
  'SQLite FTS5': (documents) => {
    const database = new DatabaseSync(':memory:')
    database.exec("create virtual table rows using fts5(id unindexed, title, text, tokenize = 'porter unicode61')")
    const insert = database.prepare('insert into rows values (?, ?, ?)')
    database.exec('begin')
    for (const { id, title, text } of documents) insert.run(id, title, text)
    database.exec('commit')
    const search = database.prepare('select id from rows where rows match ? order by rank limit ?')
    return (query, limit) => {
      const words = query.match(/[\p{L}\p{N}]+/gu) ?? []
      return words.length === 0
        ? []
        : search.all(words.map((word) => `"${word}"`).join(' OR '), limit).map(({ id }) => id)
    }
  },
  MiniSearch: async (documents) => {
    const { default: MiniSearch } = await import('minisearch')
    const index = new MiniSearch({ fields: ['title', 'text'] })
    index.addAll(documents)
    return (query, limit) =>
      index
        .search(query, { fuzzy: 0.2 })
        .slice(0, limit)
        .map(({ id }) => id)
  },
  Orama: async (documents) => {
    const { create, insertMultiple, search } = await import('@orama/orama')
    const index = create({ schema: { title: 'string', text: 'string' } })
    await insertMultiple(index, [...documents])
    return async (term, limit) => (await search(index, { term, limit })).hits.map(({ id }) => id)
  },
  FlexSearch: async (documents) => {
    const { Document } = await import('flexsearch')
    const index = new Document({ document: { id: 'id', index: ['title', 'text'] }, tokenize: 'forward' })
    for (const document of documents) index.add(document)
    return (query, limit) => index.search(query, { limit, suggest: true, merge: true }).map(({ id }) => id)
  },
}
