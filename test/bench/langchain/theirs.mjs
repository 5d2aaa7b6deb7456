import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LanceDB } from '@langchain/community/vectorstores/lancedb'
import { Document } from '@langchain/core/documents'
import { Embeddings } from '@langchain/core/embeddings'
import { MarkdownTextSplitter } from '@langchain/textsplitters'
import { embed } from './embedder.mjs'

/** The embedder in the shape that LangChain takes. */
class Hashed extends Embeddings {
  async embedDocuments(texts) {
    return texts.map((text) => [...embed(text)])
  }
  async embedQuery(text) {
    return [...embed(text)]
  }
}

/** Splits, embeds and adds documents in batches of 1,000 chunks, as LangChain's own guide does; then searches. */
process.once('message', async ({ documents, queries }) => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-langchain-'))
  const store = new LanceDB(new Hashed({}), { uri: folder })
  const splitter = new MarkdownTextSplitter({ chunkSize: 1800, chunkOverlap: 0 })
  const [used, begun] = [process.cpuUsage(), performance.now()]
  const given = documents.map(({ id, text }) => new Document({ pageContent: text, metadata: { id } }))
  // Only what each of the documents has can be a column.
  const split = await splitter.splitDocuments(given)
  const chunks = split.map(({ pageContent, metadata: { id } }) => new Document({ pageContent, metadata: { id } }))
  for (let at = 0; at < chunks.length; at += 1000) await store.addDocuments(chunks.slice(at, at + 1000))
  const indexedMs = performance.now() - begun
  const cpu = process.cpuUsage(used)
  const results = []
  const times = []
  for (const query of queries) {
    const asked = performance.now()
    const hits = await store.similaritySearch(query, 10)
    times.push(performance.now() - asked)
    results.push(hits.map(({ metadata }) => metadata.id))
  }
  rmSync(folder, { recursive: true, force: true })
  const cpuMs = (cpu.user + cpu.system) / 1000
  process.send({ chunks: chunks.length, indexedMs, cpuMs, times, results }, undefined, undefined, () => process.exit())
})
