import { tableSizes } from '@inlay/records'
import { closeAll, type Closable } from '../parts/destroy-parts.ts'
import { openRecords } from '../parts/records-of-folder.ts'
import { misuse, type CommandContext } from './command.ts'
import { remoteOf } from './service.ts'
import { needData } from './with-inlay.ts'

/** Prints the rows and bytes of each table, the largest first. @returns the exit code */
export async function printTables(context: CommandContext): Promise<number> {
  const { output, settings } = context
  if (remoteOf(context))
    throw misuse('--tables reads the database itself: run it on the machine that has it, without --url.')
  await needData(context)
  const opened: Closable[] = []
  try {
    const { db } = await openRecords(settings.options, opened)
    const sizes = (await tableSizes(db, { readsAll: true })).toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0))
    const rowOf = ({ table, rows, bytes }: (typeof sizes)[number]): string =>
      `${table.padEnd(32)}${String(rows).padStart(12)} rows${String(bytes ?? '?').padStart(16)} bytes`
    output.result(sizes, sizes.map(rowOf))
    return 0
  } finally {
    await closeAll(opened.toReversed())
  }
}
