import type { DocumentStateName } from '@inlay/protocol'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { AddDocuments } from './add-documents.tsx'
import { fullCount } from './counts.ts'
import { Notices } from './notices.tsx'
import { OwnDocumentation } from './own-documentation.tsx'
import type { DocumentList } from './document-list.ts'
import { BinIcon, OutIcon } from '../controls/icons.tsx'
import { safeLink } from '../markdown/links.ts'
import type { ListedDocument } from '../service/service.ts'
import { FailureNote } from '../controls/failure-note.tsx'
import { SearchField } from '../controls/search-field.tsx'

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
  const isNarrowed = filter.state !== null || filter.words.trim() !== ''
  return (
    <section class="documents" aria-labelledby="documents-title">
      <div class="documents-head">
        <h1 id="documents-title">Documents</h1>
        <p class="lead">Answers are made of these. A document can be asked about as soon as it is indexed.</p>
      </div>
      <Notices service={list.service} />
      <AddDocuments service={list.service} change={list.change} />
      <OwnDocumentation list={list} />
      {list.failure !== null && <FailureNote failure={list.failure} />}
      {list.documents !== undefined && (
        <>
          <SearchField label="Search documents by name" words={filter.words} search={list.search} />
          <StateFilter list={list} />
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

function DocumentName({ document, list }: { document: ListedDocument; list: DocumentList }): JSX.Element {
  const { change, service } = list
  const href = safeLink(document.link)
  return (
    <div class="document-name">
      {href === undefined ? (
        <span>{document.title}</span>
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer nofollow">
          {document.title}
          <OutIcon />
        </a>
      )}
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
