import { InlayError, isInlayError } from '@inlay/protocol'
import { createSlices, nextSlice } from '@inlay/scheduling'
import type { RecordEvents, RetryPolicy } from '@inlay/records'
import { classifyError, isLetGo, partFailed } from '../calls/bounded-call.ts'
import type { EmbeddingCalls } from '../calls/embedding.ts'
import { type DraftRow, filesOf, toRows } from '../chunking/rows.ts'
import type { FileExtractor, FileStore } from '../contracts/files.ts'
import type { IngestionStep } from '../contracts/steps.ts'
import type { LargeDocument, StoredDocument } from '../contracts/stored-document.ts'
import type { IndexRow, VectorIndex } from '../contracts/vector-index.ts'
import { readKnownRows } from '../enrichment/known-rows.ts'
import { type Enrichment, type EnrichmentContext, createEnrichment } from '../enrichment/summaries-and-images.ts'
import { type Claim, type ClaimedDocument, readClaimed, recordGenerations, releaseClaim } from '../queue/claims.ts'
import { recordFailures } from '../queue/failed-documents.ts'
import { idsOf, toGeneration } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'
import { type LargeTexts, openLargeTexts } from './large-texts.ts'
import { type Written, settle } from './make-visible.ts'

export interface IndexingContext extends EnrichmentContext {
  readonly db: Records
  readonly index: VectorIndex
  readonly embedding?: EmbeddingCalls
  /** Store and reader of tables that documents reference. */
  readonly files?: FileStore
  readonly readFile?: FileExtractor
  readonly at?: (step: IngestionStep) => void | Promise<void>
  /** Called after each commit with its number of rows. */
  readonly onAppended?: (rows: number) => void
  readonly now: () => number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly policy: RetryPolicy
  /** Receives the error behind each failed attempt. */
  readonly onError: (error: unknown) => void
  /** Called when rows of the index became invisible. */
  readonly onRetired?: () => void
  readonly recordEvents?: RecordEvents | undefined
}

interface Progress {
  readonly claim: Claim
  readonly written: Written[]
  readonly failed: { readonly document: ClaimedDocument; readonly error: unknown; readonly isOutage?: boolean }[]
  /** All generations that may have rows. */
  readonly used: string[]
}

/**
 * Indexes the documents of a claim. Each becomes searchable, fails, or is retried later. When the signal aborts, those
 * that the claim still holds return to the queue.
 */
export async function indexClaim(claim: Claim, given: IndexingContext): Promise<void> {
  const context = claim.hasVectors ? given : { ...given, embedding: undefined }
  const { db } = context
  // SQLite reads the whole content synchronously on this thread.
  if (claim.isLarge) await nextSlice()
  const documents = await readClaimed(db, claim.id)
  const progress: Progress = { claim, written: [], failed: [], used: [] }
  try {
    const { embedding, summarize, describeImage } = context
    const hasModel = embedding ?? summarize ?? describeImage
    const enrichment = hasModel && (await enrich(documents, claim.space, context))
    const failed = await isolate(documents, (subset) => write(subset, progress, { enrichment, context }))
    // If all documents fail, the index is the likely cause.
    const isOutage = failed.length > 1 && failed.length === documents.length
    progress.failed.push(...failed.map(({ item, error }) => ({ document: item, error, isOutage })))
  } catch (error) {
    if (context.signal.aborted) {
      await releaseClaim(db, claim.id, progress.used)
      context.onRetired?.()
      return
    }
    // Documents not written yet are retried later.
    const settled = new Set(idsOf([...progress.written, ...progress.failed.map(({ document }) => document)]))
    const rest = documents.filter(({ id }) => !settled.has(id))
    progress.failed.push(...rest.map((document) => ({ document, error })))
  }
  if (progress.failed.length > 0) await endFailed(progress, context)
  await context.at?.('settle')
  const kept = new Set(progress.written.map(({ generation }) => generation))
  await settle(db, {
    claimId: claim.id,
    space: claim.space,
    now: context.now(),
    written: progress.written,
    abandoned: progress.used.filter((generation) => !kept.has(generation)),
    onRetired: context.onRetired,
    recordEvents: context.recordEvents,
  })
}

async function enrich(
  documents: readonly ClaimedDocument[],
  space: number,
  context: IndexingContext,
): Promise<Enrichment> {
  const { index, embedding, summarize } = context
  const kept = embedding || summarize ? documents : documents.filter(({ content }) => content.includes(imageMark))
  return createEnrichment(await readKnownRows(kept, { index, space }), context)
}

/** Substring of stored documents that have a section with an image. */
const imageMark = '"image_file_id":"'

/**
 * Chunks, embeds and appends documents, many in one commit. A document that fails alone is marked, and the others
 * continue.
 * @throws InlayError if the index refuses a commit; `retryable` if the index or the embedder is down
 */
async function write(
  documents: readonly ClaimedDocument[],
  progress: Progress,
  { enrichment, context }: { enrichment: Enrichment | undefined; context: IndexingContext },
): Promise<void> {
  const { claim, used } = progress
  // Each retry uses new generations: a commit reported as failed may have succeeded.
  const isFirst = used.length === 0
  const generations = isFirst
    ? claim.generations.slice(0, documents.length)
    : documents.map((_, at) => toGeneration(claim.space, claim.id, claim.generations.length + used.length + at))
  used.push(...generations)
  if (!isFirst) await recordGenerations(context.db, claim.id, used)
  const writings = documents.map((document, at): Writing => ({
    document,
    generation: generations[at]!,
    chunkCount: 0,
    tags: [],
    source: '',
    metadata: null,
    files: [],
    error: undefined,
  }))
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
  for (const { document, error, ...writing } of writings) {
    const { id, revision, incarnation, pairIds } = document
    if (error === undefined) progress.written.push({ id, revision, incarnation, pairIds, ...writing })
    else progress.failed.push({ document, error })
  }
}

async function endFailed({ claim, failed }: Progress, context: IndexingContext): Promise<void> {
  const { db, now, random, policy, onError, recordEvents } = context
  const tries = failed.map(({ document, error, isOutage }) => {
    const failure = classifyError(error, 'Indexing')
    return { ...document, reason: failure.reason, isOutage: isOutage === true || failure.isOutage }
  })
  await recordFailures(db, tries, { claimId: claim.id, now: now(), random, policy, recordEvents })
  // One log line per outage, not one per document.
  for (const error of new Set(failed.map((failure) => failure.error))) if (!isLetGo(error)) onError(error)
}

/** A document while it is written to the index, as one generation. */
interface Writing {
  readonly document: ClaimedDocument
  readonly generation: string
  /** Number of rows with text so far. */
  chunkCount: number
  tags: readonly string[]
  source: string
  /** JSON of metadata that is too large for the rows; null otherwise. */
  metadata: string | null
  files: readonly string[]
  /** Error that concerns only this document; its generation is then abandoned. */
  error?: unknown
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

function letGo(): InlayError {
  return new InlayError('CLOSED', { retryable: true })
}

/** A caller may wait for so little content, so it does not yield to searches. */
const awaitedCharacters = 2 ** 18

/** Splits documents into rows, returned in batches of one commit each. Yields to the event loop in between. */
async function* toPieces(
  writings: readonly Writing[],
  enrichment: Enrichment | undefined,
  context: IndexingContext,
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
async function readWhole(writing: Writing, context: IndexingContext): Promise<ReadDocument | undefined> {
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
  context: IndexingContext,
): Promise<Map<DraftRow, Float32Array>> {
  await context.at?.('embed')
  const vectors = new Map<DraftRow, Float32Array>()
  const byWriting = Map.groupBy(piece, ({ writing }) => writing)
  const failed = await isolate([...byWriting.keys()], async (subset) => {
    const rows = subset.flatMap((writing) => byWriting.get(writing)!.map(({ row }) => row))
    const texts = rows.map((row) => row.embedText())
    const embedded = await embedding.embedDocuments(texts, { known, signal: context.signal })
    rows.forEach((row, at) => vectors.set(row, embedded[at]!))
  })
  for (const { item, error } of failed) item.error = error
  return vectors
}

type Section = StoredDocument['sections'][number]

type Table = Extract<Section, { type: 'tabular' }>

/**
 * The text of an uploaded table, as Markdown tables whose header is repeated in each chunk.
 * @throws INVALID_INPUT for a file that was deleted or cannot be read, and errors of the file extractor
 */
async function readTable(section: Table, { files, readFile, signal }: IndexingContext): Promise<Section[]> {
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

/**
 * Runs work on all items. If it fails, runs it on halves of them until the items that fail alone are found. A retryable
 * error says nothing about the items: it ends the search and is thrown.
 * @returns the items that fail alone
 */
async function isolate<Item>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<void>,
): Promise<readonly { readonly item: Item; readonly error: unknown }[]> {
  try {
    await run(items)
    return []
  } catch (error) {
    if (isInlayError(error) && error.retryable) throw error
    if (items.length <= 1) return items.map((item) => ({ item, error }))
    const middle = Math.ceil(items.length / 2)
    const left = await isolate(items.slice(0, middle), run)
    return [...left, ...(await isolate(items.slice(middle), run))]
  }
}
