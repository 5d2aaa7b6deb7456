import type { DocumentOrder } from '@inlay/protocol'
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ServiceCalls } from '../../service/calls.ts'
import { documentTexts } from '../../texts/view-texts.ts'
import type { ListedDocument, RowRange } from '../row-pages.ts'
import type { Documents } from '../use-documents.ts'
import { DocumentDetails } from './document-details.tsx'
import { DocumentRow } from './document-row.tsx'
import type { RowSelection } from './select-rows.ts'
import { rowsBetween, topOf, type RowHeights } from './window.ts'

interface TableProps {
  readonly documents: Documents
  readonly rows: readonly ListedDocument[]
  readonly selection: RowSelection
  readonly selectAll: () => void
  readonly admin: ServiceCalls | null
}

/** Height of a row until one was rendered, in pixels. */
const usualHeight = 60

/** A grid of any number of documents, of which only the rows around the window are drawn. */
export function DocumentTable({ documents, rows, selection, selectAll, admin }: TableProps) {
  const [active, setActive] = useState<string | null>(null)
  const [asking, setAsking] = useState<string | null>(null)
  const [opened, setOpened] = useState<string | null>(null)
  const [openHeight, setOpenHeight] = useState(0)
  const [focusRequest, setFocusRequest] = useState(0)
  const anchor = useRef<string | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const indexes = useMemo(() => new Map(rows.map(({ id }, index) => [id, index])), [rows])
  const lastIndex = useRef(0)
  const activeIndex =
    (active === null ? undefined : indexes.get(active)) ?? Math.max(0, Math.min(lastIndex.current, rows.length - 1))
  lastIndex.current = activeIndex
  const openIndex = opened === null ? undefined : indexes.get(opened)
  const open = openIndex === undefined ? null : { index: openIndex, extra: openHeight }
  const heights: RowHeights = { row: useRowHeight(list, rows.length > 0), open }
  const range = useRange(list, rows.length, heights)
  // The open row is kept up to date too: gone from the list, it would take what is typed in it along.
  const lastSeen = Math.max(range.last, openIndex ?? 0)
  useEffect(() => documents.see({ first: range.first, last: lastSeen }), [range, lastSeen, documents.see])
  useListTop(list, documents)
  useLayoutEffect(() => {
    if (focusRequest === 0) return
    const row = list.current?.querySelector<HTMLElement>(`[aria-rowindex="${activeIndex + 2}"]`)
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  }, [focusRequest])

  useLayoutEffect(() => {
    // The focused row was removed, so the one in its place gets the focus.
    if (active !== null && !indexes.has(active) && document.activeElement === document.body) focusRow(activeIndex)
  }, [indexes])

  const focusRow = (index: number): void => {
    setActive(rows[Math.max(0, Math.min(rows.length - 1, index))]?.id ?? null)
    setFocusRequest((count) => count + 1)
  }
  /** Shows something of a row, or hides it and puts the focus back to the row. */
  const showFor = (id: string, set: (id: string | null) => void) => (isShown: boolean) => {
    set(isShown ? id : null)
    setActive(id)
    if (!isShown) setFocusRequest((count) => count + 1)
  }
  /** Selects a row, or with the shift key all from the row that was selected before it. */
  const selectRow = (index: number, isSelected: boolean, isExtended: boolean): void => {
    const row = rows[index]
    if (row === undefined) return
    const from = (isExtended && anchor.current !== null ? indexes.get(anchor.current) : undefined) ?? index
    selection.select(rows.slice(Math.min(from, index), Math.max(from, index) + 1), isSelected)
    anchor.current = row.id
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[activeIndex]
    // Buttons in a row have keys of their own.
    if (!(event.target instanceof HTMLElement) || event.target.role !== 'row' || row === undefined) return
    const page = Math.max(1, Math.floor(innerHeight / heights.row) - 2)
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: rows.length - 1,
    }
    const to = steps[event.key]
    if (to !== undefined) {
      if (event.shiftKey) {
        anchor.current ??= row.id
        selectRow(Math.max(0, Math.min(rows.length - 1, to)), true, true)
      }
      focusRow(to)
    } else if (event.key === ' ') selectRow(activeIndex, !selection.selected.has(row.id), event.shiftKey)
    else if (event.key === 'Delete') setAsking(row.id)
    else if (event.key === 'Enter') event.target.querySelector<HTMLButtonElement>('.document-open')?.click()
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) selectAll()
    else return
    event.preventDefault()
  }
  const drawn = drawnRows(range, activeIndex, rows.length)
  return (
    <div
      class="document-table u-full"
      role="grid"
      aria-label={documentTexts.title}
      aria-describedby="document-keys"
      aria-multiselectable="true"
      aria-rowcount={
        documents.hasMore ? (documents.matchCount === null ? -1 : documents.matchCount + 1) : rows.length + 1
      }
      onKeyDown={onKeyDown}
    >
      <p id="document-keys" hidden>
        {documentTexts.keys}
      </p>
      <Head documents={documents} rows={rows} selection={selection} />
      <div
        class="document-rows u-relative"
        role="rowgroup"
        ref={list}
        style={{ height: `${topOf(rows.length, heights)}px` }}
      >
        {drawn.map((index) => {
          const document = rows[index]!
          return (
            <DocumentRow
              key={document.id}
              document={document}
              documents={documents}
              rowIndex={index + 2}
              top={topOf(index, heights)}
              isActive={index === activeIndex}
              activate={() => setActive(document.id)}
              isSelected={selection.selected.has(document.id)}
              select={(isSelected, isExtended) => selectRow(index, isSelected, isExtended)}
              isOpen={index === openIndex}
              open={showFor(document.id, setOpened)}
              isAsking={asking === document.id}
              ask={showFor(document.id, setAsking)}
            />
          )
        })}
        {openIndex !== undefined && (
          <DocumentDetails
            key={opened}
            document={rows[openIndex]!}
            documents={documents}
            admin={admin}
            top={topOf(openIndex, heights) + heights.row}
            measured={setOpenHeight}
            close={() => {
              setOpened(null)
              setFocusRequest((count) => count + 1)
            }}
          />
        )}
      </div>
    </div>
  )
}

/** Rows of a range, and always the active one, since it has the focus. */
function drawnRows({ first, last }: RowRange, active: number, count: number): readonly number[] {
  const drawn = Array.from({ length: Math.min(last, count - 1) - first + 1 }, (_, at) => first + at)
  if (active < first) drawn.unshift(active)
  else if (active > last && active < count) drawn.push(active)
  return drawn
}

function useListTop(list: { readonly current: HTMLElement | null }, { filter, order }: Documents): void {
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current && (list.current?.getBoundingClientRect().top ?? 0) < 0)
      list.current?.scrollIntoView({ block: 'start', behavior: 'instant' })
    isFirst.current = false
  }, [filter, order])
}

/** Measures the height of rows, which depends on the width of the list and the font size. */
function useRowHeight(list: { readonly current: HTMLElement | null }, hasRows: boolean): number {
  const [height, setHeight] = useState(usualHeight)
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return undefined
    const measure = (): void => {
      const row = element.querySelector<HTMLElement>('.document-row')
      if (row !== null) setHeight(row.offsetHeight)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [hasRows])
  return height
}

function useRange(list: { readonly current: HTMLElement | null }, count: number, heights: RowHeights): RowRange {
  const [range, setRange] = useState<RowRange>({ first: 0, last: 20 })
  const { row, open } = heights
  const update = useCallback(() => {
    const top = list.current?.getBoundingClientRect().top ?? 0
    const next = rowsBetween(-top, innerHeight - top, count, { row, open })
    setRange((known) => (known.first === next.first && known.last === next.last ? known : next))
  }, [count, row, open])
  useLayoutEffect(() => {
    update()
    addEventListener('scroll', update, { passive: true })
    addEventListener('resize', update)
    return () => {
      removeEventListener('scroll', update)
      removeEventListener('resize', update)
    }
  }, [update])
  return range
}

function Head({ documents, rows, selection }: Pick<TableProps, 'documents' | 'rows' | 'selection'>) {
  const { selected, select } = selection
  const count = rows.filter(({ id }) => selected.has(id)).length
  return (
    <div role="rowgroup" class="document-head u-sticky u-ground">
      <div role="row" aria-rowindex={1} class="head-row u-note u-medium">
        <span role="columnheader" class="cell-select u-grid u-place-center">
          <input
            type="checkbox"
            aria-label={documentTexts.selectShown}
            checked={count > 0 && count === rows.length}
            indeterminate={count > 0 && count < rows.length}
            onChange={({ currentTarget: { checked } }) => select(rows, checked)}
          />
        </span>
        <SortedColumn documents={documents} class="cell-name u-grid u-min-0" orders={['title', 'title_desc']}>
          {documentTexts.name}
        </SortedColumn>
        <span role="columnheader" class="cell-tags u-row u-gap-4 u-min-0">
          {documentTexts.tags}
        </span>
        <SortedColumn documents={documents} class="cell-size" orders={['largest', 'smallest']}>
          {documentTexts.size}
        </SortedColumn>
        <SortedColumn documents={documents} class="cell-time" orders={['newest', 'oldest']}>
          {documentTexts.accepted}
        </SortedColumn>
        <span role="columnheader" class="cell-state u-nowrap">
          {documentTexts.state}
        </span>
        <span role="columnheader" class="cell-actions u-row u-gap-8 u-min-0 u-relative u-to-end">
          <span class="visually-hidden">{documentTexts.actions}</span>
        </span>
      </div>
    </div>
  )
}

interface SortedColumnProps {
  readonly documents: Documents
  readonly class: string
  /** The order that is taken first, and the other way round. */
  readonly orders: readonly [DocumentOrder, DocumentOrder]
  readonly children: ComponentChildren
}

const descending: ReadonlySet<DocumentOrder> = new Set(['title_desc', 'largest', 'newest'])

function SortedColumn({ documents: { order, sort }, class: name, orders, children }: SortedColumnProps) {
  const [first, second] = orders
  const isSorted = order === first || order === second
  const next = order === first ? second : first
  return (
    <span
      role="columnheader"
      class={name}
      aria-sort={isSorted ? (descending.has(order) ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        class="sort u-inline-flex u-center u-gap-4 u-full u-bare"
        title={documentTexts.orders[next]}
        onClick={() => sort(next)}
      >
        {children}
        <svg viewBox="0 0 10 10" aria-hidden="true" class={isSorted ? 'arrow u-flex-none' : 'arrow none u-flex-none'}>
          <path d={isSorted && !descending.has(order) ? 'M2 6.5 5 3l3 3.5' : 'M2 3.5 5 7l3-3.5'} />
        </svg>
      </button>
    </span>
  )
}
