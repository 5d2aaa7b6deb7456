import type { SearchResult } from '@inlay/protocol'
import { safeLink } from '@inlay/text/markdown'
import { useState } from 'preact/hooks'
import { FailureNote } from '../controls/failure-note.tsx'
import { Icon } from '../controls/icons.tsx'
import { Pieces } from '../controls/marked.tsx'
import { SearchField } from '../controls/search-field.tsx'
import { typingMs, useLoaded } from '../controls/use-loaded.ts'
import { withoutMarkup } from '../markdown/plain-text.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { openDocument, type DocumentPlace } from '../documents/preview/open-document.tsx'
import { matchOf } from './matches.ts'
import { Ranking } from './ranking.tsx'
import { Button } from '../controls/button.tsx'

export function SearchView({ service }: { service: Pick<Service, 'search'> }) {
  const [words, setWords] = useState('')
  const query = words.trim()
  const { value: found, failure } = useLoaded(
    async (signal) => (query === '' ? undefined : { query, passages: await service.search(query, signal) }),
    [service, query],
    { delayMs: query === '' ? 0 : typingMs },
  )
  return (
    <section class="documents u-view" aria-labelledby="search-title">
      <div class="documents-head">
        <h1 id="search-title">{texts.frame.search}</h1>
        <p class="lead">{texts.search.lead}</p>
      </div>
      <SearchField label={texts.search.field} words={words} search={setWords} />
      {query !== '' && failure !== null && <FailureNote failure={failure} />}
      {query !== '' && failure === null && found === undefined && (
        <p class="nothing u-muted">{texts.search.searching}</p>
      )}
      {query !== '' && failure === null && found !== undefined && <Passages {...found} />}
    </section>
  )
}

function Passages({ query, passages }: { query: string; passages: readonly SearchResult[] }) {
  if (passages.length === 0) return <p class="nothing u-muted">{texts.search.none}</p>
  return (
    <>
      <p class="visually-hidden" role="status">
        {texts.search.count(passages.length)}
      </p>
      <ol class="source-list u-grid u-gap-10 u-one-column" aria-label={texts.search.passages}>
        {passages.map((passage, at) => (
          <PassageCard key={at} passage={passage} query={query} rank={at + 1} />
        ))}
      </ol>
    </>
  )
}

function PassageCard({ passage, query, rank }: { passage: SearchResult; query: string; rank: number }) {
  const [isOpen, setIsOpen] = useState(false)
  const { pieces, words, of } = matchOf(withoutMarkup(passage.content), query)
  const href = safeLink(passage.link)
  return (
    <li class="source u-card">
      <div class="u-flex u-gap-10">
        <span
          class="number u-grid u-place-center u-soft u-tiny u-flex-none"
          aria-label={texts.search.rank(rank)}
          role="img"
        >
          {rank}
        </span>
        <span class="source-name u-min-0 u-anywhere u-body">
          {href === undefined ? (
            passage.title
          ) : (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {passage.title}
              <Icon name="out" />
            </a>
          )}
          <span class="source-place u-note u-ellipsis u-block">
            {words.length === 0 ? texts.search.noWords : texts.search.hasWords(words, of)}
            {passage.updated_at !== null && ` · ${texts.search.changed(new Date(passage.updated_at))}`}
          </span>
        </span>
      </div>
      <p
        class={isOpen ? 'passage open u-muted u-anywhere u-above-8' : 'passage u-muted u-anywhere u-above-8'}
        dir="auto"
      >
        <Pieces pieces={pieces} />
      </p>
      <div class="source-foot u-flex u-above-8">
        <Button kind="text" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? texts.sources.less : texts.sources.showPassage}
        </Button>
        {passage.document_id !== undefined && (
          <Button kind="text" onClick={() => openDocument(placeOf(passage))}>
            {texts.pane.openDocument}
          </Button>
        )}
      </div>
      {isOpen && passage.ranking !== undefined && <Ranking ranking={passage.ranking} />}
    </li>
  )
}

const placeOf = ({ document_id: documentId = '', title, link, chunk, content }: SearchResult): DocumentPlace => ({
  documentId,
  title,
  link,
  ...(chunk !== undefined && { chunk }),
  passage: content,
})
