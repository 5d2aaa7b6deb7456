import { databaseFile } from '../data-folder.ts'
import type { CommandContext } from './command.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import type { Service } from './service.ts'
import { dataFolderOf } from './with-inlay.ts'

export type ServiceCheck = (service: Service, context: CommandContext) => Promise<readonly Finding[]>

/** Ids and faults that are named; the rest is counted. */
const maxNamed = 5

const named = (names: readonly string[]): string =>
  names.slice(0, maxNamed).join(', ') + (names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '')

export const checkDatabase: ServiceCheck = async (_, context) => {
  const check = 'Integrity'
  if (context.settings.options.database !== undefined)
    return [ok(check, 'not checked: PostgreSQL checks its tables with pg_amcheck')]
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(databaseFile(dataFolderOf(context)), { readOnly: true, timeout: 5000 })
  try {
    const rows = database.prepare('pragma integrity_check').all()
    const faults = rows.map((row) => String(row['integrity_check'])).filter((fault) => fault !== 'ok')
    if (faults.length === 0) return [ok(check, 'the database is sound')]
    return [failed(check, `the database is damaged: ${named(faults)}`, restoring)]
  } finally {
    database.close()
  }
}

const restoring =
  'Stop Inlay, keep a copy of the data folder, then restore a backup into a new folder: inlay restore <backup> --data <folder>.'

export const checkFiles: ServiceCheck = async ({ inlay }, { signal }) => {
  const check = 'Files'
  const { files, lost } = await inlay!.agent.files.check(signal)
  if (lost.length === 0) return [ok(check, `${files} files have all their bytes`)]
  const message = `${lost.length} of ${files} files lack bytes: ${named(lost)}`
  const advice = 'Put the folder files/, or the bucket, back from a backup, or upload these files again.'
  return [failed(check, message, advice)]
}

export const checkIndex: ServiceCheck = async ({ inlay }, { signal }) => {
  const check = 'Passages'
  const { isCompared, missing, unknown, unknownDocuments } = await inlay!.knowledge.compareIndex(signal)
  if (!isCompared) return [warning(check, 'not compared: the index cannot list what it holds, or holds too much')]
  if (missing.length + unknown.length === 0) return [ok(check, 'documents and index hold the same')]
  const lacking = failed(
    check,
    `${missing.length} documents are not in the index: ${named(missing)}`,
    'Start Inlay, which indexes them again, or run inlay reindex.',
  )
  const surplus = failed(
    check,
    `the index holds ${unknown.length} versions that the database lacks, such as of ${named(unknownDocuments)}`,
    'Restore the database or send these documents again, then drop the versions with inlay reindex.',
  )
  return [...(missing.length > 0 ? [lacking] : []), ...(unknown.length > 0 ? [surplus] : [])]
}
