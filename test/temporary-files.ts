import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A whole run keeps some hundred megabytes at a time; this leaves room for several at once. */
const minRoom = 4 * 2 ** 30

/** Where Linux keeps files in memory: there the tests take two thirds of the time that a disk makes of it. */
const memory = '/dev/shm'

/** Gives a run a temporary folder of its own, which goes with it: in memory, where there is much of it. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(hasRoom() ? memory : tmpdir(), 'inlay-tests-'))
  // PostgreSQL refuses to run as root: another user has to come through to its files.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return Math.min(bavail * bsize, process.availableMemory()) >= minRoom
  } catch {
    return false
  }
}
