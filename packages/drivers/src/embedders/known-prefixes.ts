export interface EmbedderPrefixes {
  readonly document: string
  readonly query: string
}

const instruction = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:'
const english = 'Represent this sentence for searching relevant passages: '

/**
 * Prefixes used in training, according to the model pages on the Hugging Face Hub; the first matching pattern applies.
 * Names there, in Ollama and of GGUF files contain the same words.
 */
const known: readonly (readonly [RegExp, EmbedderPrefixes])[] = [
  [/e5-.*instruct/, { document: '', query: `${instruction} ` }],
  [/(?:^|[/_-])e5-/, { document: 'passage: ', query: 'query: ' }],
  [/bge-(?:small|base|large)-zh/, { document: '', query: '为这个句子生成表示以用于检索相关文章：' }],
  [/bge-(?:small|base|large)/, { document: '', query: english }],
  [/nomic-embed-text/, { document: 'search_document: ', query: 'search_query: ' }],
  [/arctic-embed(?:2|.*v2)/, { document: '', query: 'query: ' }],
  [/arctic-embed/, { document: '', query: english }],
  [/gte-qwen/, { document: '', query: `${instruction} ` }],
  [
    /jina-embeddings-v3/,
    {
      document: 'Represent the document for retrieval: ',
      query: 'Represent the query for retrieving evidence documents: ',
    },
  ],
  [/jina-embeddings-v4/, { document: 'Passage: ', query: 'Query: ' }],
  [/jina-embeddings-v5/, { document: 'Document: ', query: 'Query: ' }],
  [/qwen3-embedding/, { document: '', query: instruction }],
  [/mxbai-embed-large/, { document: '', query: english }],
  [/embedding-?gemma/, { document: 'title: none | text: ', query: 'task: search result | query: ' }],
]

const none: EmbedderPrefixes = { document: '', query: '' }

/** The prefixes of a model by its name; none for models that need none, such as GTE, Jina v2 and BGE-M3. */
export function knownPrefixes(model: string): EmbedderPrefixes {
  const name = model.toLowerCase()
  return known.find(([pattern]) => pattern.test(name))?.[1] ?? none
}

const englishModels =
  /bge-(?:small|base|large)(?!-zh)|all-(?:minilm|mpnet)|(?:^|[/_-])e5-(?:small|base|large)(?!.*instruct)|gte-(?:small|base|large)|nomic-embed-text(?!.*v2)|mxbai-embed-large|embed-english|arctic-embed(?!2|.*v2)/

/** Matches names of fine-tuned models, such as `e5-large-korean` and `e5-base-en-ru`. */
const otherScripts =
  /multilingual|arabic|chinese|greek|hebrew|hindi|japanese|korean|persian|russian|thai|[-_](?:ar|bg|cn|el|fa|he|hi|ja|jp|ko|kr|ru|th|uk|zh)(?![a-z])/

/** Whether a model, by its name, was trained only on English: it treats other scripts as unknown characters. */
export function isEnglishModel(model: string): boolean {
  const name = model.toLowerCase()
  return englishModels.test(name) && !otherScripts.test(name)
}

/** Part of a vector space's name that identifies the document prefix; "" for none. */
export const spaceOfPrefix = ({ document }: EmbedderPrefixes): string =>
  document === '' ? '' : `+${encodeURIComponent(document.trim())}`
