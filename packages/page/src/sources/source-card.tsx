import type { SearchDoc } from '@inlay/protocol'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../controls/icons.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { safeLink } from '@inlay/text/markdown'
import { piecesOf, piecesOfText, sampleOf, withQuote, type Piece } from './passage.ts'
import { openDocument, type DocumentPlace } from '../documents/preview/open-document.tsx'
import { shownInPane } from '../pane/pane-store.ts'
import type { Service } from '../service/service.ts'
import { StoredFile } from '../steps/stored-file.tsx'
import { texts } from '../texts/texts.ts'
import type { Source } from '@inlay/client/conversation'
import { Button } from '../controls/button.tsx'

/** Which source a person asked to see, and the sentence of the answer they came from. */
export interface Shown {
  readonly number: number
  readonly sentence: string
  /** Counts the requests, so that asking for the same source again shows it again. */
  readonly request: number
}

interface SourceCardProps {
  readonly source: Source
  readonly id: string | undefined
  readonly shown: Shown | null
  readonly back: () => void
  readonly service: Pick<Service, 'passage' | 'file'>
}

export function SourceCard({ source, id, shown, back, service }: SourceCardProps) {
  const card = useRef<HTMLLIElement>(null)
  const cameFrom = useRef<Element | null>(null)
  const [first] = source.passages
  const [wantsOpen, setWantsOpen] = useState(false)
  const sentence = shown?.sentence ?? ''
  const passage = usePassage(source, sentence, wantsOpen, service.passage)
  // Expands once the content is loaded, so that the layout changes only once.
  const isOpen = wantsOpen && passage.isRead
  const open = (): void => openDocument({ ...placeIn(first), quote: sentence })
  useEffect(() => {
    if (shown === null) return
    // With a document open in the pane, the next one opens there, too.
    if (shownInPane() !== null && isIndexed(first)) return open()
    setWantsOpen(true)
    cameFrom.current = document.activeElement
    card.current?.focus({ preventScroll: true })
    keepInSight(cameFrom.current, card.current?.closest('.sources'))
  }, [shown])
  useLayoutEffect(() => {
    if (shown === null || shownInPane() !== null) return
    const quote = card.current?.querySelector('mark.quote')
    card.current?.scrollIntoView({ block: 'nearest' })
    quote?.scrollIntoView({ block: 'nearest' })
    // The sheet has grown with what it shows.
    if (isOpen) keepInSight(cameFrom.current, card.current?.closest('.sources'))
  }, [shown, isOpen])
  const pieces = passage.text === null || !isOpen ? piecesOf(first) : piecesOfText(passage.text, first, sentence)
  return (
    <li ref={card} id={id} tabIndex={-1} class={shown === null ? 'source u-card' : 'source shown u-card'}>
      <SourceHead source={source} />
      <p class={isOpen ? 'passage open u-muted u-anywhere u-above-8' : 'passage u-muted u-anywhere u-above-8'}>
        {withQuote(pieces, sentence).map((piece, at) => (
          <PieceView key={at} piece={piece} />
        ))}
      </p>
      {isOpen &&
        imagesOf(source).map((file) => (
          <StoredFile key={file} id={file} words={first.semantic_identifier} readFile={service.file} />
        ))}
      <div class="source-foot u-flex u-above-8">
        <Button kind="text" aria-expanded={isOpen} onClick={() => setWantsOpen(!wantsOpen)}>
          {isOpen ? texts.sources.less : texts.sources.showPassage}
        </Button>
        {isIndexed(first) && (
          <Button kind="text" onClick={open}>
            {texts.pane.openDocument}
          </Button>
        )}
        {shown !== null && (
          <Button kind="text" onClick={back}>
            {texts.sources.back}
          </Button>
        )}
      </div>
    </li>
  )
}

/** Scrolls a citation so that the sheet with its source does not cover it. */
function keepInSight(citation: Element | null, sheet: Element | null | undefined): void {
  if (!citation || !sheet || getComputedStyle(sheet).position !== 'fixed') return
  const hidden = citation.getBoundingClientRect().bottom + sightMargin - sheet.getBoundingClientRect().top
  if (hidden > 0) scrollBy({ top: hidden })
}

/** Room between a citation and the sheet, in pixels. */
const sightMargin = 32

/** Whether the document is indexed, not a web page or a file of this chat. */
const isIndexed = ({ is_internet, source_type }: SearchDoc): boolean => !is_internet && source_type !== 'user_file'

const placeIn = (document: SearchDoc): DocumentPlace => ({
  documentId: document.document_id,
  title: document.semantic_identifier,
  link: document.link,
  chunk: document.chunk_ind,
  passage: sampleOf(document),
})

const imagesOf = ({ passages }: Source): readonly string[] => [
  ...new Set(passages.flatMap(({ file_id: file }) => (file === null ? [] : [file]))),
]

function SourceHead({ source: { number, passages } }: { source: Source }) {
  const [first] = passages
  const href = safeLink(first.link)
  const title = first.semantic_identifier === '' ? texts.sources.untitled : first.semantic_identifier
  return (
    <div class="u-flex u-gap-10">
      {number !== null && (
        <span class="number u-grid u-place-center u-soft u-tiny u-flex-none" aria-hidden="true">
          {number}
        </span>
      )}
      <span class="source-name u-min-0 u-anywhere u-body">
        {href === undefined ? (
          title
        ) : (
          <a href={href} target="_blank" rel="noopener noreferrer nofollow">
            {title}
            <Icon name="out" />
          </a>
        )}
        <span class="source-place u-note u-ellipsis u-block">{placeOf(first, href)}</span>
      </span>
    </div>
  )
}

function PieceView({ piece: { text, mark } }: { piece: Piece }) {
  return mark === 'none' ? <>{text}</> : <mark class={mark}>{text}</mark>
}

/** The complete passage with a sentence, or else the best match; loaded on demand. */
function usePassage(source: Source, sentence: string, isWanted: boolean, readPassage: Service['passage']) {
  const [first] = source.passages
  const title = first.semantic_identifier
  const { value } = useLoaded(async () => {
    if (!isWanted) return undefined
    // An answer in words of its own is in no passage.
    const quoted = sentence === '' ? null : await readPassage(title, sentence).catch(() => null)
    // Without an answer the card shows what it has.
    return { sentence, text: quoted ?? (await readPassage(title, sampleOf(first)).catch(() => null)) }
  }, [isWanted, sentence, first.document_id])
  // Opened again, it is there at once.
  const last = useRef(value)
  last.current = value ?? last.current
  const isRead = last.current !== undefined && (last.current.sentence === sentence || sentence === '')
  return { isRead, text: isRead ? (last.current?.text ?? null) : null }
}

/** Origin of a source: its address, its id if that is the path of a file, or else the kind of source. */
function placeOf({ source_type, document_id }: SearchDoc, href: string | undefined): string {
  if (href !== undefined && !href.startsWith('mailto:')) {
    const url = new URL(href)
    return `${url.host}${url.pathname.replace(/\/$/, '')}`
  }
  return /^[\p{L}\p{M}\p{N}_. ()&+,'-]+(\/[\p{L}\p{M}\p{N}_. ()&+,'-]+)*\.\w+$/u.test(document_id)
    ? document_id
    : source_type.replaceAll('_', ' ')
}
