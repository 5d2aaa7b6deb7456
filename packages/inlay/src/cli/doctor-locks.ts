import { engineAddresses } from '../options/engines.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import type { CommandContext } from './command.ts'
import { failed, type Finding } from './finding.ts'

/** Rows of a statement on PostgreSQL; none where the records are elsewhere, or if it fails: a later check says why. */
export async function databaseRows<Row>(options: InlayOptions, statement: string): Promise<readonly Row[]> {
  const { database: connectionString } = engineAddresses(options)
  if (connectionString === undefined) return []
  const { postgresPool } = await import('@inlay/drivers/postgres')
  const pool = await postgresPool({ connectionString, maxConnections: 1 })
  try {
    const { rows } = await pool.query(statement)
    return rows as Row[] // Of the columns that the statement names.
  } catch {
    return []
  } finally {
    await pool.end()
  }
}

export const lockCheck = 'Locks'

/** Tables that others have locked, for which further checks could wait for ever; not those locked a moment ago. */
export async function checkLocks({ settings }: Pick<CommandContext, 'settings'>): Promise<readonly Finding[]> {
  const locks = await databaseRows<{ readonly name: string; readonly holder: string; readonly pid: number }>(
    settings.options,
    `select relname as name, concat_ws(', ', usename, nullif(application_name, '')) as holder, pid
     from pg_locks join pg_class on pg_class.oid = relation join pg_stat_activity using (pid)
     where granted and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
       and relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and starts_with(relname, 'inlay_') and relkind = 'r'
       and coalesce(xact_start, '-infinity') < now() - interval '1 second'
     order by relname, pid limit 5`,
  )
  return locks.map(({ name, holder, pid }) => {
    const advice = `End its transaction, or: select pg_terminate_backend(${pid}).`
    return failed(lockCheck, `${name} is locked by process ${pid} (${holder}), and what needs it waits`, advice)
  })
}
