import { toMissing } from '../installed.ts'
import type { Embedder } from '@inlay/knowledge'
import { InlayError, checkRequired, isText } from '@inlay/protocol'
import { requiredDimensions, checkedVector } from './embeddings-reply.ts'
import { createEmbedder, type EmbedderOptions } from './create-embedder.ts'
import { createModelRunner, whereOf, type TransformersModelOptions } from './transformers-model.ts'

/** How the token vectors of a text are combined; the page of the model says which it was trained with. */
export type Pooling = 'mean' | 'cls' | 'last_token'

/** The part of `@huggingface/transformers` that is used. */
export interface TransformersLib {
  readonly pipeline: (
    task: 'feature-extraction',
    model: string,
    options: Readonly<Record<string, unknown>>,
  ) => Promise<FeatureExtraction>
}

/** A loaded model: returns one tensor with a row for each text. */
export type FeatureExtraction = (
  texts: string[],
  options: { readonly pooling: Pooling; readonly normalize: boolean },
) => Promise<FeatureTensor>

/** Numbers with a shape. */
export interface FeatureTensor {
  readonly dims: readonly number[]
  readonly data: ArrayLike<number>
  /** Frees memory outside the heap. */
  readonly dispose?: () => void
}

/** A model that runs in this process. */
export interface TransformersEmbedderOptions extends TransformersModelOptions, EmbedderOptions {
  /** Default `mean`. */
  readonly pooling?: Pooling
  /** Whether vectors are normalised to length 1. Default true. */
  readonly normalize?: boolean
  /** Precision of the weights: `fp32` (default), `fp16`, `q8`, `q4`, …; lower ones are faster and slightly less exact. */
  readonly dtype?: string
  /** Device to run on: `cpu` (default), `cuda`, `dml`, `webgpu`, … */
  readonly device?: string
  /**
   * Maximum number of texts per run of the model. Default 16, or 1 if a vector would depend on the other texts of the
   * batch: with weights of 8 bits or less, which are scaled over the whole batch, and with last-token pooling.
   */
  readonly maxBatchSize?: number
  /** The package, if it cannot be imported by name. */
  readonly lib?: TransformersLib
}

/** Maximum number of texts per call, so that other callers get a turn in between. */
const callTexts = 64

/**
 * An embedding model that runs in this process, through `@huggingface/transformers` 3 or newer. It is loaded, and
 * if necessary downloaded, with the first text. One run at a time; calls take turns run by run. Run `embedderConformance`.
 * @throws INVALID_INPUT for options that cannot work; from `embed`: UNSUPPORTED (the package is not installed),
 * SERVICE_UNAVAILABLE (the model could not be loaded, or a run failed), BAD_GATEWAY (vectors of another number or form),
 * INDEX_MISMATCH (vectors of another length)
 * @example transformersEmbedder({ model: 'Xenova/all-MiniLM-L6-v2', dimensions: 384 })
 */
export function transformersEmbedder(options: TransformersEmbedderOptions): Embedder {
  checkRequired(
    'transformersEmbedder',
    options,
    'dimensions pooling normalize dtype device maxBatchSize lib revision cacheFolder isOffline prefixes',
    {
      model: ['the name of a model', isText],
      dimensions: requiredDimensions,
    },
  )
  const { model, dimensions, pooling = 'mean', normalize = true, dtype = 'fp32' } = options
  const isExact = /^fp(16|32)$/.test(dtype) && pooling !== 'last_token'
  const size = Math.max(1, options.maxBatchSize ?? (isExact ? 16 : 1))
  const run = createModelRunner(
    'embedding model',
    async (): Promise<TransformersLib> => options.lib ?? import('@huggingface/transformers').catch(toMissing),
    ({ pipeline }) =>
      pipeline('feature-extraction', model, {
        dtype,
        ...(options.device ? { device: options.device } : {}),
        ...whereOf(options),
      }),
  )
  // Other weights or pooling make another space.
  const space = [model, dtype, pooling, ...(normalize ? [] : ['raw'])].join('/')
  const limits = (): { count: number; characters: number } => ({ count: size, characters: Infinity })
  return createEmbedder({ ...options, space, maxBatchSize: callTexts, limits }, async (batch) => {
    const tensor = await run((extract) => extract(batch, { pooling, normalize }))
    return readTensor(tensor, batch.length, dimensions)
  })
}

function readTensor(tensor: FeatureTensor, count: number, dimensions: number): Float32Array[] {
  const [rows, columns] = tensor.dims
  if (tensor.dims.length !== 2 || rows !== count || tensor.data.length !== rows * (columns ?? 0))
    throw new InlayError('BAD_GATEWAY', {
      message: 'The local embedding model did not make one vector for each text: check its pooling.',
    })
  const numbers = Float32Array.from(tensor.data)
  tensor.dispose?.()
  const length = columns ?? 0
  return Array.from({ length: count }, (_, at) =>
    checkedVector(numbers.slice(at * length, (at + 1) * length), dimensions),
  )
}
