import { safeLink } from '@inlay/text/markdown'
import { unreadKeys } from '@inlay/protocol'
import { useState } from 'preact/hooks'
import { Confirm } from '../../controls/confirm.tsx'
import { IconButton } from '../../controls/icon-button.tsx'
import { Icon } from '../../controls/icons.tsx'
import type { ListedDocument } from '../row-pages.ts'
import { formatBytes, formatTimestamp } from '../../texts/locale.ts'
import { documentTexts } from '../../texts/view-texts.ts'
import { texts } from '../../texts/texts.ts'
import { unreadOf } from '../unread.ts'
import { openDocument } from '../preview/open-document.tsx'
import type { Documents } from '../use-documents.ts'
import { Button } from '../../controls/button.tsx'

interface RowProps {
  readonly document: ListedDocument
  readonly documents: Documents
  readonly rowIndex: number
  /** From the top of the list, in pixels. */
  readonly top: number
  readonly isActive: boolean
  readonly activate: () => void
  readonly isSelected: boolean
  readonly select: (isSelected: boolean, isExtended: boolean) => void
  readonly isOpen: boolean
  readonly open: (isOpen: boolean) => void
  readonly isAsking: boolean
  readonly ask: (isAsking: boolean) => void
}

export function DocumentRow(props: RowProps) {
  const { document, rowIndex, top, isActive, activate, isSelected, select, isAsking } = props
  const { state, title, bytes, acceptedAt } = document
  const [isBusy, setIsBusy] = useState(false)
  const tabIndex = isActive ? 0 : -1
  return (
    <div
      class={`document-row${isSelected ? ' selected' : ''}${isBusy ? ' removing' : ''}`}
      role="row"
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      tabIndex={tabIndex}
      style={{ transform: `translateY(${top}px)` }}
      onFocusIn={activate}
    >
      <span role="gridcell" class="cell-select u-grid u-place-center">
        <input
          type="checkbox"
          aria-label={documentTexts.selectThing(title)}
          tabIndex={tabIndex}
          checked={isSelected}
          onClick={(event) => select(event.currentTarget.checked, event.shiftKey)}
        />
      </span>
      <NameCell {...props} tabIndex={tabIndex} />
      <span role="gridcell" class="cell-tags u-row u-gap-4 u-min-0">
        <Tags {...props} tabIndex={tabIndex} />
      </span>
      <span role="gridcell" class="cell-size">
        {bytes !== undefined && formatBytes(bytes)}
      </span>
      <span role="gridcell" class="cell-time">
        {acceptedAt !== undefined && formatTimestamp(acceptedAt)}
      </span>
      <span role="gridcell" class={`cell-state state u-inline-flex u-center u-gap-8 u-note u-nowrap ${state}`}>
        <span class="dot" />
        {documentTexts.states[state]}
      </span>
      <span role="gridcell" class="cell-actions u-row u-gap-8 u-min-0 u-relative u-to-end">
        {isAsking ? (
          <AskDelete {...props} setIsBusy={setIsBusy} />
        ) : (
          <Actions {...props} tabIndex={tabIndex} isBusy={isBusy} />
        )}
      </span>
    </div>
  )
}

function NameCell({ document, tabIndex }: RowProps & { tabIndex: number }) {
  const { id, title, state, reason } = document
  const href = safeLink(document.link)
  const unread = unreadOf(document)
  return (
    <span role="gridcell" class="cell-name u-grid u-min-0">
      <span class="document-title u-row u-gap-6 u-min-0 u-medium">
        {state === 'indexed' ? (
          <button
            type="button"
            class="document-open u-anywhere u-bare u-ellipsis u-min-0"
            title={title}
            tabIndex={tabIndex}
            onClick={() => openDocument({ documentId: id, title, link: document.link })}
          >
            {title}
          </button>
        ) : (
          <span class="document-closed u-ellipsis u-min-0" title={title}>
            {title}
          </span>
        )}
        {href !== undefined && (
          <a
            class="u-muted u-inline-flex"
            href={href}
            target="_blank"
            rel="noopener noreferrer nofollow"
            tabIndex={tabIndex}
            aria-label={`${texts.pane.openAddress}: ${title}`}
          >
            <Icon name="out" />
          </a>
        )}
      </span>
      {reason !== null ? (
        <span class="document-path failure-words u-block u-min-0 u-small u-ellipsis" title={reason}>
          {reason}
        </span>
      ) : unread !== undefined ? (
        <span class="document-path unread-words u-block u-min-0 u-text u-small u-ellipsis" title={unread}>
          {unread}
        </span>
      ) : (
        id !== title && <Path path={id} />
      )}
    </span>
  )
}

/** A path of which the end stays when there is too little room. */
function Path({ path }: { path: string }) {
  const end = path.lastIndexOf('/', path.length - 2) + 1
  return (
    <span class="document-path u-flex u-min-0 u-note u-ellipsis" title={path}>
      {end > 0 && <span class="path-folder u-clip">{path.slice(0, end)}</span>}
      <span class="path-end u-min-0 u-clip">{path.slice(end)}</span>
    </span>
  )
}

const maxTags = 2

function Tags({ document, documents: { narrow }, tabIndex }: RowProps & { tabIndex: number }) {
  // Said in words below the name.
  const tags = document.tags.filter(({ tag_key: key }) => !unreadKeys.has(key))
  return (
    <>
      {tags.slice(0, maxTags).map(({ tag_key: key, tag_value: value }) => (
        <button
          key={`${key}=${value}`}
          type="button"
          class="tag u-inline-flex u-center u-gap-4 u-muted u-ellipsis u-line u-round-8 u-no-ground u-block"
          tabIndex={tabIndex}
          title={`${key}: ${value}`}
          aria-label={documentTexts.onlyTag(`${key}=${value}`)}
          onClick={() => narrow({ tag: tagOf(key, value) })}
        >
          {key}: {value}
        </button>
      ))}
      {tags.length > maxTags && (
        <span
          class="count u-tiny u-flex-none"
          title={tags
            .slice(maxTags)
            .map(({ tag_key: key, tag_value: value }) => `${key}: ${value}`)
            .join(', ')}
        >
          {documentTexts.moreTags(tags.length - maxTags)}
        </span>
      )}
    </>
  )
}

/** A tag as the service names it. */
export const tagOf = (key: string, value: string): string =>
  `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}`

function Actions({
  document: { id, title, state },
  documents: { changeOrTell, service },
  isOpen,
  open,
  ask,
  tabIndex,
  isBusy,
}: RowProps & { tabIndex: number; isBusy: boolean }) {
  return (
    <>
      {state === 'failed' && (
        <Button
          kind="text"
          class="u-nowrap u-small"
          tabIndex={tabIndex}
          label={documentTexts.retryThing(title)}
          onClick={() => void changeOrTell(service.requeue(id)).catch(() => {})}
        >
          {texts.frame.retry}
        </Button>
      )}
      <IconButton
        icon="pen"
        tabIndex={tabIndex}
        aria-expanded={isOpen}
        label={documentTexts.detailsOf(title)}
        title={documentTexts.details}
        onClick={() => open(!isOpen)}
      />
      <IconButton
        icon="bin"
        tabIndex={tabIndex}
        label={texts.frame.deleteThing(title)}
        title={texts.frame.delete}
        disabled={isBusy}
        onClick={() => ask(true)}
      />
    </>
  )
}

function AskDelete({
  document: { id, title },
  documents: { changeOrTell, service },
  isSelected,
  select,
  ask,
  setIsBusy,
}: RowProps & { setIsBusy: (isBusy: boolean) => void }) {
  return (
    <Confirm
      class="u-surface u-round-12 u-shadow"
      question={documentTexts.deleteThing(title)}
      keep={() => ask(false)}
      confirm={() => {
        ask(false)
        setIsBusy(true)
        changeOrTell(service.remove(id)).then(
          () => isSelected && select(false, false),
          () => setIsBusy(false),
        )
      }}
    />
  )
}
