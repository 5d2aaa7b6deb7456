import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Names this process among all that share a database: machine, process id, and something no later process has. */
export function processOwner(): string {
  return `${machine()}:${process.pid}:${randomUUID()}`
}

/**
 * Where process ids count. Two containers may have one host name, and ids of their own each: taking the other for gone,
 * they would interrupt each other until documents are given up.
 */
function machine(): string {
  if (process.platform !== 'linux') return hostname()
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // Cannot be told apart, so no other is ever known to be gone.
    return `${hostname()} ${randomUUID()}`
  }
}

/**
 * Whether a process named by {@link processOwner} is known to be gone: it was on this machine and its id is no longer
 * in use. Of other machines, and of ids that another process may have got since, nothing is known. Its documents are
 * then taken up at once; being wrong costs work done twice, since only a holder of the claim can settle.
 */
export function isProcessGone(owner: string): boolean {
  const [, where, id] = /^(.*):(\d+):[^:]+$/.exec(owner) ?? []
  if (where !== machine() || id === undefined) return false
  try {
    process.kill(Number(id), 0)
    return false
  } catch (error) {
    // EPERM: it lives and belongs to somebody else. Node's errors carry their code beside the Error fields.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
