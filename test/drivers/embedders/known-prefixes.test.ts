import { openaiEmbedder } from '@inlay/drivers/openai-embedder'
import { isEnglishModel, knownPrefixes } from '@inlay/drivers/internal/embedders/known-prefixes'
import { expect, test } from 'vitest'
import { startEmbeddings } from '../../stand-in/embeddings.ts'

test.each([
  ['intfloat/multilingual-e5-small', 'passage: ', 'query: '],
  ['Xenova/e5-base-v2', 'passage: ', 'query: '],
  ['multilingual-e5-large-instruct', '', expect.stringMatching(/^Instruct: [^]*\nQuery: $/)],
  ['BAAI/bge-small-en-v1.5', '', 'Represent this sentence for searching relevant passages: '],
  ['bge-large-zh-v1.5', '', '为这个句子生成表示以用于检索相关文章：'],
  ['bge-m3', '', ''],
  ['nomic-embed-text:v1.5', 'search_document: ', 'search_query: '],
  ['snowflake-arctic-embed:335m', '', 'Represent this sentence for searching relevant passages: '],
  ['snowflake-arctic-embed2', '', 'query: '],
  ['Snowflake/snowflake-arctic-embed-l-v2.0', '', 'query: '],
  ['Alibaba-NLP/gte-large-en-v1.5', '', ''],
  ['Alibaba-NLP/gte-Qwen2-1.5B-instruct', '', expect.stringMatching(/^Instruct: /)],
  ['jina-embeddings-v2-base-en', '', ''],
  [
    'jinaai/jina-embeddings-v3',
    'Represent the document for retrieval: ',
    expect.stringMatching(/^Represent the query/),
  ],
  ['Qwen3-Embedding-0.6B-Q8_0.gguf', '', expect.stringMatching(/^Instruct: [^]*\nQuery:$/)],
  ['text-embedding-3-small', '', ''],
  ['all-minilm', '', ''],
])('the prefixes of %s are known by its name', (name, document, query) => {
  expect(knownPrefixes(name)).toEqual({ document, query })
})

test.each([
  ['BAAI/bge-small-en-v1.5', true],
  ['all-MiniLM-L6-v2', true],
  ['Xenova/e5-base-v2', true],
  ['nomic-embed-text:v1.5', true],
  ['snowflake-arctic-embed:335m', true],
  ['intfloat/multilingual-e5-small', false],
  ['paraphrase-multilingual-MiniLM-L12-v2', false],
  ['bge-large-zh-v1.5', false],
  ['bge-m3', false],
  ['thenlper/gte-large-zh', false],
  ['Alibaba-NLP/gte-multilingual-base', false],
  ['nomic-embed-text-v2-moe', false],
  ['snowflake-arctic-embed2', false],
  ['upskyy/e5-large-korean', false],
  ['d0rj/e5-base-en-ru', false],
  ['BAAI/bge-base-zh', false],
  ['Qwen3-Embedding-0.6B-Q8_0.gguf', false],
  ['text-embedding-3-small', false],
])('%s knows English alone: %s', (name, isEnglish) => {
  expect(isEnglishModel(name)).toBe(isEnglish)
})

test('texts go out with the prefixes of the model, unless others are given, and documents name their space by theirs', async () => {
  const server = await startEmbeddings()
  try {
    const common = { baseUrl: server.baseUrl, model: 'nomic-embed-text', dimensions: server.dimensions }
    const [own, other] = [openaiEmbedder(common), openaiEmbedder({ ...common, prefixes: { document: '' } })]
    await own.embed(['text'], 'document')
    await other.embed(['text'], 'document')
    await other.embed(['text'], 'query')
    expect(server.seen.map(({ body }) => body.input[0])).toEqual([
      'search_document: text',
      'text',
      'search_query: text',
    ])
    expect(own.id).not.toBe(other.id)
  } finally {
    await server.close()
  }
})
