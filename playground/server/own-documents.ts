import { createHash } from 'node:crypto'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A Markdown file of the project, ready to be taken in. */
export interface OwnDocument {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** Takes a document in and forgets one; as the knowledge of Inlay does it. */
export interface OwnDocumentsTarget {
  readonly accept: (document: OwnDocument) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

/**
 * Brings the project's own documentation in step with what was taken in before: new and changed files are accepted,
 * vanished ones removed. What a person deleted stays deleted until its file changes.
 * @param options.record file that notes what was taken in
 * @returns how many were accepted; 0 when nothing has changed
 */
export async function takeInOwnDocuments(options: {
  readonly root: string
  readonly record: string
  readonly target: OwnDocumentsTarget
  /** Called before the first document with how many there are. */
  readonly onBegin?: (count: number) => void
}): Promise<number> {
  const known = await readRecord(options.record)
  const documents = await readOwnDocuments(options.root)
  const fresh = documents.filter((document) => known[document.id] !== hashOf(document))
  const gone = Object.keys(known).filter((id) => !documents.some((document) => document.id === id))
  if (fresh.length === 0 && gone.length === 0) return 0
  if (fresh.length > 0) options.onBegin?.(fresh.length)
  await Promise.all(fresh.map((document) => options.target.accept(document)))
  await Promise.all(gone.map((id) => options.target.remove(id)))
  // Only now: a start that was interrupted takes them in again, which changes nothing for those that got in.
  const noted = Object.fromEntries(documents.map((document) => [document.id, hashOf(document)]))
  const written = `${options.record}.${process.pid}`
  await writeFile(written, JSON.stringify(noted))
  await rename(written, options.record)
  return fresh.length
}

/** README.md and the Markdown files below docs/, by path. */
async function readOwnDocuments(root: string): Promise<OwnDocument[]> {
  const inDocs = await readdir(join(root, 'docs'), { recursive: true }).catch(() => [])
  const paths = ['README.md', ...inDocs.map((name) => `docs/${name.replaceAll('\\', '/')}`).sort()]
  const documents: OwnDocument[] = []
  for (const path of paths.filter((name) => name.endsWith('.md'))) {
    const text = await readFile(join(root, path), 'utf8').catch(() => '')
    if (text.trim() !== '')
      documents.push({ id: `inlay/${path}`, title: /^#\s+(.+)$/m.exec(text)?.[1]?.trim() ?? path, text })
  }
  return documents
}

const hashOf = (document: OwnDocument): string =>
  createHash('sha256').update(`${document.title}\0${document.text}`).digest('base64url')

async function readRecord(file: string): Promise<Record<string, string>> {
  try {
    const record: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof record === 'object' && record !== null ? (record as Record<string, string>) : {}
  } catch {
    return {}
  }
}
