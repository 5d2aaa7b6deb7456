import { createHash } from 'node:crypto'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A Markdown file of the project to ingest. */
export interface OwnDocument {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** Destination of the documents, implemented by Inlay's knowledge. */
export interface OwnDocumentsTarget {
  /** Whether there are no documents. */
  readonly isEmpty: () => Promise<boolean>
  /** Creates the pair of the documents. */
  readonly makePair: () => Promise<number>
  readonly hasPair: (pairId: number) => Promise<boolean>
  readonly accept: (document: OwnDocument, pairId: number) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

/** Record of what was ingested before. */
interface OwnRecord {
  readonly pairId: number
  /** Hashes by document id. */
  readonly documents: Readonly<Record<string, string>>
}

/**
 * Synchronizes the project's own documentation with what was ingested before: new and changed files are accepted,
 * removed ones deleted. Does nothing if the folder contains other documents. Documents that the user deleted stay
 * deleted until their file changes, and forever if the whole pair was deleted.
 * @param options.record file that records what was ingested
 */
export async function takeInOwnDocuments(options: {
  readonly root: string
  readonly record: string
  readonly target: OwnDocumentsTarget
  /** Called before the first document with the number of documents. */
  readonly onStart?: (count: number) => void
}): Promise<number> {
  const { record, target } = options
  const known = await openRecord(record, target)
  if (known === undefined) return 0
  const { pairId } = known
  const documents = await readOwnDocuments(options.root)
  const fresh = documents.filter((document) => known.documents[document.id] !== hashOf(document))
  const gone = Object.keys(known.documents).filter((id) => !documents.some((document) => document.id === id))
  if (fresh.length === 0 && gone.length === 0) return 0
  if (fresh.length > 0) options.onStart?.(fresh.length)
  await Promise.all(fresh.map((document) => target.accept(document, pairId)))
  await Promise.all(gone.map((id) => target.remove(id)))
  // Written last: an interrupted start ingests them again, which changes nothing for those already stored.
  const hashes = documents.map((document) => [document.id, hashOf(document)])
  await writeRecord(record, { pairId, documents: Object.fromEntries(hashes) })
  return fresh.length
}

/** Reads the record, or creates it for an empty folder; undefined if no documentation should be ingested. */
async function openRecord(file: string, target: OwnDocumentsTarget): Promise<OwnRecord | undefined> {
  const known = await readRecord(file)
  if (known !== undefined) return (await target.hasPair(known.pairId)) ? known : undefined
  if (!(await target.isEmpty())) return undefined
  const record: OwnRecord = { pairId: await target.makePair(), documents: {} }
  await writeRecord(file, record)
  return record
}

async function writeRecord(file: string, record: OwnRecord): Promise<void> {
  const aside = `${file}.${process.pid}`
  await writeFile(aside, JSON.stringify(record), { mode: 0o600 })
  await rename(aside, file)
}

/** Skipped: its table of all options contains every common word, and would rank above the pages that explain. */
const leftOut = 'docs/7.options.md'

/** README.md and the Markdown files in docs/ that explain something, by path. */
async function readOwnDocuments(root: string): Promise<OwnDocument[]> {
  const inDocs = await readdir(join(root, 'docs'), { recursive: true }).catch(() => [])
  const paths = ['README.md', ...inDocs.map((name) => `docs/${name.replaceAll('\\', '/')}`).sort()]
  const documents: OwnDocument[] = []
  for (const path of paths.filter((name) => name.endsWith('.md') && name !== leftOut)) {
    const text = await readFile(join(root, path), 'utf8').catch(() => '')
    if (text.trim() !== '')
      documents.push({ id: `inlay/${path}`, title: /^#\s+(.+)$/m.exec(text)?.[1]?.trim() ?? path, text })
  }
  return documents
}

const hashOf = (document: OwnDocument): string =>
  createHash('sha256').update(`${document.title}\0${document.text}`).digest('base64url')

async function readRecord(file: string): Promise<OwnRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (typeof record !== 'object' || record === null) return undefined
    // Earlier versions wrote only the hashes, and used the default pair.
    if (!('pairId' in record)) return { pairId: 1, documents: record as OwnRecord['documents'] }
    return record as OwnRecord
  } catch {
    return undefined
  }
}
