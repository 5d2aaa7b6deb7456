import type { Embedder, Reranker } from '@inlay/knowledge'
import { checkRequired, InlayError, isText } from '@inlay/protocol'
import { createEmbedder } from '../embedders/create-embedder.ts'
import { checkedVector, requiredDimensions } from '../embedders/embeddings-reply.ts'
import { toMissing } from '../installed.ts'
import { localModelOf, type LocalModel } from './catalogue.ts'
import { modelFolder, type DownloadProgress, type ModelFolderOptions } from './model-folder.ts'
import { createModelRunner } from './model-runner.ts'
import type { CrossEncoderLib, FeatureTensor, Pooling, TransformersLib } from './transformers.ts'

export type { CrossEncoderLib, DownloadProgress, FeatureTensor, ModelFolderOptions, Pooling, TransformersLib }

export interface LocalEmbedderOptions extends ModelFolderOptions {
  /**
   * `multilingual-e5-small`, `bge-small-en-v1.5`, `all-minilm-l6-v2`, `bge-m3`, or `organisation/name` on the Hugging Face
   * Hub with `onnx/model_quantized.onnx`.
   */
  readonly model: string
  /** Length of the vectors. Default: as known for the model. */
  readonly dimensions?: number
  /** Default: as known for the model, else `mean`. */
  readonly pooling?: Pooling
  /** The package `@huggingface/transformers`, if it cannot be imported by name. */
  readonly lib?: TransformersLib
}

export interface LocalRerankerOptions extends ModelFolderOptions {
  /**
   * `ms-marco-minilm-l6-v2`, `mxbai-rerank-xsmall-v1`, `bge-reranker-base`, or `organisation/name` on the Hugging Face Hub with
   * `onnx/model_quantized.onnx`.
   */
  readonly model: string
  /** The package `@huggingface/transformers`, if it cannot be imported by name. */
  readonly lib?: CrossEncoderLib
}

/** Maximum number of texts per call, so that other callers get a turn in between. */
const callTexts = 64
const rankedTexts = 8
/** The weights are 8-bit; the folder holds all files. */
const weights = { dtype: 'q8', local_files_only: true }

/**
 * An embedding model in this process with 8-bit weights, downloaded into `folder` with the first text. Needs the package
 * `@huggingface/transformers` 3 or newer. One run at a time; calls take turns run by run. Run `embedderConformance`.
 * @throws INVALID_INPUT for an unknown model; from `embed`: UNSUPPORTED (the package is not installed), SERVICE_UNAVAILABLE
 * (the model could not be loaded, or a run failed), BAD_GATEWAY (vectors of another number or form), INDEX_MISMATCH (vectors of
 * another length)
 * @example localEmbedder({ model: 'multilingual-e5-small', folder: 'data/models' })
 */
export function localEmbedder(options: LocalEmbedderOptions): Embedder {
  const {
    repository,
    dimensions = options?.dimensions,
    pooling = options?.pooling ?? 'mean',
  } = known('localEmbedder', options, `${modelFolderOptions} dimensions pooling`)
  if (dimensions === undefined || !requiredDimensions[1](dimensions))
    throw new InlayError('INVALID_INPUT', {
      message: `localEmbedder: dimensions is missing; it must be the length of the vectors of ${repository}.`,
    })
  const run = createModelRunner(
    'embedding model',
    async (): Promise<TransformersLib> => options.lib ?? import('@huggingface/transformers').catch(toMissing),
    async ({ pipeline }) => pipeline('feature-extraction', await modelFolder(repository, options), weights),
  )
  // 8-bit weights are scaled over a whole batch: a vector would depend on the other texts.
  const limits = (): { count: number; characters: number } => ({ count: 1, characters: Infinity })
  const space = `local/${repository}/q8/${pooling}`
  return createEmbedder({ model: repository, space, dimensions, maxBatchSize: callTexts, limits }, async (texts) => {
    const rows = rowsOf(await run((extract) => extract(texts, { pooling, normalize: true })), texts.length)
    if (rows) return rows.map((vector) => checkedVector(vector, dimensions))
    throw unusable('embedding model did not make one vector for each text: check its pooling.')
  })
}

/**
 * A cross-encoder in this process with 8-bit weights, downloaded into `folder` with the first search. Needs the package
 * `@huggingface/transformers` 3 or newer. One run at a time; an aborted call ends after the current run. Run
 * `rerankerConformance`.
 * @throws INVALID_INPUT for an unknown model; from `rerank`: UNSUPPORTED (the package is not installed), SERVICE_UNAVAILABLE
 * (the model could not be loaded, or a run failed), BAD_GATEWAY (other than one score for each text)
 * @example localReranker({ model: 'ms-marco-minilm-l6-v2', folder: 'data/models' })
 */
export function localReranker(options: LocalRerankerOptions): Reranker {
  const { repository } = known('localReranker', options, modelFolderOptions)
  const run = createModelRunner(
    'reranker',
    async (): Promise<CrossEncoderLib> => options.lib ?? import('@huggingface/transformers').catch(toMissing),
    async ({ AutoTokenizer, AutoModelForSequenceClassification: Classifier }) => {
      const folder = await modelFolder(repository, options)
      return {
        tokenize: await AutoTokenizer.from_pretrained(folder, { local_files_only: true }),
        classify: await Classifier.from_pretrained(folder, weights),
      }
    },
  )
  return {
    async rerank(query, texts, signal) {
      const scores: number[] = []
      for (let at = 0; at < texts.length; at += rankedTexts) {
        signal?.throwIfAborted()
        const batch = texts.slice(at, at + rankedTexts).map((text) => text || ' ')
        const pairs = { text_pair: batch, padding: true, truncation: true }
        const queries = batch.map(() => query)
        const { logits } = await run(({ tokenize, classify }) => classify(tokenize(queries, pairs)))
        // If there are several classes, the last one means "relevant".
        const last = rowsOf(logits, batch.length)?.map((row) => row.at(-1)!)
        if (!last?.every(Number.isFinite)) throw unusable('reranker did not give one score for each text.')
        scores.push(...last)
      }
      signal?.throwIfAborted()
      return scores
    },
  }
}

const modelFolderOptions = 'lib endpoint revision isOffline onProgress fetch'

function known(
  name: string,
  options: { readonly model: string; readonly folder: string },
  optional: string,
): LocalModel {
  checkRequired(name, options, optional, {
    model: ['the name of a model', isText],
    folder: ['the path of a folder', isText],
  })
  const model = localModelOf(options.model)
  if (model) return model
  throw new InlayError('INVALID_INPUT', {
    message: `${name}: no model "${options.model}" is known; use a name of the documentation, or organisation/name.`,
  })
}

/** Rows of a tensor that has one for each text; undefined for any other. */
function rowsOf(tensor: FeatureTensor, count: number): Float32Array[] | undefined {
  const [rows, columns = 0] = tensor.dims
  const numbers = Float32Array.from(tensor.data)
  tensor.dispose?.()
  if (tensor.dims.length !== 2 || rows !== count || columns < 1 || numbers.length !== rows * columns) return undefined
  return Array.from({ length: count }, (_, at) => numbers.slice(at * columns, (at + 1) * columns))
}

const unusable = (what: string): InlayError => new InlayError('BAD_GATEWAY', { message: `The local ${what}` })
