import { InlayError, isInlayError } from '@inlay/protocol'
import { createSlices } from '@inlay/scheduling'
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

export interface TableContext {
  readonly files?: FileStore
  readonly readFile?: FileExtractor
  readonly signal: AbortSignal
}

type Section = StoredDocument['sections'][number]

type Table = Extract<Section, { type: 'tabular' }>

/**
 * The text of an uploaded table, as Markdown tables whose header is repeated in each chunk.
 * @throws INVALID_INPUT for a file that was deleted or cannot be read, and errors of the file extractor
 */
async function readTable(section: Table, { files, readFile, signal }: TableContext): Promise<Section[]> {
  const file = await files?.read(section.csv_file_id)
  if (!file || !readFile)
    throw new InlayError('INVALID_INPUT', {
      message: 'The file of a table was deleted: upload it and send the document again.',
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

/** A document while it is written to the index, as one generation. */
export interface Writing {
  readonly document: ClaimedDocument
  readonly generation: string
  /** Number of rows with text so far. */
  chunkCount: number
  /** Tags of its rows. */
  tags: readonly string[]
  source: string
  /** JSON of metadata that is too large for the rows; null otherwise. */
  metadata: string | null
  files: readonly string[]
  /** Error that concerns only this document; its generation is then abandoned. */
  error?: unknown
}

export interface WritingContext extends TableContext {
  readonly db: Records
  /** Called after each commit with its number of rows. */
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

/** Maximum number of rows and characters appended at once; fewer rows if queries may be waiting for the embedder. */
const [pieceRows, embeddedPieceRows] = [1500, 1000]
const pieceCharacters = 3 * 2 ** 20

/**
 * Chunks, embeds and appends documents, many in one commit. A document that fails alone is marked, and the others
 * continue.
 * @throws InlayError if the index refuses a commit; `retryable` if the index or the embedder is down
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

/** A caller may wait for so little content, so it does not yield to searches. */
const awaitedCharacters = 2 ** 18

/** Splits documents into rows, returned in batches of one commit each. Yields to the event loop in between. */
async function* toPieces(
  writings: readonly Writing[],
  enrichment: Enrichment | undefined,
  context: WritingContext,
): AsyncGenerator<PieceRow[]> {
  const maxRows = context.embedding ? embeddedPieceRows : pieceRows
  let piece: PieceRow[] = []
  let characters = 0
  // `content` of a large document does not include its text.
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
        if (piece.length >= maxRows || characters >= pieceCharacters) {
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
      // A document that cannot be split must not stop the others.
      writing.error = partFailed(error, 'Cutting the document into chunks')
    }
  }
  if (piece.length > 0) yield piece
}

interface ReadDocument {
  /** With the text of its tables. */
  readonly document: StoredDocument
  readonly files: readonly string[]
  /** Section texts of a large document. */
  readonly texts?: LargeTexts | undefined
}

/** Undefined for a document that cannot be read; the error is then in `writing.error`. */
async function readWhole(writing: Writing, context: WritingContext): Promise<ReadDocument | undefined> {
  const { content, largeId } = writing.document
  try {
    // Written by this package from a validated request.
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
 * Runs work on all items. If it fails, runs it on halves of them until the items that fail alone are found. A retryable
 * error says nothing about the items: it ends the search and is thrown.
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
