import { createInlay, type Inlay } from '../inlay.ts'
import type { InlayOptions } from '../options.ts'
import type { CommandContext } from './command.ts'

/**
 * Does something with an assistant over the data folder and closes it again. A server may run on the same folder: both
 * share database and index, and whichever takes a document from the queue indexes it.
 */
export async function withInlay<Result>(
  context: CommandContext,
  work: (inlay: Inlay) => Promise<Result>,
  options: InlayOptions = {},
): Promise<Result> {
  const inlay = createInlay({
    ...context.settings.options,
    onError: (error) => context.output.note(`inlay: ${error instanceof Error ? error.message : 'something failed.'}`),
    ...options,
  })
  try {
    return await work(inlay)
  } finally {
    await inlay.close()
  }
}
