import { toMissing } from '../installed.ts'
import type { Reranker } from '@inlay/knowledge'
import { checkRequired, InlayError, isText } from '@inlay/protocol'
import type { FeatureTensor } from '../embedders/transformers-embedder.ts'
import { groupsOf } from '../http/batches.ts'
import { createModelRunner, whereOf, type TransformersModelOptions } from '../embedders/transformers-model.ts'

/** The part of `@huggingface/transformers` that is used. */
export interface CrossEncoderLib {
  readonly AutoTokenizer: {
    readonly from_pretrained: (model: string, options: Readonly<Record<string, unknown>>) => Promise<PairTokenizer>
  }
  readonly AutoModelForSequenceClassification: {
    readonly from_pretrained: (model: string, options: Readonly<Record<string, unknown>>) => Promise<PairClassifier>
  }
}

export type PairTokenizer = (
  queries: string[],
  options: { readonly text_pair: string[]; readonly padding: boolean; readonly truncation: boolean },
) => unknown

/** One row of scores for each pair. */
export type PairClassifier = (inputs: unknown) => Promise<{ readonly logits: FeatureTensor }>

/** A cross-encoder that runs in this process. */
export interface TransformersRerankerOptions extends Omit<TransformersModelOptions, 'revision'> {
  /** Precision of the weights: `q8` (default), `fp32`, `fp16`, `q4`, … */
  readonly dtype?: string
  /** Maximum number of texts per run of the model. Default 8. */
  readonly maxBatchSize?: number
  /** The package, if it cannot be imported by name. */
  readonly lib?: CrossEncoderLib
}

/**
 * A cross-encoder that runs in this process, through `@huggingface/transformers` 3 or newer. It is loaded with the first
 * search. One run at a time; an aborted call ends after the current run. Run `rerankerConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `rerank`: UNSUPPORTED (the package is not installed),
 * SERVICE_UNAVAILABLE (the model could not be loaded, or a run failed), BAD_GATEWAY (other than one score for each text)
 * @example transformersReranker({ model: 'Xenova/ms-marco-MiniLM-L-6-v2' })
 */
export function transformersReranker(options: TransformersRerankerOptions): Reranker {
  checkRequired('transformersReranker', options, 'dtype maxBatchSize lib cacheFolder isOffline', {
    model: ['the name of a model', isText],
  })
  const { model, dtype = 'q8', maxBatchSize = 8 } = options
  const run = createModelRunner(
    'reranker',
    async (): Promise<CrossEncoderLib> => options.lib ?? import('@huggingface/transformers').catch(toMissing),
    async ({ AutoTokenizer, AutoModelForSequenceClassification: Classifier }) => ({
      tokenize: await AutoTokenizer.from_pretrained(model, whereOf(options)),
      classify: await Classifier.from_pretrained(model, { ...whereOf(options), dtype }),
    }),
  )
  return {
    async rerank(query, texts, signal) {
      const scores: number[] = []
      const filled = texts.map((text) => text || ' ')
      for (const batch of groupsOf(filled, { count: maxBatchSize, characters: Infinity })) {
        signal?.throwIfAborted()
        const pairs = { text_pair: batch, padding: true, truncation: true }
        const queries = batch.map(() => query)
        const { logits } = await run(({ tokenize, classify }) => classify(tokenize(queries, pairs)))
        scores.push(...readScores(logits, batch.length))
      }
      signal?.throwIfAborted()
      return scores
    },
  }
}

function readScores(logits: FeatureTensor, count: number): number[] {
  const [rows, columns = 0] = logits.dims
  const numbers = Array.from(logits.data)
  logits.dispose?.()
  if (rows !== count || columns < 1 || numbers.length !== rows * columns || !numbers.every(Number.isFinite))
    throw new InlayError('BAD_GATEWAY', { message: 'The local reranker did not give one score for each text.' })
  // If there are several classes, the last one means "relevant".
  return Array.from({ length: count }, (_, at) => numbers[(at + 1) * columns - 1]!)
}
