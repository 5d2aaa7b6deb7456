import type { AnyDatabase } from './dialect.ts'

/** Runtime functions for looking up processes. Passed in, since only the runtime can provide them. */
export interface ProcessProbe {
  /** Scope of process ids: machine, boot and pid namespace. Two containers may share a host name and a pid. */
  readonly machine: string
  readonly pid: number
  /**
   * A value that no later process with the same id has, such as its start time; without `:` and `/`. Undefined if no
   * process has the id, null if unknown.
   */
  incarnationOf(pid: number): string | null | undefined
}

/** Detects which processes that share a database have ended. */
export interface ProcessPresence {
  /** Identifies this process; never reused. */
  readonly owner: string
  /** Whether the process with that id is known to have ended. Nothing is known about other machines. */
  isGone(owner: string): boolean
}

const ownerForm = /^(.*):(\d+):(?:([^:/]*)\/)?[^:/]+$/

export function createProcessPresence(probe: ProcessProbe): ProcessPresence {
  const { machine, pid } = probe
  return {
    owner: `${machine}:${pid}:${probe.incarnationOf(pid) ?? ''}/${crypto.randomUUID()}`,
    isGone: (owner) => {
      const [, where, id, incarnation] = ownerForm.exec(owner) ?? []
      if (where !== machine || id === undefined) return false
      const present = probe.incarnationOf(Number(id))
      if (present === undefined) return true
      return Boolean(incarnation) && present !== null && present !== incarnation
    },
  }
}

/** Notes which version each process runs, so that no table changes under an earlier one. */
export interface ProcessRecord {
  /** Notes this process, now and every ten minutes. Rejects if the table does not exist yet. */
  register(): Promise<void>
  /** Versions of the other processes that are present, each once, without this one. */
  otherVersions(): Promise<readonly string[]>
  /** Removes this process, if the database can be reached. */
  close(): Promise<void>
}

const renewMs = 10 * 60_000
/** A process that was silent for so long counts as gone. One that ends by itself, or on this machine, is gone at once. */
const absentMs = 3 * renewMs

/** Creates the record of this process in `inlay_processes`. */
export function createProcessRecord(
  db: AnyDatabase,
  { presence, version, now }: { readonly presence: ProcessPresence; readonly version: string; now(): number },
): ProcessRecord {
  const { owner } = presence
  let timer: ReturnType<typeof setInterval> | undefined
  const write = async (): Promise<void> => {
    const row = { version, seen_at: now() }
    await db
      .insertInto('inlay_processes')
      .values({ owner, ...row })
      .onConflict((conflict) => conflict.column('owner').doUpdateSet(row))
      .execute()
  }
  return {
    register: async () => {
      await write()
      timer ??= setInterval(() => void write().catch(() => {}), renewMs)
      timer.unref?.()
    },
    otherVersions: async () => {
      const rows = await db.selectFrom('inlay_processes').selectAll().where('version', '!=', version).execute()
      const present = rows.filter((row) => Number(row['seen_at']) > now() - absentMs)
      return [...new Set(present.filter((row) => !presence.isGone(row['owner'])).map((row) => String(row['version'])))]
    },
    close: async () => {
      clearInterval(timer)
      // Rows of processes that were killed go, too.
      await db
        .deleteFrom('inlay_processes')
        .where((row) => row.or([row('owner', '=', owner), row('seen_at', '<', now() - absentMs)]))
        .execute()
        .catch(() => {})
    },
  }
}
