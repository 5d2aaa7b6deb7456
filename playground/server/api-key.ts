import { randomBytes } from 'node:crypto'
import { chmod, link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from 'inlay/internal/data-folder'

/**
 * The printed API key: generated at the first start, then read from the data folder, so that copied commands still work
 * after a restart. Only its owner can read the file.
 */
export async function keepApiKey(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'api-key')
  await makeFolder(dataFolder)
  const kept = await readKey(file)
  if (kept) {
    await chmod(file, 0o600)
    return kept
  }
  // The file was emptied.
  if (kept === '') await rm(file)
  // Written to another file and then linked, which only one of several processes can do: nobody reads a partial key.
  const fresh = `inlay_${randomBytes(24).toString('base64url')}`
  const aside = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(aside, `${fresh}\n`, { mode: 0o600 })
  await link(aside, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(aside)
  return (await readKey(file)) ?? fresh
}

/** The key in the file; undefined if the file does not exist. */
async function readKey(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    // Node's errors have a `code`.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
