import type { Reranker } from '@inlay/knowledge'
import { checkRequired, InlayError, isInlayError, isText } from '@inlay/protocol'
import { createMutex } from '@inlay/scheduling'
import type { FeatureTensor } from '../embedders/transformers-embedder.ts'

/** The part of `@huggingface/transformers` that is used. */
export interface CrossEncoderLib {
  readonly AutoTokenizer: {
    readonly from_pretrained: (model: string, options: Readonly<Record<string, unknown>>) => Promise<PairTokenizer>
  }
  readonly AutoModelForSequenceClassification: {
    readonly from_pretrained: (model: string, options: Readonly<Record<string, unknown>>) => Promise<PairClassifier>
  }
}

/** Joins each query with its text. */
export type PairTokenizer = (
  queries: string[],
  options: { readonly text_pair: string[]; readonly padding: boolean; readonly truncation: boolean },
) => unknown

/** One row of scores for each pair. */
export type PairClassifier = (inputs: unknown) => Promise<{ readonly logits: FeatureTensor }>

/** A cross-encoder that runs in this process. */
export interface TransformersRerankerOptions {
  /** Name on the Hugging Face Hub with ONNX weights, or a folder that holds them. */
  readonly model: string
  /** Form of the weights: `q8` (default), `fp32`, `fp16`, `q4`, … */
  readonly dtype?: string
  /** Folder where downloads are kept. Default: where the package keeps them. */
  readonly cacheFolder?: string
  /** Never connects to the Hub: the model must be in the cache folder, or be a folder. Default false. */
  readonly isOffline?: boolean
  /** Texts that run through the model together. Default 8. */
  readonly maxBatchSize?: number
  /** The package, where it cannot be imported by name. */
  readonly lib?: CrossEncoderLib
}

/**
 * A cross-encoder that runs in this process, through `@huggingface/transformers` 3 or newer. It is loaded with the first
 * search. One run at a time; an aborted call ends after the run under way. Run `rerankerConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `rerank`: UNSUPPORTED (the package is not installed),
 * SERVICE_UNAVAILABLE (the model could not be loaded, or a run failed), BAD_GATEWAY (other than one score for each text)
 * @example transformersReranker({ model: 'Xenova/ms-marco-MiniLM-L-6-v2' })
 */
export function transformersReranker(options: TransformersRerankerOptions): Reranker {
  checkRequired('transformersReranker', options, { model: ['the name of a model', isText] })
  const { maxBatchSize = 8 } = options
  const exclusively = createMutex()
  let loading: ReturnType<typeof load> | undefined
  const loaded = (): ReturnType<typeof load> =>
    (loading ??= load(options).catch((error: unknown) => {
      loading = undefined
      throw error
    }))
  return {
    async rerank(query, texts, signal) {
      const scores: number[] = []
      for (let from = 0; from < texts.length; from += maxBatchSize) {
        signal?.throwIfAborted()
        const batch = texts.slice(from, from + maxBatchSize).map((text) => text || ' ')
        scores.push(...(await exclusively(async () => run(await loaded(), query, batch))))
      }
      signal?.throwIfAborted()
      return scores
    },
  }
}

interface Loaded {
  readonly tokenize: PairTokenizer
  readonly classify: PairClassifier
}

async function load(options: TransformersRerankerOptions): Promise<Loaded> {
  const { model, dtype = 'q8', cacheFolder, isOffline } = options
  const { AutoTokenizer, AutoModelForSequenceClassification } = options.lib ?? (await importLib())
  const where = {
    ...(cacheFolder ? { cache_dir: cacheFolder } : {}),
    ...(isOffline ? { local_files_only: true } : {}),
  }
  return guarded(async () => ({
    tokenize: await AutoTokenizer.from_pretrained(model, where),
    classify: await AutoModelForSequenceClassification.from_pretrained(model, { ...where, dtype }),
  }))
}

async function importLib(): Promise<CrossEncoderLib> {
  try {
    return await import('@huggingface/transformers')
  } catch (cause) {
    throw new InlayError('UNSUPPORTED', {
      message: 'A local reranker needs the package @huggingface/transformers: install it next to Inlay.',
      cause,
    })
  }
}

async function run({ tokenize, classify }: Loaded, query: string, texts: string[]): Promise<number[]> {
  const { logits } = await guarded(async () => {
    const queries = texts.map(() => query)
    return classify(tokenize(queries, { text_pair: texts, padding: true, truncation: true }))
  })
  const [rows, columns = 0] = logits.dims
  const numbers = Array.from(logits.data)
  logits.dispose?.()
  if (rows !== texts.length || columns < 1 || numbers.length !== rows * columns || !numbers.every(Number.isFinite))
    throw new InlayError('BAD_GATEWAY', { message: 'The local reranker did not give one score for each text.' })
  // If there are several classes, the last one means "relevant".
  return texts.map((_, at) => numbers[(at + 1) * columns - 1]!)
}

/** Its messages name addresses and folders of this machine. */
async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isInlayError(error)) throw error
    throw new InlayError('SERVICE_UNAVAILABLE', {
      message: 'The local reranker could not be loaded or run; the server log says why.',
      cause: error,
    })
  }
}
