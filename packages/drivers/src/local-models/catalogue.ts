import type { Pooling } from './transformers.ts'

/** A model with ONNX weights on the Hugging Face Hub. */
export interface LocalModel {
  readonly repository: string
  /** Length of its vectors; absent for rerankers. */
  readonly dimensions?: number
  readonly pooling?: Pooling
}

/** Models with a short name; all have 8-bit weights. */
const known: Readonly<Record<string, LocalModel>> = {
  'multilingual-e5-small': { repository: 'Xenova/multilingual-e5-small', dimensions: 384, pooling: 'mean' },
  'bge-small-en-v1.5': { repository: 'Xenova/bge-small-en-v1.5', dimensions: 384, pooling: 'cls' },
  'all-minilm-l6-v2': { repository: 'Xenova/all-MiniLM-L6-v2', dimensions: 384, pooling: 'mean' },
  'bge-m3': { repository: 'Xenova/bge-m3', dimensions: 1024, pooling: 'cls' },
  'ms-marco-minilm-l6-v2': { repository: 'Xenova/ms-marco-MiniLM-L-6-v2' },
  'mxbai-rerank-xsmall-v1': { repository: 'mixedbread-ai/mxbai-rerank-xsmall-v1' },
  'bge-reranker-base': { repository: 'Xenova/bge-reranker-base' },
}

/** The model of a short name, or of `organisation/name` on the Hub. */
export function localModelOf(name: string): LocalModel | undefined {
  const model = known[name.toLowerCase()]
  if (model !== undefined || !/^[\w.-]+\/[\w.-]+$/.test(name)) return model
  return Object.values(known).find(({ repository }) => repository === name) ?? { repository: name }
}

export const modelFiles: readonly string[] = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'onnx/model_quantized.onnx',
]
