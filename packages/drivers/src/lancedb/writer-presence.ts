import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Tells the processes of this machine apart. `createProcessPresence` of `@inlay/records` makes one. */
export interface Processes {
  /** Names this process, and no other one ever. */
  readonly owner: string
  /** Whether the process with that name is known to have ended; false when nothing is known of it. */
  isGone(owner: string): boolean
}

/** Tells whether another handle, of this process or another, has the same folder open. */
export interface WriterPresence {
  /**
   * Runs a commit of this handle. Others see the handle before it begins: they take it for dead when its process was
   * suspended for longer than a minute.
   */
  commit<Result extends { readonly version: number }>(work: () => Promise<Result>): Promise<Result>
  /**
   * A text that stays the same for as long as this is the only handle and no other came or went; undefined while
   * another has the folder open.
   */
  soleWriter(): Promise<string | undefined>
  leave(): Promise<void>
}

/** What a handle's file holds. */
interface HandleFile {
  readonly owner: string
}

const renewalMs = 15_000
/** A handle that was not renewed for this long is dead, whatever is known of its process. */
const lapseMs = 60_000

/**
 * Opens a handle on a folder: a file in it that is renewed while the process lives. A handle that a killed process left
 * is removed by the next caller: at once where `processes` knows that the process is gone, else when it lapsed.
 */
export async function openWriterPresence(folder: string, processes?: Processes): Promise<WriterPresence> {
  const name = randomUUID()
  const file = join(folder, name)
  const text = JSON.stringify({ owner: processes?.owner ?? name } satisfies HandleFile)
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
      // 5 µs, while a busy thread pool would take milliseconds.
      if (!existsSync(file)) await write()
      return work()
    },
    async soleWriter() {
      // Asked by each search: see above.
      const { mtimeNs } = statSync(folder, { bigint: true })
      const names = readdirSync(folder)
      if (!names.includes(name)) {
        await write()
        return undefined
      }
      // The name counts too: two changes within one tick of the clock leave the same time.
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
    // It has gone by itself, or cannot be read: then it counts as present.
  }
}

function isOfGoneProcess(text: string, processes: Processes | undefined): boolean {
  // Empty while it is being written, or for good after a crash just then.
  const handle: Partial<HandleFile> = text === '' ? {} : JSON.parse(text)
  return handle.owner !== undefined && processes?.isGone(handle.owner) === true
}
