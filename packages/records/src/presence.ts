/** Runtime functions for looking up processes. Passed in, since only the runtime can provide them. */
export interface ProcessProbe {
  /** Scope of process ids: machine, boot and pid namespace. Two containers may share a host name and a pid. */
  readonly machine: string
  readonly pid: number
  /**
   * Something that no later process with the same id has, such as its time of start; without `:` and `/`. Undefined
   * when no process has the id, null when nothing can be said.
   */
  incarnationOf(pid: number): string | null | undefined
}

/** Tells processes that share a database apart. */
export interface ProcessPresence {
  /** Names this process, and no other one ever. */
  readonly owner: string
  /** Whether the process that a name belongs to is known to have ended. Of other machines nothing is known. */
  isGone(owner: string): boolean
}

const ownerForm = /^(.*):(\d+):(?:([^:/]*)\/)?[^:/]+$/

/** Creates the presence of this process. */
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
