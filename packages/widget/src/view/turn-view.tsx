import { waitingCallsOf, type Question, type Turn } from '@inlay/client/conversation'
import type { FoldState, SearchDoc } from '@inlay/protocol'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { safeLink } from '@inlay/text/markdown'
import { Approvals } from './approvals.tsx'
import { Markdown, SafeLink } from './markdown.tsx'
import type { InlayChatTexts } from '../texts.ts'

/** A document that an answer cites. */
export interface CitedSource {
  readonly number: number
  readonly documentId: string
  readonly title: string
  /** URL to open it; undefined if there is none. */
  readonly link: string | undefined
  /** Excerpt that the answer is based on, if known. */
  readonly excerpt: string
}

interface TurnViewProps {
  readonly turn: Turn
  readonly texts: InlayChatTexts
  /** Dispatches the event to the page; false if the page opens the source itself. */
  readonly openSource: (source: CitedSource) => boolean
  /** Only for the last turn. */
  readonly retry: (() => void) | undefined
  /** Only for the last turn. */
  readonly ask: ((question: Question) => void) | undefined
}

export function TurnView({ turn, texts, openSource, retry, ask }: TurnViewProps): JSX.Element {
  const [shown, setShown] = useState<number>()
  const { state, answer } = turn.fold
  const sources = sourcesOf(state)
  const requests = waitingCallsOf(turn, ask !== undefined)
  const show = (source: CitedSource): void => {
    if (openSource(source)) setShown(shown === source.number ? undefined : source.number)
  }
  const citation = (number: number): JSX.Element | undefined => {
    const source = sources.find((each) => each.number === number)
    if (source === undefined) return undefined
    return (
      <button type="button" class="citation" aria-label={labelOf(source, texts)} onClick={() => show(source)}>
        {number}
      </button>
    )
  }
  return (
    <article class="turn" aria-busy={turn.phase === 'answering'}>
      <p class="question">{turn.question}</p>
      {answer !== '' && <Markdown text={answer} isGrowing={turn.phase === 'answering'} citation={citation} />}
      {turn.phase === 'answering' && (answer === '' || turn.isDisconnected) && (
        <p class="step">{turn.isDisconnected ? texts.offline : stepOf(state, texts)}</p>
      )}
      {turn.phase === 'stopped' && <p class="note">{texts.stopped}</p>}
      {turn.failure && <FailureNote failure={turn.failure} texts={texts} retry={retry} />}
      {ask && requests.length > 0 && <Approvals turn={turn} requests={requests} texts={texts} ask={ask} />}
      {sources.length > 0 && <Sources sources={sources} shown={shown} show={show} texts={texts} />}
    </article>
  )
}

export function FailureNote({
  failure,
  texts,
  retry,
}: Pick<TurnViewProps, 'texts' | 'retry'> & { failure: NonNullable<Turn['failure']> }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <p>{failure.message}</p>
      {failure.retryable && retry && (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  )
}

interface SourcesProps {
  readonly sources: readonly CitedSource[]
  readonly shown: number | undefined
  readonly show: (source: CitedSource) => void
  readonly texts: InlayChatTexts
}

function Sources({ sources, shown, show, texts }: SourcesProps): JSX.Element {
  const focus = (element: HTMLElement | null): void => element?.focus({ preventScroll: false })
  return (
    <section class="sources" aria-label={texts.sources}>
      <ol>
        {sources.map((source) => (
          <li key={source.number} value={source.number}>
            <button type="button" aria-expanded={shown === source.number} onClick={() => show(source)}>
              <span aria-hidden="true">{source.number}</span> {source.title}
            </button>
            {shown === source.number && (
              <div class="excerpt" tabIndex={-1} ref={focus}>
                {source.excerpt !== '' && <p>{source.excerpt}</p>}
                <SafeLink href={source.link}>{source.link === undefined ? '' : texts.openSource}</SafeLink>
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const labelOf = ({ number, title }: CitedSource, { source }: InlayChatTexts): string =>
  source.replace('{number}', String(number)).replace('{title}', () => title)

/** The sources cited in an answer, by number. */
export function sourcesOf({ citations, documents, blocks }: FoldState): CitedSource[] {
  const shown = blocks.flatMap((block) =>
    block.kind === 'tool' ? (block.documents ?? []) : block.kind === 'research' ? (block.citedDocuments ?? []) : [],
  )
  const known = [...documents, ...shown]
  const sources = citations.map(({ citation_number: number, document_id: documentId }): CitedSource => {
    const document = known.find((each) => each.document_id === documentId)
    return {
      number,
      documentId,
      title: document?.semantic_identifier ?? documentId,
      link: safeLink(document?.link ?? null),
      excerpt: document === undefined ? '' : excerptOf(document),
    }
  })
  return sources.sort((left, right) => left.number - right.number)
}

const excerptOf = ({ match_highlights: highlights, blurb }: SearchDoc): string =>
  (highlights[0] ?? blurb).replaceAll(/<\/?hi>/g, '')

function stepOf({ blocks }: FoldState, texts: InlayChatTexts): string {
  const last = blocks.findLast(({ kind }) => kind !== 'text')
  if (last === undefined) return `${texts.working}…`
  if (last.kind !== 'tool') return `${last.kind === 'reasoning' ? texts.thinking : texts.working}…`
  if (!last.toolName.endsWith('_search')) return `${texts.working}: ${last.toolName.replaceAll('_', ' ')}…`
  const { queries } = last.arguments
  return `${texts.searching}${Array.isArray(queries) ? `: ${queries.join(', ')}` : ''}…`
}
