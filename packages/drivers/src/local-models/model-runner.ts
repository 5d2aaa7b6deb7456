import { InlayError, isInlayError } from '@inlay/protocol'
import { createMutex } from '@inlay/scheduling'

/**
 * One run at a time. The model is loaded with the first one, and by the next one after a failure.
 * @param importLib written out by the caller, for bundlers
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
