import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { createProcessPresence, type ProcessPresence, type ProcessProbe } from '@inlay/records'

/**
 * Presence of this Node process among all that share a database. Documents of a process that is gone are taken up at
 * once; being wrong costs work done twice, since only a holder of the claim can settle.
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
      // Start of the process in ticks since the boot: after the name in parentheses, the 20th field.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      return `${boot}.${fields[19]}`
    } catch {
      // No Linux, or ended just now.
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
    // Cannot be told apart, so no other is ever known to be gone.
    return `${hostname()} ${crypto.randomUUID()}`
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and belongs to somebody else. Node's errors carry their code beside the Error fields.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
