import { InlayError } from '@inlay/protocol'
import type { ClaimedDocument } from './claims.ts'
import type { Embedder, IndexRow, VectorIndex } from './contracts.ts'
import { embedDocuments } from './embedding.ts'
import { partFailed } from './failures.ts'
import { isolate } from './isolate.ts'
import { toRows, type DraftRow } from './rows.ts'
import type { IngestionStep } from './steps.ts'
import { nextTurn } from './turns.ts'

/** One document on its way into the index, as one generation. */
export interface Writing {
  readonly document: ClaimedDocument
  readonly generation: string
  /** Rows with text so far. */
  chunkCount: number
  /** Tags of its rows. */
  tags: readonly string[]
  source: string
  /** Why this document alone cannot be written; its generation is then abandoned. */
  error?: unknown
}

/** What writing needs. */
export interface WritingContext {
  readonly index: VectorIndex
  readonly embedder?: Embedder
  readonly embedTimeoutMs: number
  /** Runs one append at a time, over all claims. */
  readonly appendInTurn: (append: () => Promise<void>) => Promise<void>
  readonly at: (step: IngestionStep) => void | Promise<void>
  /** Aborts when the worker is to let go. */
  readonly signal: AbortSignal
}

interface PieceRow {
  readonly writing: Writing
  readonly row: DraftRow
}

/** Most rows and characters of text that are embedded and appended at once. */
const pieceRows = 1000
const pieceCharacters = 4 * 2 ** 20

/**
 * Chunks, embeds and appends documents, many in one commit. A document that fails by itself is marked, the others go on.
 * @param known vectors there are already, by the text they were made from
 * @throws InlayError when the index refuses a commit; `retryable` when the index or the embedder is down
 */
export async function writeDocuments(
  writings: readonly Writing[],
  known: ReadonlyMap<string, Float32Array>,
  context: WritingContext,
): Promise<void> {
  await context.at('chunk')
  for await (const piece of toPieces(writings)) {
    letGoWhenAborted(context.signal)
    const vectors = context.embedder && (await embedPiece(piece, known, context.embedder, context))
    const rows = piece.filter(({ writing }) => writing.error === undefined).map((item) => toIndexRow(item, vectors))
    if (rows.length > 0) await append(rows, context)
  }
}

function letGoWhenAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new InlayError('CLOSED', { retryable: true })
}

/** Cuts documents into rows, a commit's worth at a time; other work gets its turn in between. */
async function* toPieces(writings: readonly Writing[]): AsyncGenerator<PieceRow[]> {
  let piece: PieceRow[] = []
  let characters = 0
  let turnBegan = performance.now()
  for (const writing of writings) {
    for (const row of chunked(writing)) {
      piece.push({ writing, row })
      characters += row.searchText.length
      if (piece.length >= pieceRows || characters >= pieceCharacters) {
        yield piece
        piece = []
        characters = 0
      }
      if (performance.now() - turnBegan > longestTurnMs) {
        await nextTurn()
        turnBegan = performance.now()
      }
    }
  }
  if (piece.length > 0) yield piece
}

const longestTurnMs = 8

function* chunked(writing: Writing): Generator<DraftRow> {
  try {
    for (const row of toRows(writing.document)) {
      if (writing.error !== undefined) return
      if (row.text !== '') writing.chunkCount++
      writing.tags = row.tags
      writing.source = row.source
      yield row
    }
  } catch (error) {
    // One document in a thousand must not hold up the others.
    writing.error = partFailed(error, 'Cutting the document into chunks')
  }
}

async function embedPiece(
  piece: readonly PieceRow[],
  known: ReadonlyMap<string, Float32Array>,
  embedder: Embedder,
  context: WritingContext,
): Promise<Map<DraftRow, Float32Array>> {
  await context.at('embed')
  const vectors = new Map<DraftRow, Float32Array>()
  const byWriting = Map.groupBy(piece, ({ writing }) => writing)
  const { failed } = await isolate([...byWriting.keys()], async (subset) => {
    const rows = subset.flatMap((writing) => byWriting.get(writing)!.map(({ row }) => row))
    const texts = rows.map((row) => row.embedText())
    const { embedTimeoutMs: timeoutMs, signal } = context
    const found = await embedDocuments(texts, { embedder, known, timeoutMs, signal })
    rows.forEach((row, at) => vectors.set(row, found[at]!))
  })
  for (const { item, error } of failed) item.error = error
  return vectors
}

function toIndexRow({ writing, row }: PieceRow, vectors: Map<DraftRow, Float32Array> | undefined): IndexRow {
  const { embedText: _, ...kept } = row
  const vector = vectors?.get(row)
  return { ...kept, generation: writing.generation, ...(vector ? { vector } : {}) }
}

async function append(rows: readonly IndexRow[], context: WritingContext): Promise<void> {
  await context.at('append')
  await context.appendInTurn(async () => {
    letGoWhenAborted(context.signal)
    try {
      await context.index.append(rows)
    } catch (error) {
      throw partFailed(error, 'Writing to the index')
    }
  })
}
