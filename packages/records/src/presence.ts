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
