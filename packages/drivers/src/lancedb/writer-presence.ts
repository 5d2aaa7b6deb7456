import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Tells whether others, in this process or another, have the same folder open. */
export interface Company {
  /**
   * A text that stays the same as long as this is the only handle and no other came or went; undefined while another
   * has the folder open.
   */
  solitude(): Promise<string | undefined>
  leave(): Promise<void>
}

interface Handle {
  readonly host: string
  readonly process: number
}

const renewalMs = 60_000
/** A handle of another machine that was not renewed for this long is taken for dead, in milliseconds. */
const lapseMs = 5 * renewalMs

/** Joins those who have a folder open, by a file in it; one that a killed process left is cleared away by the next. */
export async function joinCompany(folder: string): Promise<Company> {
  const name = randomUUID()
  const file = join(folder, name)
  await mkdir(folder, { recursive: true })
  const say = (): Promise<void> =>
    writeFile(file, JSON.stringify({ host: hostname(), process: process.pid } satisfies Handle))
  await say()
  const renewal = setInterval(() => void utimes(file, new Date(), new Date()).catch(say), renewalMs)
  renewal.unref()
  return {
    async solitude() {
      // Each search asks: 10 µs here, while a pool of threads that is busy would keep it waiting for milliseconds.
      const { mtimeNs } = statSync(folder, { bigint: true })
      const names = readdirSync(folder)
      const others = names.filter((other) => other !== name)
      // The names count too: two changes within one tick of the clock leave the same time.
      if (others.length === 0) return `${mtimeNs} ${names.join()}`
      await Promise.all(others.map((other) => clearDead(join(folder, other))))
      return undefined
    },
    async leave() {
      clearInterval(renewal)
      await rm(file, { force: true })
    },
  }
}

async function clearDead(file: string): Promise<void> {
  try {
    const [{ mtimeMs }, text] = await Promise.all([stat(file), readFile(file, 'utf8')])
    const isOld = Date.now() - mtimeMs > lapseMs
    // Empty while it is being written, or for good after a crash just then.
    const handle: Handle | undefined = text === '' ? undefined : JSON.parse(text)
    const isDead = handle?.host === hostname() ? !isAlive(handle.process) : isOld
    if (isDead) await rm(file, { force: true })
  } catch {
    // Gone by itself, or not readable: it counts as company.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
