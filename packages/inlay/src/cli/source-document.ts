import { readFile, stat } from 'node:fs/promises'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { toFileRequest, type ImageReader } from '@inlay/knowledge'
import type { IngestionRequest } from '@inlay/protocol'
import type { Egress } from '@inlay/drivers/egress'
import { misuse } from './command.ts'
import type { SourcePath } from './source-files.ts'
import { createPageTurns, fetchPage, pageRules, type SourcePage } from './web-pages.ts'

export type Source = SourcePath | SourcePage

export interface Reader {
  /**
   * None for a page of a sitemap that asks not to be indexed, or that is another one's copy.
   * @throws INVALID_INPUT, PAYLOAD_TOO_LARGE for a file that cannot be read, with instructions
   */
  read(source: Source): Promise<IngestionRequest | undefined>
  close(): Promise<void>
}

export interface ReaderOptions {
  /** Prefix of the links of files; absent: the link of a document is its path. */
  readonly baseUrl?: string | undefined
  readonly fetch: Egress
  /** Reads scans and pictures; closed with the reader. Default: none. */
  readonly ocr?: ImageReader | undefined
  /** Ends pauses between pages. */
  readonly signal?: AbortSignal | undefined
}

/** Creates a reader. @throws INVALID_INPUT for an invalid base URL */
export async function createReader({ baseUrl, fetch, ocr, signal }: ReaderOptions): Promise<Reader> {
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) {
    throw misuse('--base-url requires a URL, such as https://wiki.example.com/.')
  }
  const extract = fileExtractor({ threads: 2, ocr })
  const turns = createPageTurns(signal)
  return {
    async read(file) {
      if ('url' in file) {
        await turns.next(file)
        const answer = await fetchPage(fetch, file.url)
        const { url, bytes, headers } = answer
        const { isClosed, canonical } = pageRules(answer)
        const isCopy = canonical !== undefined && canonical !== file.url && file.site?.has(canonical)
        // A page that was named is wanted whatever it says to crawlers.
        if (file.site && (isClosed || isCopy)) return undefined
        const name = new URL(url).pathname.split('/').at(-1) || 'page.html'
        const extracted = await extract({ name, mediaType: headers.get('content-type') ?? undefined, bytes })
        return toFileRequest(
          { file: { name }, id: canonical ?? file.id, link: canonical ?? file.url, source: 'web' },
          extracted,
        )
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
  return `${baseUrl.replace(/(?<!\/)\/*$/, '/')}${below.split('/').map(encodeURIComponent).join('/')}`
}
