import { InlayError, isInlayError, type FileStatus } from '@inlay/protocol'
import { createLimiter, untilAborted } from '@inlay/scheduling'
import { estimateTokens, type FileSection, type Services, type StoredFile } from '@inlay/agent'
import type { ConversationDatabase } from '../tables/database.ts'
import type { Blobs } from './blobs.ts'
import type { FileReader } from './contracts.ts'
import { isPresent, queueForIndex, toSections } from './file-records.ts'
import { maxSheetCells } from './sheets.ts'

export interface ReadingsOptions extends Pick<Services, 'now' | 'onError'> {
  readonly db: ConversationDatabase
  readonly blobs: Blobs
  readonly reader: FileReader
  readonly maxTokens: number
  readonly closing: AbortSignal
}

/** Texts of files. Each is extracted once, on first use, and stored. */
export interface Readings {
  /**
   * Text of a file; waits for a reading in progress.
   * @throws the reason when the file cannot be read (INVALID_INPUT, PAYLOAD_TOO_LARGE), otherwise the original error
   */
  of(file: StoredFile, signal?: AbortSignal): Promise<readonly FileSection[]>
}

/** Maximum number of files read at the same time: each is in memory as a whole. */
const concurrency = 2

export function createReadings(options: ReadingsOptions): Readings {
  const { db } = options
  const underway = new Map<string, Promise<readonly FileSection[]>>()
  const limiter = createLimiter(concurrency)

  const readOnce = (file: StoredFile): Promise<readonly FileSection[]> => {
    const earlier = underway.get(file.id)
    if (earlier) return earlier
    const reading = limiter.run(() => read(file, options)).finally(() => underway.delete(file.id))
    underway.set(file.id, reading)
    // The caller may have stopped waiting.
    reading.catch(() => {})
    return reading
  }
  return {
    of: async (file, signal) => {
      if (file.kind === 'image') return []
      if (file.status === 'FAILED') throw refusal(file.reason)
      const kept = await db
        .selectFrom('inlay_file_texts')
        .select('sections')
        .where('id', '=', file.id)
        .executeTakeFirst()
      if (kept) return toSections(kept.sections)
      const reading = readOnce(file)
      return signal ? untilAborted(reading, signal) : reading
    },
  }
}

function refusal(reason: string | null): InlayError {
  return new InlayError('INVALID_INPUT', { message: reason ?? 'The file could not be read.' })
}

async function read(file: StoredFile, options: ReadingsOptions): Promise<readonly FileSection[]> {
  const { blobs, reader, maxTokens, closing } = options
  const outcome = await (async (): Promise<Outcome> => {
    try {
      const bytes = await blobs.readAll(file.fileId, file.sizeBytes)
      const { name, mediaType } = file
      const { sections } = await reader({ name, mediaType, bytes }, { signal: closing })
      return judge(file, sections.map(toPlainSection), maxTokens)
    } catch (error) {
      if (!isInlayError(error) || (error.code !== 'INVALID_INPUT' && error.code !== 'PAYLOAD_TOO_LARGE')) throw error
      return { status: 'FAILED', reason: error.message, tokens: null, sections: [] }
    }
  })()
  await store(file.id, outcome, options)
  if (outcome.status === 'FAILED') throw refusal(outcome.reason)
  return outcome.sections
}

interface Outcome {
  readonly status: Exclude<FileStatus, 'PROCESSING'>
  readonly reason: string | null
  readonly tokens: number | null
  readonly sections: readonly FileSection[]
}

function toPlainSection({ text, heading, page }: FileSection): FileSection {
  return { text, ...(heading === undefined ? {} : { heading }), ...(page === undefined ? {} : { page }) }
}

const noText = 'The file holds no text that could be read; a scan needs OCR (INLAY_OCR) or a text layer.'

/** A spreadsheet above the limit is kept for display; other files are refused. */
function judge(file: StoredFile, sections: readonly FileSection[], maxTokens: number): Outcome {
  if (sections.length === 0) {
    return { status: 'FAILED', reason: noText, tokens: null, sections: [] }
  }
  const tokens = sections.reduce(
    (sum, { text, heading = '' }) => sum + estimateTokens(text) + estimateTokens(heading),
    0,
  )
  if (tokens <= maxTokens) return { status: 'COMPLETED', reason: null, tokens, sections }
  const limit = `${Math.floor(maxTokens / 1000)},000 tokens`
  if (file.kind !== 'tabular') {
    const reason = `The file says more than ${limit}: split it into smaller files.`
    return { status: 'FAILED', reason, tokens, sections: [] }
  }
  const shown = sections.map((section) => ({
    ...section,
    text: section.text.slice(0, 2 * maxSheetCells).toWellFormed(),
  }))
  const reason = `The spreadsheet holds more than ${limit}: it can be fetched, but not asked about.`
  return { status: 'SKIPPED', reason, tokens, sections: shown }
}

async function store(
  id: string,
  { status, reason, tokens, sections }: Outcome,
  { db }: ReadingsOptions,
): Promise<void> {
  await db.transaction().execute(async (records) => {
    const row = await records
      .updateTable('inlay_files')
      .set({ status, reason, tokens, attempts: 0, work: null })
      .where('id', '=', id)
      .where(isPresent)
      .returning('id')
      .executeTakeFirst()
    // Removed in the meantime.
    if (!row) return
    await queueForIndex(records, [id])
    if (sections.length === 0) return
    await records
      .insertInto('inlay_file_texts')
      .values({ id, sections: JSON.stringify(sections) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  })
}
