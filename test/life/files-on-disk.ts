import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file of a data folder: its path in the folder, and its bytes. */
export interface FileOnDisk {
  readonly name: string
  readonly bytes: Buffer
}

/**
 * Reads the files of a data folder whose service may be running. If it removes one meanwhile, all are read again: what
 * it held may stand in another one by then. Closing a file of SQLite drops its locks, which does no harm while no other
 * process uses the folder.
 */
export function filesOnDisk(folder: string, isWanted: (name: string) => boolean = () => true): FileOnDisk[] {
  for (;;) {
    try {
      return globSync('**/*', { cwd: folder, withFileTypes: true })
        .filter((entry) => entry.isFile() && isWanted(entry.name))
        .map(({ parentPath, name }) => ({ name, bytes: readFileSync(join(parentPath, name)) }))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
}
