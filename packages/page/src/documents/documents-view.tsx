import type { DocumentOrder } from '@inlay/protocol'
import { useId, useState } from 'preact/hooks'
import { useLoaded } from '../controls/use-loaded.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { Icon } from '../controls/icons.tsx'
import { SearchField } from '../controls/search-field.tsx'
import type { ServiceCalls } from '../service/calls.ts'
import type { FilterValues, Service } from '../service/service.ts'
import { formatNumber } from '../texts/locale.ts'
import { documentTexts } from '../texts/view-texts.ts'
import '../styles/admin.css'
import '../styles/document-table.css'
import { AddDocuments } from './add-documents.tsx'
import { stateOrder, totalOf, type Counts } from '../service/counts.ts'
import { Notices } from './notices.tsx'
import { OwnDocumentation } from './own-documentation.tsx'
import { isNarrow } from './row-pages.ts'
import { tagOf } from './table/document-row.tsx'
import { DocumentTable } from './table/document-table.tsx'
import { ManyBar, useMany } from './table/many-bar.tsx'
import { useRowSelection } from './table/select-rows.ts'
import { useDocuments, type Documents } from './use-documents.ts'
import { useFilterValues } from '../chat/use-filter-values.ts'
import { Button } from '../controls/button.tsx'

interface DocumentsViewProps {
  readonly service: Service
  readonly counts: Counts | undefined
  readonly onCounts: (counts: Counts | undefined) => void
  /** Calls of administrators, to change permissions and document sets; null for others. */
  readonly admin: ServiceCalls | null
}

export function DocumentsView({ service, counts, onCounts, admin }: DocumentsViewProps) {
  const documents = useDocuments(service, counts, onCounts)
  const { rows, filter, change } = documents
  return (
    <section class="documents wide u-view" aria-labelledby="documents-title">
      <div class="documents-head">
        <h1 id="documents-title">{documentTexts.title}</h1>
        <p class="lead">
          {documentTexts.lead} <a href="#search">{documentTexts.searchTexts}</a>.
          {admin !== null && (
            <>
              {' '}
              <a href="#health">{documentTexts.health}</a>
            </>
          )}
        </p>
      </div>
      <Notices service={service} />
      <AddDocuments
        service={service}
        change={change}
        isCompact={(rows?.length ?? 0) > 0 || (counts !== undefined && totalOf(counts) > 0)}
      />
      <OwnDocumentation service={service} change={documents.changeOrTell} total={counts && totalOf(counts)} />
      {documents.failure !== null && <FailureNote failure={documents.failure} />}
      {documents.changeFailure !== null && (
        <FailureNote failure={documents.changeFailure} close={documents.closeChangeFailure} />
      )}
      {rows !== undefined && (
        <div class="document-filters u-row u-wrap u-gap-10">
          <SearchField
            label={documentTexts.search}
            words={filter.words}
            search={(words) => documents.narrow({ words })}
          />
          <MoreFilters documents={documents} />
          <StateFilter documents={documents} counts={counts} />
        </div>
      )}
      {rows !== undefined && <Found documents={documents} admin={admin} />}
    </section>
  )
}

function Found({ documents, admin }: { documents: Documents } & Pick<DocumentsViewProps, 'admin'>) {
  const { filter, matchCount, hasMore } = documents
  const rows = documents.rows ?? []
  const selection = useRowSelection(filter, documents.rowFilter)
  const many = useMany(documents, selection)
  return (
    <div class="found-documents u-grid u-gap-10">
      <p class="visually-hidden" role="status">
        {matchCount === null ? documentTexts.atLeast(rows.length) : documentTexts.found(matchCount)}
      </p>
      {filter.state === 'failed' && <RetryAll documents={documents} clear={many.clear} />}
      <ManyBar documents={documents} selection={selection} many={many} />
      {rows.length === 0 ? (
        <p class="nothing u-muted">{isNarrow(filter) ? documentTexts.noneFound : documentTexts.none}</p>
      ) : (
        <DocumentTable
          documents={documents}
          rows={rows}
          selection={selection}
          selectAll={many.selectAll}
          admin={admin}
        />
      )}
      {hasMore && <p class="nothing u-muted">{documentTexts.readingMore}</p>}
    </div>
  )
}

function StateFilter({ documents: { filter, narrow }, counts }: { documents: Documents; counts: Counts | undefined }) {
  const only = filter.state
  return (
    <div class="states u-flex u-wrap u-gap-6 u-full" role="group" aria-label={documentTexts.byState}>
      <button type="button" aria-pressed={only === null} onClick={() => narrow({ state: null })}>
        {documentTexts.all} {counts !== undefined && <span class="count">{formatNumber(totalOf(counts))}</span>}
      </button>
      {stateOrder.map((state) => (
        <button key={state} type="button" class={state} aria-pressed={only === state} onClick={() => narrow({ state })}>
          <span class="dot" />
          {documentTexts.states[state]}{' '}
          {counts !== undefined && <span class="count">{formatNumber(counts[state])}</span>}
        </button>
      ))}
    </div>
  )
}

function MoreFilters({ documents }: { documents: Documents }) {
  const { filter, narrow, service, order, sort } = documents
  const { value: sets = [] } = useLoaded(
    async (signal) => {
      const listed = await service.documentSets(signal)
      // A deleted set is not in the list, so its filter could not be cleared.
      if (filter.set !== null && !listed.some(({ id }) => id === filter.set)) narrow({ set: null })
      return listed
    },
    [service],
  )
  const { tag } = filter
  return (
    <div class="more-filters u-row u-wrap u-gap-8">
      {sets.length > 0 && (
        <select
          class="u-surface u-small u-line u-tall-34"
          aria-label={documentTexts.set}
          value={filter.set ?? ''}
          onChange={({ currentTarget: { value } }) => narrow({ set: value === '' ? null : Number(value) })}
        >
          <option value="">{documentTexts.allSets}</option>
          {sets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {tag === null ? (
        <TagField service={service} choose={(chosen) => narrow({ tag: chosen })} />
      ) : (
        <button
          type="button"
          class="tag chosen u-inline-flex u-center u-gap-4 u-muted u-ellipsis u-line u-round-8 u-no-ground"
          aria-label={documentTexts.anyTag(tag)}
          onClick={() => narrow({ tag: null })}
        >
          {tag} <Icon name="close" />
        </button>
      )}
      <select
        class="order u-surface u-small u-line u-tall-34"
        aria-label={documentTexts.orderBy}
        value={order}
        onChange={({ currentTarget: { value } }) => sort(value as DocumentOrder)}
      >
        {Object.entries(documentTexts.orders).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </div>
  )
}

function TagField({ service, choose }: { service: Pick<Service, 'filterValues'>; choose: (tag: string) => void }) {
  const [words, setWords] = useState('')
  const id = useId()
  const { tags = [] } = useFilterValues(service, words) ?? {}
  if (tags.length === 0 && words === '') return null
  return (
    <>
      <input
        type="text"
        class="tag-field u-small u-line u-surface u-tall-34"
        list={id}
        value={words}
        placeholder={documentTexts.tag}
        aria-label={documentTexts.tag}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => {
          const chosen = tags.find((tag) => nameOf(tag) === value)
          if (chosen === undefined) setWords(value)
          else choose(tagOf(chosen.key, chosen.value))
        }}
      />
      <datalist id={id}>
        {tags.map((tag) => (
          <option key={nameOf(tag)} value={nameOf(tag)} />
        ))}
      </datalist>
    </>
  )
}

const nameOf = ({ key, value }: FilterValues['tags'][number]): string => `${key}: ${value}`

interface RetryAllProps {
  readonly documents: Documents
  /** Clears the selection: those that are tried again leave the list. */
  readonly clear: () => void
}

function RetryAll({ documents: { changeOrTell, service, rows }, clear }: RetryAllProps) {
  const [isBusy, setIsBusy] = useState(false)
  const [count, setCount] = useState<number | null>(null)
  const retry = (): void => {
    setIsBusy(true)
    changeOrTell(service.requeue())
      .then(
        (requeued) => {
          setCount(requeued)
          clear()
        },
        () => {},
      )
      .finally(() => setIsBusy(false))
  }
  return (
    <div class="row u-wrap">
      {rows?.length !== 0 && (
        <Button aria-disabled={isBusy} onClick={() => !isBusy && retry()}>
          {documentTexts.retryAll}
        </Button>
      )}
      <span role="status">{count !== null && documentTexts.retried(count)}</span>
    </div>
  )
}
