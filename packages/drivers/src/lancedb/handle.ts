import { InlayError } from '@inlay/protocol'
import { guarded } from './engine.ts'

/** What is opened once, used by any number of calls at a time, and closed once they are done. */
export interface Handle<Parts, Options> {
  /** Opens; later calls join the first. One that failed may be repeated. CLOSED after `close`. */
  open(options: Options): Promise<void>
  /** CLOSED after `close`, UNSUPPORTED before `open`. */
  use<Result>(work: (parts: Parts) => Promise<Result>): Promise<Result>
  /** Resolves after the calls under way: the engine must not be closed under them. Idempotent. */
  close(): Promise<void>
}

/** Makes a handle; failures of the engine leave it as errors of ours. */
export function createHandle<Parts, Options>(
  assemble: (options: Options) => Promise<Parts>,
  dismantle: (parts: Parts) => Promise<void>,
): Handle<Parts, Options> {
  let opening: Promise<Parts> | undefined
  let closing: Promise<void> | undefined
  const underWay = new Set<Promise<unknown>>()

  function refuseClosed(): void {
    if (closing) throw new InlayError('CLOSED', { message: 'The index is closed.' })
  }

  async function close(): Promise<void> {
    await Promise.allSettled(underWay)
    const parts = await opening?.catch(() => undefined)
    if (parts) await guarded(() => dismantle(parts))
  }

  return {
    async open(options) {
      refuseClosed()
      const attempt = (opening ??= guarded(() => assemble(options)))
      try {
        await attempt
      } catch (error) {
        if (opening === attempt) opening = undefined
        throw error
      }
    },
    async use(work) {
      refuseClosed()
      if (!opening) throw new InlayError('UNSUPPORTED', { message: 'The index has to be opened first.' })
      const result = opening.then((parts) => guarded(() => work(parts)))
      underWay.add(result)
      try {
        return await result
      } finally {
        underWay.delete(result)
      }
    },
    close: () => (closing ??= close()),
  }
}
