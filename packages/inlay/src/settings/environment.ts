import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { InlayError } from '@inlay/protocol'
import type { Environment } from './readers.ts'

/**
 * The process's variables, with those of a file `.env` in the folder where the process has none.
 * @param folder default: the working folder
 * @throws INVALID_INPUT when there is such a file but it cannot be read
 */
export function readEnvironment(folder: string = process.cwd(), env: Environment = process.env): Environment {
  let text: string
  try {
    text = readFileSync(join(folder, '.env'), 'utf8')
  } catch (error) {
    // Node's errors carry their code beside the Error fields.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return env
    throw new InlayError('INVALID_INPUT', { message: 'The file .env of this folder cannot be read.', cause: error })
  }
  // Editors on Windows put a mark before the first name.
  return { ...parseEnv(text.replace(/^\uFEFF/, '')), ...env }
}
