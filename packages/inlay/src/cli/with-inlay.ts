import { resolve } from 'node:path'
import { defaultDataFolder } from '../data-folder.ts'
import { createInlay, type Inlay } from '../inlay.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import type { CommandContext } from './command.ts'

/** Absolute path of the data folder a command works on. */
export function dataFolderOf({ settings }: Pick<CommandContext, 'settings'>): string {
  return resolve(settings.options.dataFolder ?? defaultDataFolder)
}

/** Says so when there are no documents: a wrong data folder looks like this. */
export async function noteEmptyFolder(context: CommandContext, inlay: Inlay): Promise<void> {
  if (await inlay.knowledge.hasDocuments()) return
  context.output.note(
    `There are no documents in ${dataFolderOf(context)} yet. Take some in with inlay ingest, or name another folder by --data.`,
  )
}

/**
 * Opens an assistant over the data folder for one command and closes it again. A server may run on the same folder:
 * both share database and index, and either may index a document of the queue.
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
