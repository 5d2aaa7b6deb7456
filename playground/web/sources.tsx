import type { SearchDoc } from '@inlay/protocol'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ChevronIcon, OutIcon } from './icons.tsx'
import { safeLink } from './links.ts'
import { piecesOf, piecesOfText, sampleOf, withQuote, type Piece } from './passage.ts'
import type { Service } from './service.ts'
import type { Source } from './turn.ts'

/** Which source a person asked to see, and the sentence of the answer they came from. */
export interface Shown {
  readonly number: number
  readonly sentence: string
  /** Counts the requests, so that asking for the same source again shows it again. */
  readonly request: number
}

interface SourcesProps {
  readonly cited: readonly Source[]
  readonly found: readonly Source[]
  readonly shown: Shown | null
  /** Prefix that makes ids unique on the page. */
  readonly idPrefix: string
  /** Puts the focus back to the number in the answer the person came from. */
  readonly back: () => void
  readonly readPassage: Service['passage']
}

/** The sources of an answer: cited ones with their numbers, then what was only found, folded away. */
export function Sources({ cited, found, shown, idPrefix, back, readPassage }: SourcesProps): JSX.Element | null {
  if (cited.length === 0 && found.length === 0) return null
  return (
    <aside class="sources" aria-label="Sources of this answer">
      {cited.length > 0 && (
        <>
          <h3 class="sources-title">{cited.length === 1 ? 'Source' : 'Sources'}</h3>
          <ol class="source-list">
            {cited.map((source) => (
              <SourceCard
                key={source.documentId}
                source={source}
                id={`${idPrefix}-source-${source.number}`}
                shown={shown?.number === source.number ? shown : null}
                back={back}
                readPassage={readPassage}
              />
            ))}
          </ol>
        </>
      )}
      {found.length > 0 && (
        <details class="also-found" open={false}>
          <summary>
            {cited.length > 0 ? 'Also found' : 'Found'} <span class="count">{found.length}</span>
            <ChevronIcon />
          </summary>
          <ol class="source-list">
            {found.map((source) => (
              <SourceCard
                key={source.documentId}
                source={source}
                id={undefined}
                shown={null}
                back={back}
                readPassage={readPassage}
              />
            ))}
          </ol>
        </details>
      )}
    </aside>
  )
}

interface SourceCardProps {
  readonly source: Source
  readonly id: string | undefined
  readonly shown: Shown | null
  readonly back: () => void
  readonly readPassage: Service['passage']
}

function SourceCard({ source, id, shown, back, readPassage }: SourceCardProps): JSX.Element {
  const card = useRef<HTMLLIElement>(null)
  const [open, setOpen] = useState(false)
  useEffect(() => {
    if (shown === null) return
    setOpen(true)
    card.current?.focus({ preventScroll: true })
    // After the passage has unfolded, so that all of it comes into view.
    requestAnimationFrame(() => card.current?.scrollIntoView({ block: 'nearest' }))
  }, [shown])
  const [first] = source.passages
  const href = safeLink(first.link)
  const title = first.semantic_identifier === '' ? 'Untitled' : first.semantic_identifier
  return (
    <li ref={card} id={id} tabIndex={-1} class={shown === null ? 'source' : 'source shown'}>
      <div class="source-head">
        {source.number !== null && (
          <span class="number" aria-hidden="true">
            {source.number}
          </span>
        )}
        <span class="source-name">
          {href === undefined ? (
            title
          ) : (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {title}
              <OutIcon />
            </a>
          )}
          <span class="source-place">{placeOf(first, href)}</span>
        </span>
      </div>
      <Passages source={source} sentence={shown?.sentence ?? ''} open={open} readPassage={readPassage} />
      <div class="source-foot">
        <button type="button" class="text-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Less' : 'Show passage'}
        </button>
        {shown !== null && (
          <button type="button" class="text-button" onClick={back}>
            Back to the answer
          </button>
        )}
      </div>
    </li>
  )
}

interface PassagesProps {
  readonly source: Source
  readonly sentence: string
  readonly open: boolean
  readonly readPassage: Service['passage']
}

/** Folded: what was matched, a few lines high. Unfolded: the whole passage that was quoted, or else that matched best. */
function Passages({ source, sentence, open, readPassage }: PassagesProps): JSX.Element {
  const whole = useWholePassage(source, sentence, open, readPassage)
  const [first] = source.passages
  const pieces = withQuote(whole === null ? piecesOf(first) : piecesOfText(whole, first), sentence)
  return (
    <div class={open ? 'passages open' : 'passages'}>
      <p class="passage">
        {pieces.map((piece, at) => (
          <PieceView key={at} piece={piece} />
        ))}
      </p>
    </div>
  )
}

function PieceView({ piece: { text, mark } }: { piece: Piece }): JSX.Element {
  return mark === 'none' ? <>{text}</> : <mark class={mark}>{text}</mark>
}

/** The whole passage, once it was asked for; null until then, or when it is no longer there. */
function useWholePassage(
  source: Source,
  sentence: string,
  open: boolean,
  readPassage: Service['passage'],
): string | null {
  const [whole, setWhole] = useState<string | null>(null)
  const [first] = source.passages
  useEffect(() => {
    if (!open) return undefined
    let isWanted = true
    const read = async (): Promise<void> => {
      const title = first.semantic_identifier
      // An answer in words of its own is in no passage; then the one that matched best is shown.
      const quoted = sentence === '' ? null : await readPassage(title, sentence)
      const passage = quoted ?? (await readPassage(title, sampleOf(first)))
      if (isWanted && passage !== null) setWhole(passage)
    }
    // What is shown already stays when the passage cannot be read.
    read().catch(() => {})
    return () => {
      isWanted = false
    }
  }, [open, sentence, first.document_id])
  return open ? whole : null
}

/** Where a source is from: its address, its id where that reads like a path, or else the kind of source it is. */
function placeOf({ source_type, document_id }: SearchDoc, href: string | undefined): string {
  if (href !== undefined && !href.startsWith('mailto:')) {
    const url = new URL(href)
    return `${url.host}${url.pathname.replace(/\/$/, '')}`
  }
  return /^[\w. -]+(\/[\w. -]+)+$/.test(document_id) ? document_id : source_type.replaceAll('_', ' ')
}
