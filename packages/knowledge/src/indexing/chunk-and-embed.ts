import { InlayError, isInlayError } from '@inlay/protocol'
import { createSlices } from '@inlay/protocol/concurrency'
import { partFailed } from '../calls/bounded-call.ts'
import type { EmbeddingCalls } from '../calls/embedding.ts'
import { type DraftRow, filesOf, toRows } from '../chunking/rows.ts'
import type { FileExtractor, FileStore } from '../contracts/files.ts'
import type { IngestionStep } from '../contracts/steps.ts'
import type { LargeDocument, StoredDocument } from '../contracts/stored-document.ts'
import type { IndexRow, VectorIndex } from '../contracts/vector-index.ts'
import type { Enrichment } from '../enrichment/summaries-and-images.ts'
import type { ClaimedDocument } from '../queue/claims.ts'
import type { Records } from '../schema/tables.ts'
import { type LargeTexts, openLargeTexts } from './large-texts.ts'

/** Dependencies for reading the tables of documents. */
export interface TableContext {
  readonly files?: FileStore
  readonly readFile?: FileExtractor
  readonly signal: AbortSignal
}

type Section = StoredDocument['sections'][number]

type Table = Extract<Section, { type: 'tabular' }>

/**
 * The text of an uploaded table: Markdown tables, whose header each chunk repeats.
 * @throws INVALID_INPUT for a file that is gone or cannot be read, and what reading files throws
 */
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

/** One document on its way into the index, as one generation. */
export interface Writing {
  readonly document: ClaimedDocument
  readonly generation: string
  /** Rows with text so far. */
  chunkCount: number
  /** Tags of its rows. */
  tags: readonly string[]
  source: string
  /** JSON of metadata that its rows do not carry. */
  metadata: string | null
  /** Ids of the files that it names. */
  files: readonly string[]
  /** Why this document alone cannot be written; its generation is then abandoned. */
  error?: unknown
}

export interface WritingContext extends TableContext {
  readonly db: Records
  /** Told how many rows a commit brought into the index. */
  readonly onAppended?: (rows: number) => void
  readonly index: VectorIndex
  readonly embedding?: EmbeddingCalls
  readonly at?: (step: IngestionStep) => void | Promise<void>
}

interface PieceRow {
  readonly writing: Writing
  readonly row: DraftRow
  readonly document: StoredDocument
  /** Whether its document has other rows. */
  isPart: boolean
}

type EnrichedRow = Pick<PieceRow, 'writing' | 'row'>

/** Most rows and characters of text that are appended at once; fewer rows where others wait for an embedder. */
const [pieceRows, embeddedPieceRows] = [1500, 1000]
const pieceCharacters = 3 * 2 ** 20

/**
 * Chunks, embeds and appends documents, many in one commit. A document that fails by itself is marked, the others go on.
 * @throws InlayError when the index refuses a commit; `retryable` when the index or the embedder is down
 */
export async function writeDocuments(
  writings: readonly Writing[],
  enrichment: Enrichment | undefined,
  context: WritingContext,
): Promise<void> {
  await context.at?.('chunk')
  for await (const cut of toPieces(writings, enrichment, context)) {
    if (context.signal.aborted) throw letGo()
    const piece: readonly EnrichedRow[] = enrichment
      ? (await enrichment.summarize(cut)).map((row, at) => ({ row, writing: cut[at]!.writing }))
      : cut
    const vectors = context.embedding && (await embedPiece(piece, enrichment?.vectors, context.embedding, context))
    const kept = piece
      .filter(({ writing }) => writing.error === undefined)
      .map(({ writing: { generation }, row }): IndexRow => ({ ...row.fields, generation, vector: vectors?.get(row) }))
    if (kept.length === 0) continue
    await context.at?.('append')
    if (context.signal.aborted) throw letGo()
    try {
      await context.index.append(kept)
    } catch (error) {
      throw partFailed(error, 'Writing to the index')
    }
    context.onAppended?.(kept.length)
  }
}

function letGo(): InlayError {
  return new InlayError('CLOSED', { retryable: true })
}

/** Somebody may wait until so little is found: it gives way to no search. */
const awaitedCharacters = 2 ** 18

/** Cuts documents into rows, a commit's worth at a time; other work gets its turn in between. */
async function* toPieces(
  writings: readonly Writing[],
  enrichment: Enrichment | undefined,
  context: WritingContext,
): AsyncGenerator<PieceRow[]> {
  const mostRows = context.embedding ? embeddedPieceRows : pieceRows
  let piece: PieceRow[] = []
  let characters = 0
  // The content of a large document does not include its texts.
  const content = writings.reduce(
    (sum, { document: { content, largeId } }) => sum + (largeId ? Infinity : content.length),
    0,
  )
  const slices = createSlices({ isAwaited: content <= awaitedCharacters })
  for (const writing of writings) {
    const read = await readWhole(writing, context)
    if (!read) continue
    const { document, texts, files } = read
    if (slices.isOver()) await slices.next()
    const descriptions = await enrichment?.describe(document)
    writing.files = files
    try {
      for (const row of toRows(writing.document, document, { descriptions, openSection: texts?.openSection })) {
        if (slices.isOver()) await slices.next()
        if (!row) {
          await texts?.load()
          continue
        }
        const before = piece.at(-1)
        if (before?.writing === writing) before.isPart = true
        if (piece.length >= mostRows || characters >= pieceCharacters) {
          yield piece
          ;[piece, characters] = [[], 0]
          if (writing.error !== undefined) break
        }
        piece.push({ writing, document, row, isPart: row.fields.position > 0 })
        characters += row.fields.searchText.length
        if (row.fields.text !== '') writing.chunkCount++
        writing.tags = row.fields.tags
        writing.source = row.fields.source
        writing.metadata = row.metadataBeside
      }
    } catch (error) {
      // One document in a thousand must not hold up the others.
      writing.error = partFailed(error, 'Cutting the document into chunks')
    }
  }
  if (piece.length > 0) yield piece
}

interface ReadDocument {
  /** With the text of its tables. */
  readonly document: StoredDocument
  /** Ids of the files that it names. */
  readonly files: readonly string[]
  /** Section texts of a large document. */
  readonly texts?: LargeTexts | undefined
}

/** Undefined for a document that cannot be read, which then carries the error. */
async function readWhole(writing: Writing, context: WritingContext): Promise<ReadDocument | undefined> {
  const { content, largeId } = writing.document
  try {
    // Written by this package alone, from a validated request.
    const stored = JSON.parse(content) as StoredDocument | LargeDocument
    const large = 'textLengths' in stored ? await openLargeTexts(context.db, largeId!, stored) : undefined
    const document = large?.document ?? stored
    const sections: Section[] = []
    for (const [at, section] of document.sections.entries())
      if ('csv_file_id' in section && section.csv_file_id) sections.push(...(await readTable(section, context)))
      else {
        large?.texts.place(at, sections.length)
        sections.push(section)
      }
    return { document: { ...document, sections }, texts: large?.texts, files: filesOf(document) }
  } catch (error) {
    if (context.signal.aborted) throw letGo()
    writing.error = partFailed(error, 'Reading the document')
    return undefined
  }
}

async function embedPiece(
  piece: readonly EnrichedRow[],
  known: ReadonlyMap<string, Float32Array> | undefined,
  embedding: EmbeddingCalls,
  context: WritingContext,
): Promise<Map<DraftRow, Float32Array>> {
  await context.at?.('embed')
  const vectors = new Map<DraftRow, Float32Array>()
  const byWriting = Map.groupBy(piece, ({ writing }) => writing)
  const { failed } = await isolate([...byWriting.keys()], async (subset) => {
    const rows = subset.flatMap((writing) => byWriting.get(writing)!.map(({ row }) => row))
    const texts = rows.map((row) => row.embedText())
    const embedded = await embedding.embedDocuments(texts, { known, signal: context.signal })
    rows.forEach((row, at) => vectors.set(row, embedded[at]!))
  })
  for (const { item, error } of failed) item.error = error
  return vectors
}

/** Results of items that were processed together or, after a failure, one by one. */
export interface Isolated<Item> {
  readonly done: readonly Item[]
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[]
}

/**
 * Runs work on all items; when it fails, on halves of them, until those are found that fail by themselves. An error
 * that is retryable says nothing about the items: it ends the search and is thrown.
 */
export async function isolate<Item>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<void>,
): Promise<Isolated<Item>> {
  try {
    await run(items)
    return { done: items, failed: [] }
  } catch (error) {
    if (isInlayError(error) && error.retryable) throw error
    if (items.length <= 1) return { done: [], failed: items.map((item) => ({ item, error })) }
    const middle = Math.ceil(items.length / 2)
    const left = await isolate(items.slice(0, middle), run)
    const right = await isolate(items.slice(middle), run)
    return { done: [...left.done, ...right.done], failed: [...left.failed, ...right.failed] }
  }
}
