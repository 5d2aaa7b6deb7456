import { resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
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
  const isDatabase = context.settings.options.engines?.database !== undefined
  const place = isDatabase ? 'the database of INLAY_DATABASE_URL' : dataFolderOf(context)
  const other = isDatabase ? 'set another one' : 'name another folder by --data'
  context.output.note(`There are no documents in ${place} yet. Take some in with inlay ingest, or ${other}.`)
}

/**
 * Refuses a command that works on a data folder alone, where records or files are kept elsewhere.
 * @param how the means that are to be used there
 */
export function needDataFolder({ settings }: CommandContext, how: string): void {
  const { database, files } = settings.options.engines ?? {}
  const [name, what] = database === undefined ? ['INLAY_FILES_URL', 'files'] : ['INLAY_DATABASE_URL', 'records']
  if (database === undefined && files === undefined) return
  throw new InlayError('INVALID_INPUT', {
    message: `${name} is set, so the ${what} are not in a data folder: ${how}.`,
  })
}

/** For commands that only read documents: they index nothing and leave the index as it is. */
export const readsOnly: Pick<InlayOptions, 'worker'> = { worker: { indexes: false } }

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
    ...(options.worker && { worker: { ...context.settings.options.worker, ...options.worker } }),
  })
  try {
    return await work(inlay)
  } finally {
    await inlay.close()
  }
}
