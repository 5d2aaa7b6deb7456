import type { DocumentStateName } from '@inlay/protocol'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { AddDocuments } from './add-documents.tsx'
import { fullCount } from './counts.ts'
import { Notices } from './notices.tsx'
import { OwnDocumentation } from './own-documentation.tsx'
import type { DocumentList } from './document-list.ts'
import { isNarrow } from './list-reader.ts'
import { openDocument } from './preview/open-document.tsx'
import { BinIcon, CloseIcon, OutIcon } from '../controls/icons.tsx'
import { safeLink } from '@inlay/text/markdown'
import type { ListedDocument } from '../service/service.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { SearchField } from '../controls/search-field.tsx'
import { formatBytes, formatTimestamp } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'

const stateNames: Readonly<Record<DocumentStateName, string>> = {
  indexed: 'Indexed',
  indexing: 'Indexing',
  pending: 'Waiting',
  failed: 'Failed',
}
const stateOrder: readonly DocumentStateName[] = ['indexed', 'indexing', 'pending', 'failed']

/** All documents with their states, and where new ones come in. */
export function DocumentsView({ list }: { list: DocumentList }): JSX.Element {
  const { shown, filter } = list
  const isNarrowed = isNarrow(filter)
  return (
    <section class="documents" aria-labelledby="documents-title">
      <div class="documents-head">
        <h1 id="documents-title">Documents</h1>
        <p class="lead">
          Answers are made of these. A document can be asked about as soon as it is indexed. To look into their texts,{' '}
          <a href="#search">search in all documents</a>.
        </p>
      </div>
      <Notices service={list.service} />
      <AddDocuments service={list.service} change={list.change} />
      <OwnDocumentation list={list} />
      {list.failure !== null && <FailureNote failure={list.failure} />}
      {list.documents !== undefined && (
        <>
          <SearchField label="Search documents by name" words={filter.words} search={list.search} />
          <StateFilter list={list} />
          <MoreFilters list={list} />
          {filter.state === 'failed' && shown.length > 0 && <RetryAll list={list} />}
          {shown.length === 0 ? (
            <p class="nothing">{isNarrowed ? 'No document is like this.' : 'There are no documents yet.'}</p>
          ) : (
            <ul class="document-list">
              {shown.map((document) => (
                <DocumentRow key={document.id} document={document} list={list} />
              ))}
            </ul>
          )}
          {list.hasMore && (
            <button type="button" class="quiet-button" onClick={list.showMore}>
              Show more
            </button>
          )}
        </>
      )}
    </section>
  )
}

function StateFilter({ list: { counts, filter, choose } }: { list: DocumentList }): JSX.Element {
  const only = filter.state
  return (
    <div class="states" role="group" aria-label="Show documents by state">
      <button type="button" aria-pressed={only === null} onClick={() => choose(null)}>
        All {counts !== undefined && <span class="count">{fullCount(counts.total)}</span>}
      </button>
      {stateOrder.map((state) => (
        <button key={state} type="button" class={state} aria-pressed={only === state} onClick={() => choose(state)}>
          <span class="dot" />
          {stateNames[state]} {counts !== undefined && <span class="count">{fullCount(counts.byState[state])}</span>}
        </button>
      ))}
    </div>
  )
}

/** A document set, where there are any, and the tag that was chosen in a row. */
function MoreFilters({ list: { filter, narrow, service } }: { list: DocumentList }): JSX.Element | null {
  const [sets, setSets] = useState<readonly { readonly id: number; readonly name: string }[]>([])
  useEffect(() => {
    const leave = new AbortController()
    service.documentSets(leave.signal).then(setSets, () => {})
    return () => leave.abort()
  }, [service])
  const { tag } = filter
  if (sets.length === 0 && tag === null) return null
  return (
    <div class="more-filters">
      {sets.length > 0 && (
        <select
          aria-label={texts.documents.set}
          value={filter.set ?? ''}
          onChange={({ currentTarget: { value } }) => narrow({ set: value === '' ? null : Number(value) })}
        >
          <option value="">{texts.documents.allSets}</option>
          {sets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {tag !== null && (
        <button
          type="button"
          class="tag chosen"
          aria-label={texts.documents.anyTag(tag)}
          onClick={() => narrow({ tag: null })}
        >
          {tag} <CloseIcon />
        </button>
      )}
    </div>
  )
}

function RetryAll({ list: { change, service } }: { list: DocumentList }): JSX.Element {
  return (
    <button type="button" class="quiet-button" onClick={() => void change(service.requeue()).catch(() => {})}>
      Try all failed documents again
    </button>
  )
}

function DocumentRow({ document, list }: { document: ListedDocument; list: DocumentList }): JSX.Element {
  const { change, service } = list
  const [phase, setPhase] = useState<'shown' | 'asking' | 'removing'>('shown')
  return (
    <li class={phase === 'removing' ? 'document removing' : 'document'}>
      <DocumentName document={document} list={list} />
      <span class={`state ${document.state}`}>
        <span class="dot" />
        {stateNames[document.state]}
      </span>
      {phase === 'asking' ? (
        <span class="confirm" role="group" aria-label={`Delete ${document.title}?`}>
          <button
            type="button"
            class="danger-button"
            ref={(button) => button?.focus()}
            onClick={() => {
              setPhase('removing')
              change(service.remove(document.id)).catch(() => setPhase('shown'))
            }}
          >
            Delete
          </button>
          <button type="button" class="quiet-button" onClick={() => setPhase('shown')}>
            Keep
          </button>
        </span>
      ) : (
        <button
          type="button"
          class="icon-button"
          aria-label={`Delete ${document.title}`}
          title="Delete"
          disabled={phase === 'removing'}
          onClick={() => setPhase('asking')}
        >
          <BinIcon />
        </button>
      )}
    </li>
  )
}

/** Most tags of a row. */
const maxTags = 3

function Facts({
  document: { id, title, bytes, acceptedAt, tags },
  narrow,
}: {
  document: ListedDocument
  narrow: DocumentList['narrow']
}): JSX.Element {
  return (
    <p class="document-facts">
      {id !== title && <span class="document-path">{id}</span>}
      {bytes !== undefined && <span>{formatBytes(bytes)}</span>}
      {acceptedAt !== undefined && <span title={texts.documents.accepted}>{formatTimestamp(acceptedAt)}</span>}
      {tags.slice(0, maxTags).map(({ tag_key: key, tag_value: value }) => (
        <button
          key={`${key}=${value}`}
          type="button"
          class="tag"
          aria-label={texts.documents.onlyTag(`${key}=${value}`)}
          onClick={() => narrow({ tag: `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}` })}
        >
          {key}: {value}
        </button>
      ))}
    </p>
  )
}

function DocumentName({ document, list }: { document: ListedDocument; list: DocumentList }): JSX.Element {
  const { change, service } = list
  const href = safeLink(document.link)
  return (
    <div class="document-name">
      {document.state === 'indexed' ? (
        <button
          type="button"
          class="document-open"
          onClick={() => openDocument({ documentId: document.id, title: document.title, link: document.link })}
        >
          {document.title}
        </button>
      ) : (
        <span>{document.title}</span>
      )}
      {href !== undefined && (
        <a
          href={href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          aria-label={`${texts.pane.openAddress}: ${document.title}`}
        >
          <OutIcon />
        </a>
      )}
      <Facts document={document} narrow={list.narrow} />
      {document.reason !== null && <p class="failure-words">{document.reason}</p>}
      {document.state === 'failed' && (
        <button
          type="button"
          class="text-button"
          aria-label={`Try ${document.title} again`}
          onClick={() => void change(service.requeue(document.id)).catch(() => {})}
        >
          Try again
        </button>
      )}
    </div>
  )
}
