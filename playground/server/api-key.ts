import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The key that is printed: made at the first start, then read from the data folder, so that a pasted line still works
 * after a restart. The file is readable for its owner only.
 */
export async function keepApiKey(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'api-key')
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  const made = `inlay_${randomBytes(24).toString('base64url')}`
  try {
    await writeFile(file, `${made}\n`, { mode: 0o600, flag: 'wx' })
    return made
  } catch (error) {
    // Node's errors carry their code beside the Error fields.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const kept = (await readFile(file, 'utf8')).trim()
  if (kept === '') {
    await writeFile(file, `${made}\n`, { mode: 0o600 })
    return made
  }
  await chmod(file, 0o600)
  return kept
}
