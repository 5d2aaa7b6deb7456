import { InlayError } from '@inlay/protocol'
import { addText, openText, type TextWindow } from '../chunking/blocks.ts'
import type { LargeDocument, StoredDocument } from '../contracts/stored-document.ts'
import { readPart } from '../intake/large-content.ts'
import type { Records } from '../schema/tables.ts'

/** The texts of a large document, of which only a few parts are in memory at a time. */
export interface LargeTexts {
  /** Maps a section of the document to its new index: tables before it may have added sections. */
  place(section: number, now: number): void
  /** Opens the text of each section, in order; undefined for one that is not stored here. */
  readonly openSection: (now: number) => TextWindow | undefined
  /** Loads the next part of the last opened text, if it needs more. */
  load(): Promise<void>
}

/** Models that summarize a document read at most this much. */
const shownCharacters = 60_000

/** Opens a large document. @returns also the document with the beginning of its text */
export async function openLargeTexts(
  db: Records,
  largeId: string,
  { textLengths, ...document }: LargeDocument,
): Promise<{ readonly texts: LargeTexts; readonly document: StoredDocument }> {
  let part = await presentPart(db, largeId, 0)
  const beginning = part.slice(0, shownCharacters)
  /** The next read position, and the remaining length of the current section. */
  let [position, at, left] = [0, 0, 0]
  let text: TextWindow | undefined
  const lengths = new Map<number, number>()
  const texts: LargeTexts = {
    place: (section, now) => lengths.set(now, textLengths[section] ?? 0),
    openSection: (now) => {
      const length = lengths.get(now)
      if (length === undefined) return undefined
      left = length
      return (text = openText('', left === 0))
    },
    load: async () => {
      if (!text?.isWanted) return
      if (at === part.length) {
        part = await presentPart(db, largeId, ++position)
        at = 0
      }
      const more = part.slice(at, at + left)
      at += more.length
      left -= more.length
      addText(text, more, left === 0)
    },
  }
  let shown = 0
  const sections = document.sections.map((section, index) => {
    const start = shown
    shown += textLengths[index] ?? 0
    return 'text' in section ? { ...section, text: beginning.slice(start, shown) } : section
  })
  return { texts, document: { ...document, sections } }
}

/** @throws CONFLICT if the part does not exist: the document was changed or deleted meanwhile */
async function presentPart(db: Records, largeId: string, position: number): Promise<string> {
  const text = await readPart(db, largeId, position)
  if (text === undefined) throw new InlayError('CONFLICT', { message: 'The document was changed while it was read.' })
  return text
}
