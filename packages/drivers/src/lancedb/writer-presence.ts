import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Detects which processes of this machine have ended. Created by `createProcessPresence` of `@inlay/records`. */
export interface Processes {
  /** Identifies this process; never reused. */
  readonly owner: string
  /** Whether the process with that id is known to have ended; false if nothing is known about it. */
  isGone(owner: string): boolean
}

/** Detects whether another handle, of this process or another, has the same folder open. */
export interface WriterPresence {
  /** Makes the handle visible again first: others treat it as dead if its process was suspended for a minute. */
  commit<Result extends { readonly version: number }>(work: () => Promise<Result>): Promise<Result>
  /** The same while this is the only handle and no other was opened or closed; undefined while another is open. */
  soleWriter(): Promise<string | undefined>
  leave(): Promise<void>
}

const renewalMs = 15_000
/** A handle that was not renewed for this long counts as closed, whatever is known about its process. */
const lapseMs = 60_000

/**
 * Opens a handle on a folder: a file in it that is renewed while the process runs. The handle of a killed process is
 * removed by the next caller: at once if `processes` knows that the process has ended, otherwise when it expired.
 */
export async function openWriterPresence(folder: string, processes?: Processes): Promise<WriterPresence> {
  const name = randomUUID()
  const file = join(folder, name)
  const text = JSON.stringify({ owner: processes?.owner ?? name })
  const write = async (): Promise<void> => {
    await mkdir(folder, { recursive: true })
    await writeFile(file, text)
  }
  await write()
  const renewal = setInterval(
    () =>
      void utimes(file, new Date(), new Date())
        .catch(write)
        .catch(() => {}),
    renewalMs,
  )
  renewal.unref()
  return {
    async commit(work) {
      // Takes 5 µs; an asynchronous check could take milliseconds on a busy thread pool.
      if (!existsSync(file)) await write()
      return work()
    },
    async soleWriter() {
      // Synchronous for the same reason, since each search calls this.
      const { mtimeNs } = statSync(folder, { bigint: true })
      const names = readdirSync(folder)
      if (!names.includes(name)) {
        await write()
        return undefined
      }
      // Includes the name: two changes within one clock tick leave the same time.
      if (names.length === 1) return `${mtimeNs} ${name}`
      const others = names.filter((other) => other !== name)
      await Promise.all(others.map((other) => removeDead(join(folder, other), processes)))
      return undefined
    },
    async leave() {
      clearInterval(renewal)
      await rm(file, { force: true })
    },
  }
}

async function removeDead(file: string, processes: Processes | undefined): Promise<void> {
  try {
    const [{ mtimeMs }, text] = await Promise.all([stat(file), readFile(file, 'utf8')])
    if (Date.now() - mtimeMs > lapseMs || isOfGoneProcess(text, processes)) await rm(file, { force: true })
  } catch {
    // If the file is already removed or cannot be read, the handle counts as open.
  }
}

function isOfGoneProcess(text: string, processes: Processes | undefined): boolean {
  // Empty while it is being written, or after a crash at that moment.
  const handle: { readonly owner?: string } = text === '' ? {} : JSON.parse(text)
  return handle.owner !== undefined && processes?.isGone(handle.owner) === true
}

/** A file that records whether its process is working on the index. It stays if the process crashes meanwhile. */
export interface WorkNote {
  set(isAtWork: boolean): void
  remove(): Promise<void>
}

/** Nothing is written before work starts. In a folder that is not writable, nothing is recorded. */
export function createWorkNote(folder: string, processes?: Processes): WorkNote {
  const path = join(folder, randomUUID())
  let file: number | undefined
  let renewal: NodeJS.Timeout | undefined
  let pause: NodeJS.Timeout | undefined
  let isNoted = false
  return {
    set(isAtWork) {
      clearTimeout(pause)
      try {
        if (file === undefined) {
          mkdirSync(folder, { recursive: true, mode: 0o700 })
          file = openSync(path, 'w', 0o600)
          writeSync(file, `-${processes?.owner ?? ''}`)
          renewal = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), renewalMs).unref()
        }
        // Synchronous: 3 µs, but more while the disk is busy. So once for all work without a pause.
        if (isAtWork && !isNoted) writeSync(file, atWork, 0)
        isNoted ||= isAtWork
      } catch {
        // Ignored, since the work itself reports the failure.
      }
      if (isAtWork || !isNoted) return
      pause = setTimeout(() => {
        try {
          if (file !== undefined) writeSync(file, '-', 0)
          isNoted = false
        } catch {
          // The folder may have been deleted with the index.
        }
      }, pauseMs).unref()
    },
    async remove() {
      clearInterval(renewal)
      clearTimeout(pause)
      if (file === undefined) return
      closeSync(file)
      file = undefined
      isNoted = false
      await rm(path, { force: true })
    },
  }
}

const atWork = '+'
const pauseMs = 100
const crashAgeMs = 3_600_000

/** Paths of notes of crashes within the last hour. Removes the notes of other processes that ended. */
export async function readCrashes(folder: string, processes?: Processes): Promise<string[]> {
  const crashes: string[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const [status, text] = await Promise.all([stat(path), readFile(path, 'utf8')]).catch(() => [])
    if (status === undefined || text === undefined) continue
    const ageMs = Date.now() - status.mtimeMs
    if (processes?.isGone(text.slice(1)) !== true && ageMs < lapseMs) continue
    if (text[0] === atWork && ageMs < crashAgeMs) crashes.push(path)
    else await rm(path, { force: true })
  }
  return crashes
}
