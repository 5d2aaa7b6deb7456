import type { DocumentChunksView, DocumentChunkView } from '@inlay/protocol'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { FailureNote } from '../../controls/failure-note.tsx'
import { Markdown } from '../../markdown/markdown.tsx'
import { toFailure, type Failure } from '../../service/failure.ts'
import type { Service } from '../../service/service.ts'
import { StoredFile } from '../../steps/stored-file.tsx'
import { texts } from '../../texts/texts.ts'
import { findText } from './find-text.ts'
import type { DocumentPlace } from './open-document.tsx'

/** Chunks that are read at a time, and those shown before the one that was asked for. */
const chunksAtOnce = 32
const chunksBefore = 8

interface Reading {
  /** Parts of the document, in order, as they were read. */
  readonly parts: readonly DocumentChunksView[]
  readonly failure: Failure | null
}

/** A document as it was indexed, scrolled to a quote. More of it is read as the reader comes to its ends. */
export function DocumentPreview({ place, service }: { place: DocumentPlace; service: Service }): JSX.Element {
  const { documentId } = place
  const [{ parts, failure }, setReading] = useState<Reading>({ parts: [], failure: null })
  const isReading = useRef(false)
  const text = useRef<HTMLDivElement>(null)
  const read = async (first: number, limit: number): Promise<void> => {
    if (isReading.current) return
    isReading.current = true
    try {
      const part = await service.documentChunks(documentId, first, limit)
      setReading(({ parts: known }) => ({
        parts: [...known, part].toSorted((left, right) => firstOf(left) - firstOf(right)),
        failure: null,
      }))
    } catch (error) {
      setReading((known) => ({ ...known, failure: toFailure(error) }))
    } finally {
      isReading.current = false
    }
  }
  const readFirst = (): void => void read(Math.max(0, (place.chunk ?? 0) - chunksBefore), chunksAtOnce)
  useEffect(readFirst, [documentId])
  useQuote(text, place, parts.length)
  const [start, end] = [parts[0], parts.at(-1)]
  const before = start === undefined ? 0 : firstOf(start)
  const next = end?.next ?? null
  const readNext = (): void => void (next !== null && read(next, chunksAtOnce))
  return (
    <div class="preview" ref={text} tabIndex={0} role="region" aria-label={texts.pane.text}>
      {start === undefined && failure === null && <Skeleton />}
      {start !== undefined && <Facts part={start} service={service} />}
      {before > 0 && (
        <Edge
          label={texts.pane.showBefore}
          reach={() => void read(Math.max(0, before - chunksAtOnce), Math.min(chunksAtOnce, before))}
        />
      )}
      {parts.map((part) => (
        <Markdown key={firstOf(part)} text={textOf(part.chunks)} />
      ))}
      {parts
        .flatMap(({ chunks }) => imagesOf(chunks))
        .map((id) => (
          <StoredFile key={id} id={id} words={place.title} readFile={service.file} />
        ))}
      {next !== null && failure === null && <Edge label={texts.frame.showMore} reach={readNext} />}
      {failure !== null && (
        <>
          <FailureNote failure={failure} />
          <button type="button" class="quiet-button" onClick={start === undefined ? readFirst : readNext}>
            {texts.frame.retry}
          </button>
        </>
      )}
    </div>
  )
}

const firstOf = ({ chunks: [first] }: DocumentChunksView): number => first?.chunk ?? 0

function textOf(chunks: readonly DocumentChunkView[]): string {
  return chunks.map(({ content, separator }, at) => (at === 0 ? content : separator + content)).join('')
}

const imagesOf = (chunks: readonly DocumentChunkView[]): readonly string[] => [
  ...new Set(chunks.flatMap(({ image_file_id: id }) => (id === null ? [] : [id]))),
]

function Facts({ part, service }: { part: DocumentChunksView; service: Pick<Service, 'file'> }): JSX.Element {
  const { document_id: id, updated_at: updatedAt, file_id: fileId } = part
  return (
    <p class="preview-facts">
      <span class="preview-path">{id}</span>
      <span>{texts.pane.changed(new Date(updatedAt))}</span>
      {fileId !== null && <Original id={fileId} name={part.semantic_identifier} readFile={service.file} />}
    </p>
  )
}

/** Saves the file that a document was made of. */
function Original({ id, name, readFile }: { id: string; name: string; readFile: Service['file'] }): JSX.Element {
  const [isMissing, setIsMissing] = useState(false)
  const save = async (): Promise<void> => {
    const file = await readFile(id)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(file)
    link.download = file.name || name
    link.click()
    URL.revokeObjectURL(link.href)
  }
  if (isMissing) return <span>{texts.pane.originalIsGone}</span>
  return (
    <button type="button" class="text-button" onClick={() => void save().catch(() => setIsMissing(true))}>
      {texts.pane.saveOriginal}
    </button>
  )
}

function Skeleton(): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">{texts.pane.reading}</span>
    </div>
  )
}

/** Where a document goes on: reached by scrolling, or pressed. */
function Edge({ label, reach }: { label: string; reach: () => void }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null)
  const latest = useRef(reach)
  latest.current = reach
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && latest.current())
    if (button.current !== null) observer.observe(button.current)
    return () => observer.disconnect()
  }, [label])
  return (
    <button ref={button} type="button" class="text-button edge" onClick={reach}>
      {label}
    </button>
  )
}

const highlightName = 'quote'

/** Marks the quote and scrolls to it, once it is there. */
function useQuote(
  text: { readonly current: HTMLElement | null },
  { quote = '', passage = '' }: DocumentPlace,
  count: number,
): void {
  const isDone = useRef(false)
  useLayoutEffect(() => {
    const root = text.current
    if (root === null || count === 0 || isDone.current) return
    const range = findText(root, quote) ?? findText(root, passage)
    if (range === undefined) return
    isDone.current = true
    // Marked without a change of the document, so that Markdown can be drawn again below it.
    if ('highlights' in CSS) CSS.highlights.set(highlightName, new Highlight(range))
    const { top } = range.getBoundingClientRect()
    root.scrollTop += top - root.getBoundingClientRect().top - root.clientHeight / 3
  }, [count])
  useEffect(
    () => () => {
      if ('highlights' in CSS) CSS.highlights.delete(highlightName)
    },
    [],
  )
}
