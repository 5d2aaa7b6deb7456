import type { Embedder, Reranker } from '@inlay/knowledge'
import { checkRequired, InlayError, isText } from '@inlay/protocol'
import { isEnglishModel, knownPrefixes, spaceOfPrefix } from '../embedders/known-prefixes.ts'
import { transformersEmbedder, type Pooling, type TransformersLib } from '../embedders/transformers-embedder.ts'
import { onceLoaded } from '../embedders/transformers-model.ts'
import { transformersReranker, type CrossEncoderLib } from '../rerankers/transformers-reranker.ts'
import { localModelOf, type LocalModel } from './catalogue.ts'
import { modelFolder, type DownloadProgress, type ModelFolderOptions } from './model-folder.ts'

export type { CrossEncoderLib, DownloadProgress, ModelFolderOptions }

/** An embedding model of this process, by name. */
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

/** A reranker of this process, by name. */
export interface LocalRerankerOptions extends ModelFolderOptions {
  /**
   * `ms-marco-minilm-l6-v2`, `mxbai-rerank-xsmall-v1`, `bge-reranker-base`, or `organisation/name` on the Hugging Face Hub with
   * `onnx/model_quantized.onnx`.
   */
  readonly model: string
  /** The package `@huggingface/transformers`, if it cannot be imported by name. */
  readonly lib?: CrossEncoderLib
}

/**
 * An embedding model in this process with 8-bit weights, downloaded into `folder` with the first text. Needs the package
 * `@huggingface/transformers`.
 * @throws INVALID_INPUT for an unknown model; from `embed` as `transformersEmbedder`
 * @example localEmbedder({ model: 'multilingual-e5-small', folder: 'data/models' })
 */
export function localEmbedder(options: LocalEmbedderOptions): Embedder {
  const {
    repository,
    dimensions = options?.dimensions,
    pooling = options?.pooling,
  } = known('localEmbedder', options, `${modelFolderOptions} dimensions pooling`)
  if (dimensions === undefined)
    throw new InlayError('INVALID_INPUT', {
      message: `localEmbedder: dimensions is missing; it must be the length of the vectors of ${repository}.`,
    })
  const prefixes = knownPrefixes(repository)
  const embedderIn = (model: string): Embedder =>
    transformersEmbedder({ model, dimensions, pooling, prefixes, dtype: 'q8', isOffline: true, lib: options.lib })
  const load = onceLoaded(async () => embedderIn(await modelFolder(repository, options)))
  return {
    // Named after the model, not its folder.
    id: `local/${repository}/q8/${pooling ?? 'mean'}${spaceOfPrefix(prefixes)}@${dimensions}`,
    dimensions,
    maxBatchSize: 64,
    isLatinOnly: isEnglishModel(repository),
    embed: async (texts, use, signal) => (await load()).embed(texts, use, signal),
  }
}

/**
 * A cross-encoder in this process with 8-bit weights, downloaded into `folder` with the first search. Needs the package
 * `@huggingface/transformers`.
 * @throws INVALID_INPUT for an unknown model; from `rerank` as `transformersReranker`
 * @example localReranker({ model: 'ms-marco-minilm-l6-v2', folder: 'data/models' })
 */
export function localReranker(options: LocalRerankerOptions): Reranker {
  const { repository } = known('localReranker', options, modelFolderOptions)
  const load = onceLoaded(async () =>
    transformersReranker({ model: await modelFolder(repository, options), isOffline: true, lib: options.lib }),
  )
  return { rerank: async (query, texts, signal) => (await load()).rerank(query, texts, signal) }
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
