import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { InlayError, ingestionRequestSchema, parseWith, type IngestionRequest } from '@inlay/protocol'
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
    throw new InlayError('INVALID_INPUT', {
      message: '--base-url needs an address, such as https://wiki.example.com/.',
    })
  }
  const extract = fileExtractor({ threads: 2 })
  return {
    async read(file) {
      const { title, sections, metadata, createdAt, updatedAt } = await extract({
        name: file.path,
        bytes: await readFile(file.path),
      })
      const link = baseUrl === undefined ? file.id : linkBelow(baseUrl, file.below)
      const document = {
        id: file.id,
        semantic_identifier: title ?? firstHeading(sections[0]?.text) ?? basename(file.path),
        source: 'file',
        sections: sections.map((section) => ({
          text: section.text,
          link: section.link ?? link,
          heading: section.heading,
        })),
        metadata: { ...metadata, path: file.below },
        // Not the file's own times: a fresh checkout changes them without changing anything.
        doc_created_at: toDate(createdAt),
        doc_updated_at: toDate(updatedAt),
      }
      return parseWith(ingestionRequestSchema, { document }, 'body')
    },
    close: () => extract.close(),
  }
}

/** A chapter of a book often begins below the first level, or after an anchor, and is called so all the same. */
function firstHeading(text: string | undefined): string | undefined {
  const heading = /^(?:\s|<[^<>\n]*>)*#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|$)/.exec(text ?? '')?.[1]
  return heading?.replace(/[`*_]/g, '')
}

function linkBelow(baseUrl: string, below: string): string {
  return `${baseUrl.replace(/\/*$/, '/')}${below.split('/').map(encodeURIComponent).join('/')}`
}

function toDate(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
