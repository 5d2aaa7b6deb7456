import { Icon } from '../controls/icons.tsx'
import type { Service } from '../service/service.ts'
import { SourceCard, type Shown } from './source-card.tsx'
import { texts } from '../texts/texts.ts'
import type { Source } from '@inlay/client/conversation'

interface SourcesProps {
  readonly cited: readonly Source[]
  readonly uncited: readonly Source[]
  /** Name of the answer if several are shown side by side; "" if there is one. */
  readonly name: string
  readonly shown: Shown | null
  readonly idPrefix: string
  readonly questionId: string
  /** Puts the focus back to the number in the answer the person came from. */
  readonly back: () => void
  readonly service: Pick<Service, 'passage' | 'file'>
}

export function Sources({ cited, uncited, name, shown, idPrefix, questionId, back, service }: SourcesProps) {
  if (cited.length === 0 && uncited.length === 0) return null
  const card = (source: Source, number: number | null) => (
    <SourceCard
      key={source.documentId}
      source={source}
      id={number === null ? undefined : `${idPrefix}-source-${number}`}
      shown={number !== null && shown?.number === number ? shown : null}
      back={back}
      service={service}
    />
  )
  return (
    <aside
      class={shown === null ? 'sources u-small' : 'sources asked u-small'}
      id={`${idPrefix}-sources`}
      // With the question, which tells the sources of one answer from those of another.
      aria-labelledby={`${idPrefix}-sources ${questionId}`}
      aria-label={name === '' ? texts.sources.ofAnswer : texts.sources.ofAnswerOf(name)}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && shown !== null) back()
      }}
    >
      {cited.length > 0 && (
        <>
          <h3 class="sources-title u-note u-bold">{cited.length === 1 ? texts.sources.one : texts.sources.many}</h3>
          <ol class="source-list u-grid u-gap-10 u-one-column">{cited.map((source) => card(source, source.number))}</ol>
        </>
      )}
      {uncited.length > 0 && (
        <details class="also-found" open={false}>
          <summary class="u-muted u-bold u-inline-flex u-gap-6 u-center">
            {cited.length > 0 ? texts.sources.alsoFound : texts.sources.found}{' '}
            <span class="count">{uncited.length}</span>
            <Icon name="chevron" />
          </summary>
          <ol class="source-list u-grid u-gap-10 u-one-column u-above-8">
            {uncited.map((source) => card(source, null))}
          </ol>
        </details>
      )}
    </aside>
  )
}
