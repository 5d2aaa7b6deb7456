import type { DocumentStateName } from '@inlay/protocol'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { AddDocuments } from './add-documents.tsx'
import { fullCount } from './counts.ts'
import type { DocumentList } from './document-list.ts'
import { BinIcon, OutIcon } from '../controls/icons.tsx'
import { safeLink } from '../markdown/links.ts'
import type { ListedDocument } from '../service/service.ts'

/** How many rows are drawn at once. */
const pageRows = 100

const stateNames: Readonly<Record<DocumentStateName, string>> = {
  indexed: 'Indexed',
  indexing: 'Indexing',
  pending: 'Waiting',
  failed: 'Failed',
}
const stateOrder: readonly DocumentStateName[] = ['indexed', 'indexing', 'pending', 'failed']

/** All documents with their states, and where new ones come in. */
export function DocumentsView({ list }: { list: DocumentList }): JSX.Element {
  const [rows, setRows] = useState(pageRows)
  const { shown, only } = list
  return (
    <section class="documents" aria-labelledby="documents-title">
      <div class="documents-head">
        <h1 id="documents-title">Documents</h1>
        <p class="lead">Answers are made of these. A document can be asked about as soon as it is indexed.</p>
      </div>
      <AddDocuments add={list.add} />
      {list.failure !== null && (
        <div class="failure" role="alert">
          <p>{list.failure.message}</p>
        </div>
      )}
      {list.documents !== undefined && (
        <>
          <StateFilter list={list} />
          {shown.length === 0 ? (
            <p class="nothing">{only === null ? 'There are no documents yet.' : 'None in this state.'}</p>
          ) : (
            <ul class="document-list">
              {shown.slice(0, rows).map((document) => (
                <DocumentRow key={document.id} document={document} remove={list.remove} />
              ))}
            </ul>
          )}
          {shown.length > rows && (
            <button type="button" class="quiet-button" onClick={() => setRows(rows + pageRows)}>
              Show {Math.min(pageRows, shown.length - rows)} more
            </button>
          )}
          {list.more && shown.length <= rows && (
            <p class="nothing">The first {shown.length} are listed here; programs read them all.</p>
          )}
        </>
      )}
    </section>
  )
}

function StateFilter({ list: { counts, only, choose } }: { list: DocumentList }): JSX.Element {
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

function DocumentRow({ document, remove }: { document: ListedDocument; remove: DocumentList['remove'] }): JSX.Element {
  const [phase, setPhase] = useState<'shown' | 'asking' | 'removing'>('shown')
  const href = safeLink(document.link)
  return (
    <li class={phase === 'removing' ? 'document removing' : 'document'}>
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
      </div>
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
              remove(document.id).catch(() => setPhase('shown'))
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
