import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { createProcessPresence, type ProcessPresence, type ProcessProbe } from '@inlay/records'

/**
 * Presence of this Node process among all that share a database. Documents of a process that has ended are claimed at
 * once. If that is wrong, work is done twice but recorded once, by the holder of the claim.
 */
export function processPresence(): ProcessPresence {
  return createProcessPresence(probe)
}

const probe: ProcessProbe = {
  machine: machine(),
  pid: process.pid,
  incarnationOf: (pid) => {
    if (!isRunning(pid)) return undefined
    try {
      // Start time of the process in ticks since boot: the 20th field after the name in parentheses.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      return `${boot}.${fields[19]}`
    } catch {
      // Not Linux, or the process has just ended.
      return null
    }
  },
}

/**
 * Scope of process ids. Two containers may share a host name but not process ids. Each would consider the other dead
 * and interrupt its work until documents fail permanently.
 */
function machine(): string {
  if (process.platform !== 'linux') return hostname()
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // Machines cannot be distinguished, so no other process counts as ended.
    return `${hostname()} ${crypto.randomUUID()}`
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is running and belongs to another user. Node's errors have a `code`.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
