import { DatabaseSync } from 'node:sqlite'

/** How each peer is set up by its own getting-started page; title and text are both searched. */
export const wordPeers = {
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

/**
 * Libraries that search by vectors, each with its own splitter, the sizes of its guide and the store it begins with.
 * They get the same embedder, and find chunks, of whose documents each counts once.
 */
export const vectorPeers = {
  'LangChain.js': async (documents, embed) => {
    const { MemoryVectorStore } = await import('@langchain/classic/vectorstores/memory')
    const { Embeddings } = await import('@langchain/core/embeddings')
    const { RecursiveCharacterTextSplitter } = await import('@langchain/textsplitters')
    class Given extends Embeddings {
      embedDocuments = (texts) => embed(texts, 'document')
      embedQuery = async (text) => (await embed([text], 'query'))[0]
    }
    const splitter = new RecursiveCharacterTextSplitter({ chunkSize: 1000, chunkOverlap: 200 })
    const chunks = await splitter.splitDocuments(
      documents.map(({ id, title, text }) => ({ pageContent: `${title}\n${text}`, metadata: { id } })),
    )
    const store = await MemoryVectorStore.fromDocuments(chunks, new Given({}))
    return async (query, limit) =>
      unique((await store.similaritySearch(query, limit)).map(({ metadata }) => metadata.id))
  },
  'LlamaIndex.TS': async (documents, embed) => {
    const { BaseEmbedding, Document, Settings, VectorStoreIndex } = await import('llamaindex')
    class Given extends BaseEmbedding {
      getTextEmbedding = async (text) => (await embed([text], 'query'))[0]
      getTextEmbeddings = (texts) => embed(texts, 'document')
    }
    Settings.embedModel = new Given()
    const index = await VectorStoreIndex.fromDocuments(
      documents.map(({ id, title, text }) => new Document({ text: `${title}\n${text}`, id_: id })),
    )
    return async (query, limit) => {
      const found = await index.asRetriever({ similarityTopK: limit }).retrieve({ query })
      return unique(found.map(({ node }) => node.sourceNode?.nodeId ?? node.id_))
    }
  },
  'Mastra RAG': async (documents, embed) => {
    const { MDocument } = await import('@mastra/rag')
    const { LibSQLVector } = await import('@mastra/libsql')
    const store = new LibSQLVector({ id: 'bench', url: ':memory:' })
    const indexName = 'embeddings'
    let isMade = false
    for (const { id, title, text } of documents) {
      const document = MDocument.fromText(`${title}\n${text}`, { id })
      const chunks = await document.chunk({ strategy: 'recursive', maxSize: 512, overlap: 50 })
      const vectors = await embed(
        chunks.map((chunk) => chunk.text),
        'document',
      )
      if (!isMade) await store.createIndex({ indexName, dimension: vectors[0].length })
      isMade = true
      await store.upsert({ indexName, vectors, metadata: chunks.map((chunk) => ({ text: chunk.text, id })) })
    }
    return async (query, limit) => {
      const [queryVector] = await embed([query], 'query')
      const found = await store.query({ indexName, queryVector, topK: limit })
      return unique(found.map(({ metadata }) => metadata.id))
    }
  },
}

const unique = (ids) => [...new Set(ids)]
