import { stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { InlayError } from '@inlay/protocol'
import { databaseFile, defaultDataFolder } from '../data-folder.ts'
import type { Inlay } from '../inlay.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import type { CommandContext } from './command.ts'

export function dataFolderOf({ settings }: Pick<CommandContext, 'settings'>): string {
  return resolve(settings.options.dataFolder ?? defaultDataFolder)
}

/** Where the records of a command are, for messages. */
export const placeOfRecords = (context: Pick<CommandContext, 'settings'>): string =>
  context.settings.options.database === undefined ? dataFolderOf(context) : 'the database of INLAY_DATABASE_URL'

/** Prints a note if there are no documents, which may mean a wrong data folder. */
export async function noteEmptyFolder(context: CommandContext, inlay: Inlay): Promise<void> {
  if (await inlay.knowledge.hasDocuments()) return
  const other = context.settings.options.database ? 'set another one' : 'use another folder with --data'
  context.output.note(
    `There are no documents in ${placeOfRecords(context)} yet. Add some with inlay ingest, or ${other}.`,
  )
}

/** Of commands that only work on a data folder. @param how what to do if the database or files are elsewhere */
export function needDataFolder({ settings }: CommandContext, how: string): void {
  const { database, files } = settings.options
  const [name, what] = database === undefined ? ['INLAY_FILES_URL', 'files'] : ['INLAY_DATABASE_URL', 'records']
  if (database === undefined && files === undefined) return
  throw new InlayError('INVALID_INPUT', {
    message: `${name} is set, so the ${what} are not in a data folder: ${how}.`,
  })
}

/** Of commands that work on existing data, so that they create no folder where nobody wants one. */
export async function needData(context: CommandContext): Promise<void> {
  if (context.settings.options.database !== undefined) return
  const folder = dataFolderOf(context)
  const fault = await stat(databaseFile(folder)).then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  )
  // Other faults are reported, with their reason, when the folder is opened.
  if (fault !== 'ENOENT') return
  const advice = 'Add documents with inlay ingest <folder>, or name another folder with --data.'
  throw new InlayError('INVALID_INPUT', { message: `There is no Inlay data in ${folder}. ${advice}` })
}

/** Refuses to write a copy into a data folder. @param what describes it, e.g. `A backup` */
export function refuseInside(dataFolder: string, target: string, what: string): void {
  const path = relative(dataFolder, target)
  if (path === '' || path.startsWith('..')) return
  const message = `${what} inside the data folder would be lost with it: choose a folder outside ${dataFolder}.`
  throw new InlayError('INVALID_INPUT', { message })
}

/** Prints errors that happen beside a command. */
export const noteErrors =
  ({ output }: Pick<CommandContext, 'output'>) =>
  (error: unknown): void =>
    output.note(`inlay: ${error instanceof Error ? error.message : 'something failed.'}`)

/** For commands that only read documents: they do not index or maintain the index. */
export const readsOnly: Pick<InlayOptions, 'worker'> = { worker: { indexes: false } }

/**
 * Opens an assistant on the data folder for one command and closes it afterwards. A server may use the same folder:
 * both share the database and index, and either may index a document of the queue.
 */
export async function withInlay<Result>(
  context: CommandContext,
  work: (inlay: Inlay) => Promise<Result>,
  options: InlayOptions = {},
): Promise<Result> {
  const { createInlay } = await import('../inlay.ts')
  const inlay = createInlay({
    ...context.settings.options,
    // Requests of a command to itself are none of the server; `serve` logs.
    log: undefined,
    // Servers erase by age: a command that keeps data, such as a legal hold, must not be the one that does.
    retention: undefined,
    onError: noteErrors(context),
    ...options,
    ...(options.worker && { worker: { ...context.settings.options.worker, ...options.worker } }),
  })
  try {
    return await work(inlay)
  } finally {
    await inlay.close()
  }
}
