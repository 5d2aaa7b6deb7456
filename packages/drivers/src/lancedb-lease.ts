import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'

/** A holder whose file was not touched for this long is taken for dead, in milliseconds. */
const lapseMs = 60_000

interface Holder {
  readonly host: string
  readonly process: number
}

/**
 * Runs work unless another living process holds the lease, which is a small file. Two that take over a dead holder's
 * lease at the same moment may both win: the work must bear that, and only be better done once.
 * @returns whether the work ran
 */
export async function withLease(file: string, work: () => Promise<void>): Promise<boolean> {
  if (!(await take(file))) return false
  const renewal = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => undefined), lapseMs / 4)
  renewal.unref()
  try {
    await work()
  } finally {
    clearInterval(renewal)
    await rm(file, { force: true })
  }
  return true
}

async function take(file: string): Promise<boolean> {
  for (const attempt of [1, 2]) {
    try {
      await writeFile(file, JSON.stringify({ host: hostname(), process: process.pid } satisfies Holder), { flag: 'wx' })
      return true
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
      if (attempt === 2 || (await isHeld(file))) return false
      // Moved away first: of several that find the holder dead, one moves it and the others find nothing to move.
      const gone = `${file}.${randomUUID()}`
      await rename(file, gone).catch(() => undefined)
      await rm(gone, { force: true })
    }
  }
  return false
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const [{ mtimeMs }, text] = await Promise.all([stat(file), readFile(file, 'utf8')])
    if (Date.now() - mtimeMs > lapseMs) return false
    // Empty while it is being written, or for good after a crash just then: it lapses.
    if (text === '') return true
    const holder: Holder = JSON.parse(text)
    return holder.host !== hostname() || isAlive(holder.process)
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
