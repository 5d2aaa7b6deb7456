import type { DocumentSetSummary, PairDescriptor } from '@inlay/protocol'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { onEscape } from '../../controls/on-escape.ts'
import { Area, Checks, Field, Form, linesOf, Waiting } from '../../admin/parts.tsx'
import { IconButton } from '../../controls/icon-button.tsx'
import { useLoaded } from '../../controls/use-loaded.ts'
import type { ServiceCalls } from '../../service/calls.ts'
import type { ListedDocument } from '../row-pages.ts'
import { documentTexts } from '../../texts/view-texts.ts'
import { texts } from '../../texts/texts.ts'
import type { Documents } from '../use-documents.ts'
import { unreadOf } from '../unread.ts'
import { lineOf, tagChanges, tagsOf, type Tag } from './tag-changes.ts'

interface DetailsProps {
  readonly document: ListedDocument
  readonly documents: Documents
  readonly admin: ServiceCalls | null
  /** From the top of the list, in pixels. */
  readonly top: number
  /** Told the height: rows below make room for it. */
  readonly measured: (height: number) => void
  readonly close: () => void
}

export function DocumentDetails({ document, documents, admin, top, measured, close }: DetailsProps) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const measure = (): void => measured(element.offsetHeight)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => {
      observer.disconnect()
      measured(0)
    }
  }, [])
  useEffect(() => {
    place.current?.querySelector<HTMLElement>('.details-close')?.focus({ preventScroll: true })
    place.current?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  }, [])
  const { id, reason, pairIds } = document
  const unread = unreadOf(document)
  return (
    <div
      ref={place}
      role="row"
      class="document-details u-line-below u-ground"
      style={{ transform: `translateY(${top}px)` }}
      onKeyDown={onEscape(close)}
    >
      <div role="gridcell" aria-colspan={7} class="admin details-body u-grid u-one-column u-full u-relative u-gap-12">
        <IconButton icon="close" class="details-close" label={texts.frame.close} onClick={close} />
        <dl class="details-facts u-grid u-small u-anywhere">
          <dt class="u-muted">{documentTexts.path}</dt>
          <dd>{id}</dd>
          {reason !== null && (
            <>
              <dt class="u-muted">{documentTexts.whyFailed}</dt>
              <dd class="failure-words">{reason}</dd>
            </>
          )}
          {unread !== undefined && (
            <>
              <dt class="u-muted">{documentTexts.notRead}</dt>
              <dd class="unread-words">{unread}</dd>
            </>
          )}
        </dl>
        <TagEditor document={document} documents={documents} />
        {admin !== null && <Owners pairIds={pairIds} calls={admin} changed={documents.change} />}
      </div>
    </div>
  )
}

/** Maximum number of tags in the listing. */
const maxTags = 200

function TagEditor({ document, documents: { change, service } }: Pick<DetailsProps, 'document' | 'documents'>) {
  const before = document.tags.map(({ tag_key: key, tag_value: value }): Tag => ({ key, value }))
  const [isEdited, setIsEdited] = useState(false)
  const [isSaved, setIsSaved] = useState(false)
  if (document.state !== 'indexed' && !isEdited)
    return <p class="facts u-small u-anywhere">{documentTexts.tagsLater}</p>
  if (before.length >= maxTags) return <p class="facts u-small u-anywhere">{documentTexts.tooManyTags}</p>
  return (
    <Form
      label={documentTexts.tags}
      action={documentTexts.saveTags}
      submit={async (fields) => {
        const changes = tagChanges(before, tagsOf(linesOf(fields, 'tags'), before))
        if (Object.keys(changes).length === 0) return
        await change(service.changeTags(document.id, changes))
        setIsSaved(true)
      }}
    >
      <h3>{documentTexts.tags}</h3>
      <Area
        label={documentTexts.tagLines}
        name="tags"
        defaultValue={before.map(lineOf).join('\n')}
        onInput={() => {
          setIsEdited(true)
          setIsSaved(false)
        }}
      />
      <p role="status" class="facts u-small u-anywhere">
        {isSaved && documentTexts.tagsSaved}
      </p>
    </Form>
  )
}

/** The connector/credential pairs of a document. They determine who finds it, and document sets consist of them. */
function Owners({ pairIds, calls, changed }: Pick<OwnerProps, 'calls' | 'changed'> & { pairIds: readonly number[] }) {
  const loaded = useLoaded(
    (signal) =>
      Promise.all([
        calls.get<readonly PairDescriptor[]>('/manage/cc-pair', signal),
        calls.client.documentSets({ signal }),
      ]),
    [calls],
  )
  const [pairs, sets] = loaded.value ?? [[], []]
  return (
    <>
      <Waiting loaded={loaded} />
      {pairs
        .filter(({ id }) => pairIds.includes(id))
        .map((pair) => (
          <Owner key={pair.id} pair={pair} sets={sets} calls={calls} changed={changed} />
        ))}
    </>
  )
}

interface OwnerProps {
  readonly pair: PairDescriptor
  readonly sets: readonly DocumentSetSummary[]
  readonly calls: ServiceCalls
  readonly changed: Documents['change']
}

function Owner({ pair, sets, calls, changed }: OwnerProps) {
  const [isPublic, setIsPublic] = useState(pair.access_type === 'public')
  const [known, setKnown] = useState(sets)
  const [isSaved, setIsSaved] = useState(false)
  const [newSet, setNewSet] = useState('')
  const holds = ({ cc_pair_summaries: pairs }: DocumentSetSummary): boolean => pairs.some(({ id }) => id === pair.id)
  const save = async (fields: FormData): Promise<void> => {
    await calls.send('PATCH', `/manage/admin/cc-pair/${pair.id}`, {
      access_type: isPublic ? 'public' : 'private',
      ...(!isPublic && { users: linesOf(fields, 'people'), groups: linesOf(fields, 'groups') }),
    })
    const wanted = new Set(fields.getAll('sets'))
    const before = new Map(known.map((set) => [set.id, holds(set)]))
    const next: DocumentSetSummary[] = []
    // A set is written as a whole, so it is read again first: it may have changed, also by a change of another pair above.
    for (const set of await calls.get<readonly DocumentSetSummary[]>('/manage/document-set')) {
      const isWanted = wanted.has(String(set.id))
      const isChanged = before.has(set.id) && before.get(set.id) !== isWanted
      if (!isChanged || isWanted === holds(set)) {
        next.push(set)
        continue
      }
      const others = set.cc_pair_summaries.map(({ id }) => id).filter((id) => id !== pair.id)
      const body = { cc_pair_ids: isWanted ? [...others, pair.id] : others }
      next.push(await calls.send<DocumentSetSummary>('PATCH', `/manage/admin/document-set/${set.id}`, body))
    }
    if (newSet.trim() !== '') {
      const body = { name: newSet.trim(), description: '', cc_pair_ids: [pair.id], is_public: isPublic }
      const id = await calls.send<number>('POST', '/manage/admin/document-set', body)
      const listed = await calls.get<readonly DocumentSetSummary[]>('/manage/document-set')
      next.push(...listed.filter((set) => set.id === id))
      setNewSet('')
    }
    setKnown(next)
    setIsSaved(true)
  }
  return (
    <Form
      label={documentTexts.ownerOf(pair.name)}
      action={documentTexts.saveAccess}
      submit={(fields) => changed(save(fields))}
    >
      <h3>{documentTexts.ownerOf(pair.name)}</h3>
      <p class="facts u-small u-anywhere">{documentTexts.ownerLead}</p>
      <div class="checks u-grid u-gap-6" role="radiogroup" aria-label={documentTexts.ownerOf(pair.name)}>
        {[true, false].map((choice) => (
          <label key={String(choice)} class="u-flex u-gap-8 u-baseline">
            <input
              type="radio"
              name={`access-${pair.id}`}
              checked={isPublic === choice}
              onChange={() => setIsPublic(choice)}
            />
            <span>{choice ? documentTexts.everybody : documentTexts.onlyNamed}</span>
          </label>
        ))}
      </div>
      {!isPublic && (
        <div class="fields u-grid u-gap-12">
          <Area label={documentTexts.people} name="people" rows={3} defaultValue={pair.users.join('\n')} />
          <Area label={documentTexts.groups} name="groups" rows={3} defaultValue={pair.groups.join('\n')} />
        </div>
      )}
      {known.length > 0 && (
        <Checks
          label={documentTexts.inSets}
          name="sets"
          options={known.map(({ id, name }) => [String(id), name])}
          chosen={known.filter(holds).map(({ id }) => String(id))}
        />
      )}
      <Field label={documentTexts.newSet} value={newSet} maxLength={200} onInput={setNewSet} />
      <p role="status" class="facts u-small u-anywhere">
        {isSaved && documentTexts.accessSaved}
      </p>
    </Form>
  )
}
