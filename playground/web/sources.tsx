import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ChevronIcon, OutIcon } from './icons.tsx'
import { safeLink } from './links.ts'
import { piecesOf, withQuote } from './passage.ts'
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
}

/** The sources of an answer: cited ones with their numbers, then what was only found, folded away. */
export function Sources({ cited, found, shown, idPrefix, back }: SourcesProps): JSX.Element | null {
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
              <SourceCard key={source.documentId} source={source} id={undefined} shown={null} back={back} />
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
}

function SourceCard({ source, id, shown, back }: SourceCardProps): JSX.Element {
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
          <span class="source-place">{placeOf(first.source_type, href)}</span>
        </span>
      </div>
      <Passages source={source} sentence={shown?.sentence ?? ''} open={open} />
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

/** Folded: the passage that matters, a few lines high. Unfolded: every passage found in the document. */
function Passages({ source, sentence, open }: { source: Source; sentence: string; open: boolean }): JSX.Element {
  const all = source.passages.map((document) => withQuote(piecesOf(document), sentence))
  const quoted = all.findIndex((pieces) => pieces.some((piece) => piece.mark === 'quote'))
  const ordered = quoted > 0 ? [all[quoted]!, ...all.filter((_, at) => at !== quoted)] : all
  return (
    <div class={open ? 'passages open' : 'passages'}>
      {(open ? ordered : ordered.slice(0, 1)).map((pieces, at) => (
        <p key={at} class="passage">
          {pieces.map((piece, part) =>
            piece.mark === 'none' ? (
              piece.text
            ) : (
              <mark key={part} class={piece.mark}>
                {piece.text}
              </mark>
            ),
          )}
        </p>
      ))}
    </div>
  )
}

function placeOf(sourceType: string, href: string | undefined): string {
  if (href !== undefined && !href.startsWith('mailto:')) {
    const url = new URL(href)
    return `${url.host}${url.pathname.replace(/\/$/, '')}`
  }
  return sourceType.replaceAll('_', ' ')
}
