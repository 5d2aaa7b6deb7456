import { readFile } from 'node:fs/promises'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { toFileRequest } from '@inlay/knowledge'
import type { IngestionRequest } from '@inlay/protocol'
import { misuse } from './command.ts'
import type { SourcePath } from './source-files.ts'

/** Reads files as documents. */
export interface Reader {
  /** @throws INVALID_INPUT, PAYLOAD_TOO_LARGE for a file that cannot be read, with what to do about it */
  read(file: SourcePath): Promise<IngestionRequest>
  close(): Promise<void>
}

/**
 * Makes a reader.
 * @param baseUrl what links begin with; absent: a document's link is its path
 * @throws INVALID_INPUT for a base URL that is none
 */
export async function createReader(baseUrl: string | undefined): Promise<Reader> {
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) {
    throw misuse('--base-url needs an address, such as https://wiki.example.com/.')
  }
  const extract = fileExtractor({ threads: 2 })
  return {
    async read(file) {
      const extracted = await extract({ name: file.path, bytes: await readFile(file.path) })
      const given = {
        file: { name: file.path },
        id: file.id,
        link: baseUrl === undefined ? file.id : linkBelow(baseUrl, file.below),
        metadata: { path: file.below },
      }
      // Only what the file itself tells of times: a fresh checkout changes those of the disk without changing anything.
      return toFileRequest(given, extracted)
    },
    close: () => extract.close(),
  }
}

function linkBelow(baseUrl: string, below: string): string {
  return `${baseUrl.replace(/\/*$/, '/')}${below.split('/').map(encodeURIComponent).join('/')}`
}
