import { InlayError } from '@inlay/protocol'
import type { FileExtractor, FileStore } from '../contracts/files.ts'
import type { StoredDocument } from '../contracts/stored-document.ts'

/** What tables of documents are read with. */
export interface TableContext {
  readonly files?: FileStore
  readonly readFile?: FileExtractor
  readonly signal: AbortSignal
}

type Section = StoredDocument['sections'][number]

/**
 * The document with the text of its uploaded tables: Markdown tables, whose header each chunk repeats.
 * @throws INVALID_INPUT for a file that is gone or cannot be read, and what reading files throws
 */
export async function withTables(document: StoredDocument, context: TableContext): Promise<StoredDocument> {
  if (!document.sections.some(isTable)) return document
  const sections: Section[] = []
  for (const section of document.sections)
    sections.push(...(isTable(section) ? await readTable(section, context) : [section]))
  return { ...document, sections }
}

type Table = Extract<Section, { type: 'tabular' }>

function isTable(section: Section): section is Table {
  return 'csv_file_id' in section && Boolean(section.csv_file_id)
}

async function readTable(section: Table, { files, readFile, signal }: TableContext): Promise<Section[]> {
  const file = await files?.read(section.csv_file_id)
  if (!file || !readFile)
    throw new InlayError('INVALID_INPUT', {
      message: 'The file of a table is gone: upload it and send the document again.',
    })
  const { sections } = await readFile(file, { signal })
  return sections.map(({ text, heading }) => ({
    type: 'text',
    text,
    link: section.link,
    image_file_id: null,
    heading: [section.heading, heading].filter(Boolean).join(' – ') || null,
  }))
}
