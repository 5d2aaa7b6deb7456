import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Names this process among all that share a database: machine, process id, and something no later process has. */
export function processOwner(): string {
  return `${hostname()}:${process.pid}:${randomUUID()}`
}

/**
 * Whether a process named by {@link processOwner} is known to be gone: it was on this machine and its id is no longer
 * in use. Of other machines, and of ids that another process may have got since, nothing is known. Its documents are
 * then taken up at once; being wrong costs work done twice, since only a holder of the claim can settle.
 */
export function isProcessGone(owner: string): boolean {
  const [, machine, id] = /^(.*):(\d+):[^:]+$/.exec(owner) ?? []
  if (machine !== hostname() || id === undefined) return false
  try {
    process.kill(Number(id), 0)
    return false
  } catch (error) {
    // EPERM: it lives and belongs to somebody else. Node's errors carry their code beside the Error fields.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
