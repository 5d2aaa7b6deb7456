import { createHash } from 'node:crypto'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A Markdown file of the project, ready to be taken in. */
export interface OwnDocument {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** What takes documents in; as the knowledge of Inlay does it. */
export interface OwnDocumentsTarget {
  /** Whether there is no document at all. */
  readonly isEmpty: () => Promise<boolean>
  /** Makes the pair that the documents belong to. */
  readonly makePair: () => Promise<number>
  readonly hasPair: (pairId: number) => Promise<boolean>
  readonly accept: (document: OwnDocument, pairId: number) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

/** What was taken in before. */
interface OwnRecord {
  readonly pairId: number
  /** Hashes by id. */
  readonly documents: Readonly<Record<string, string>>
}

/**
 * Brings the project's own documentation in step with what was taken in before: new and changed files are accepted,
 * vanished ones removed. A folder that holds documents of somebody else gets none. What a person deleted stays deleted
 * until its file changes, and for ever when the whole pair was removed.
 * @param options.record file that notes what was taken in
 * @returns how many were accepted; 0 when nothing has changed
 */
export async function takeInOwnDocuments(options: {
  readonly root: string
  readonly record: string
  readonly target: OwnDocumentsTarget
  /** Called before the first document with how many there are. */
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
  // Only now: a start that was interrupted takes them in again, which changes nothing for those that got in.
  const hashes = documents.map((document) => [document.id, hashOf(document)])
  await writeRecord(record, { pairId, documents: Object.fromEntries(hashes) })
  return fresh.length
}

/** The record, made for an empty folder; undefined where no documentation is wanted. */
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

/** A long table of every option: its rows hold every everyday word, and come before the pages that explain. */
const leftOut = 'docs/7.options.md'

/** README.md and the Markdown files below docs/ that explain something, by path. */
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
    // Earlier versions wrote the hashes alone, and used the default pair.
    if (!('pairId' in record)) return { pairId: 1, documents: record as OwnRecord['documents'] }
    return record as OwnRecord
  } catch {
    return undefined
  }
}
