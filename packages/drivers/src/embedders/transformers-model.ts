import { InlayError, isInlayError } from '@inlay/protocol'
import { createMutex } from '@inlay/scheduling'

export interface TransformersModelOptions {
  /** Name on the Hugging Face Hub with ONNX weights, or a folder that holds them: `Xenova/multilingual-e5-small`. */
  readonly model: string
  /** Branch, tag or commit on the Hub. Default `main`; a commit keeps the vectors the same. */
  readonly revision?: string
  /** Folder where downloads are kept. Default: where the package keeps them. */
  readonly cacheFolder?: string
  /** Never connects to the Hub: the model must be in the cache folder, or be a folder. Default false. */
  readonly isOffline?: boolean
}

/** The same options with the names of the package. */
export function whereOf({ revision, cacheFolder, isOffline }: TransformersModelOptions): Record<string, unknown> {
  return {
    ...(revision ? { revision } : {}),
    ...(cacheFolder ? { cache_dir: cacheFolder } : {}),
    ...(isOffline ? { local_files_only: true } : {}),
  }
}

/**
 * Returns a function that runs a model, one run at a time. It is loaded with the first run.
 * @param kind of the model, for errors: `embedding model`
 * @param load loads it with the package, whose import the caller writes out for bundlers
 * @throws from runs: UNSUPPORTED (the package is not installed), SERVICE_UNAVAILABLE (the model failed)
 */
export function createModelRunner<Lib, Model>(
  kind: string,
  importLib: () => Promise<Lib>,
  load: (lib: Lib) => Promise<Model>,
): <Result>(work: (model: Model) => Promise<Result>) => Promise<Result> {
  const exclusively = createMutex()
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (isInlayError(error)) throw error
      // The original message names addresses and folders of this machine.
      const message = `The local ${kind} could not be loaded or run; the server log says why.`
      throw new InlayError('SERVICE_UNAVAILABLE', { message, cause: error })
    }
  }
  const loaded = onceLoaded(async () => {
    const lib = await importLib().catch((cause: unknown) => {
      const message = `A local ${kind} needs the package @huggingface/transformers: install it next to Inlay.`
      throw new InlayError('UNSUPPORTED', { message, cause })
    })
    return guarded(() => load(lib))
  })
  return (work) => exclusively(async () => guarded(async () => work(await loaded())))
}

/** Loads once; after a failure, the next call tries again. */
export function onceLoaded<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    }))
}
