import { InlayError, isInlayError } from '@inlay/protocol'
import { createMutex } from '@inlay/scheduling'

/**
 * Returns a function that runs a model, one run at a time. It is loaded with the first run; after a failure, the next one
 * tries again.
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
  let loaded: Model | undefined
  return (work) =>
    exclusively(async () => {
      const lib = await importLib().catch((cause: unknown) => {
        const message = `A local ${kind} needs the package @huggingface/transformers: install it next to Inlay.`
        throw new InlayError('UNSUPPORTED', { message, cause })
      })
      try {
        loaded ??= await load(lib)
        return await work(loaded)
      } catch (error) {
        if (isInlayError(error)) throw error
        // The original message names addresses and folders of this machine.
        const message = `The local ${kind} could not be loaded or run; the server log says why.`
        throw new InlayError('SERVICE_UNAVAILABLE', { message, cause: error })
      }
    })
}
