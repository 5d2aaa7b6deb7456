/** Parts of a file that could not be read, as its reader noted them in the metadata of the document. */
export interface UnreadParts {
  readonly pages: UnreadPages | undefined
  /** Attachments of a mail that could not be read, or only in part. */
  readonly attachments: readonly string[]
  /** Number of footnotes, endnotes and comments that the file refers to and does not contain. */
  readonly missingNotes: number
  /** Names of the parts of an Office file that are damaged, such as `word/footnotes.xml`. */
  readonly parts: readonly string[]
  /** The encoding in which a text was read that names none, e.g. `shift_jis`; undefined if it was told. */
  readonly guessedEncoding: string | undefined
  /** Whether anything was left out, besides doubts about the encoding. */
  readonly isPartial: boolean
}

export interface UnreadPages {
  /** Undefined where only numbers are known. */
  readonly count: number | undefined
  readonly total: number | undefined
  /** Numbers and ranges, such as `7-12`, in order. */
  readonly numbers: readonly string[]
}

/** Metadata in which file readers note what they could not read. */
export const unreadKeys: ReadonlySet<string> = new Set([
  'unreadable_pages',
  'unreadable_page_count',
  'unreadable_attachments',
  'missing_notes',
  'unreadable_parts',
  'guessed_encoding',
])

/** @param entries metadata of a document, one value each @returns undefined if all of its file was read */
export function unreadPartsOf(entries: Iterable<readonly [key: string, value: string]>): UnreadParts | undefined {
  const noted = Map.groupBy(entries, ([key]) => key)
  const valuesOf = (key: string): string[] => (noted.get(key) ?? []).map(([, value]) => value)
  const [, count, total] = /^(\d{1,9}) of (\d{1,9})$/.exec(valuesOf('unreadable_page_count')[0] ?? '') ?? []
  const numbers = valuesOf('unreadable_pages')
    .filter((text) => /^\d+(?:-\d+)?$/.test(text))
    .toSorted((left, right) => parseInt(left, 10) - parseInt(right, 10))
  const pages =
    count !== undefined
      ? { count: Number(count), total: Number(total), numbers }
      : numbers.length > 0
        ? { count: undefined, total: undefined, numbers }
        : undefined
  const attachments = valuesOf('unreadable_attachments')
  const [notes = ''] = valuesOf('missing_notes')
  const missingNotes = /^\d{1,9}$/.test(notes) ? Number(notes) : 0
  const [guessedEncoding] = valuesOf('guessed_encoding')
  const parts = valuesOf('unreadable_parts')
  const isPartial = pages !== undefined || attachments.length > 0 || missingNotes > 0 || parts.length > 0
  return isPartial || guessedEncoding !== undefined
    ? { pages, attachments, missingNotes, parts, guessedEncoding, isPartial }
    : undefined
}

/** Metadata as one entry a text. */
export function metadataEntries(metadata: Readonly<Record<string, unknown>>): [key: string, text: string][] {
  return Object.entries(metadata).flatMap(([key, values]) =>
    [values].flat().flatMap((value): [string, string][] => (typeof value === 'string' ? [[key, value]] : [])),
  )
}

/** Says in English what could not be read. */
export function describeUnread(unread: UnreadParts): string {
  const { pages, attachments, missingNotes, parts, guessedEncoding } = unread
  const sentences: string[] = []
  if (pages) {
    const which = pages.numbers.length === 0 ? '' : `: ${pages.numbers.join(', ')}`
    const howMany =
      pages.count === undefined ? 'Pages' : `${pages.count} of ${pages.total} ${pages.total === 1 ? 'page' : 'pages'}`
    sentences.push(`${howMany} could not be read${which}.`)
  }
  if (attachments.length > 0)
    sentences.push(
      `${attachments.length === 1 ? '1 attachment' : `${attachments.length} attachments`} could not be read in full: ` +
        `${attachments.join('; ')}.`,
    )
  if (missingNotes > 0)
    sentences.push(
      missingNotes === 1
        ? '1 footnote or comment is missing in the file.'
        : `${missingNotes} footnotes or comments are missing in the file.`,
    )
  if (parts.length > 0) sentences.push(`Damaged parts of the file could not be read: ${parts.join('; ')}.`)
  if (guessedEncoding !== undefined)
    sentences.push(
      `The file does not name its encoding and was read as ${guessedEncoding}: if its letters are wrong, save it as UTF-8.`,
    )
  return sentences.join(' ')
}
