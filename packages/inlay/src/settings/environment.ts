import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { InlayError } from '@inlay/protocol'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The process's environment variables, completed from a file `.env` in the folder.
 * @param folder default: the working directory
 * @throws INVALID_INPUT when the file exists but cannot be read
 */
export function readEnvironment(folder: string = process.cwd(), env: Environment = process.env): Environment {
  let text: string
  try {
    text = readFileSync(join(folder, '.env'), 'utf8')
  } catch (error) {
    // Node's errors have a `code`.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return env
    throw new InlayError('INVALID_INPUT', { message: 'The file .env of this folder cannot be read.', cause: error })
  }
  // Windows editors write a byte order mark at the start of the file.
  return { ...parseEnv(text.replace(/^\uFEFF/, '')), ...env }
}
