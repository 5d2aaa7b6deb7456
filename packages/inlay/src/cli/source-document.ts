import { readFile, stat } from 'node:fs/promises'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { toFileRequest, type ImageReader } from '@inlay/knowledge'
import type { IngestionRequest } from '@inlay/protocol'
import type { Egress } from '@inlay/drivers/egress'
import { misuse } from './command.ts'
import type { SourcePath } from './source-files.ts'
import { fetchPage, type SourcePage } from './web-pages.ts'

/** A file or a page. */
export type Source = SourcePath | SourcePage

/** Reads files as documents. */
export interface Reader {
  /** @throws INVALID_INPUT, PAYLOAD_TOO_LARGE for a file that cannot be read, with instructions */
  read(source: Source): Promise<IngestionRequest>
  close(): Promise<void>
}

/** Options of a reader. */
export interface ReaderOptions {
  /** Prefix of the links of files; absent: the link of a document is its path. */
  readonly baseUrl?: string | undefined
  /** Fetches pages. */
  readonly fetch: Egress
  /** Reads scans and pictures; closed with the reader. Default: none. */
  readonly ocr?: ImageReader | undefined
}

/** Creates a reader. @throws INVALID_INPUT for an invalid base URL */
export async function createReader({ baseUrl, fetch, ocr }: ReaderOptions): Promise<Reader> {
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) {
    throw misuse('--base-url requires a URL, such as https://wiki.example.com/.')
  }
  const extract = fileExtractor({ threads: 2, ocr })
  return {
    async read(file) {
      if ('url' in file) {
        const { url, bytes, headers } = await fetchPage(fetch, file.url)
        const name = new URL(url).pathname.split('/').at(-1) || 'page.html'
        const extracted = await extract({ name, mediaType: headers.get('content-type') ?? undefined, bytes })
        return toFileRequest({ file: { name }, id: file.id, link: file.url, source: 'web' }, extracted)
      }
      const [bytes, facts] = await Promise.all([readFile(file.path), stat(file.path)])
      const extracted = await extract({ name: file.path, bytes })
      const given = {
        file: { name: file.path },
        id: file.id,
        link: baseUrl === undefined ? file.id : linkBelow(baseUrl, file.below),
        metadata: { path: file.below },
        updatedAt: Math.trunc(facts.mtimeMs),
      }
      return toFileRequest(given, extracted)
    },
    close: async () => {
      await extract.close()
      await ocr?.close?.()
    },
  }
}

function linkBelow(baseUrl: string, below: string): string {
  return `${baseUrl.replace(/\/*$/, '/')}${below.split('/').map(encodeURIComponent).join('/')}`
}
