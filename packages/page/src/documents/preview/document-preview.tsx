import type { DocumentChunksView, DocumentChunkView } from '@inlay/protocol'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { FailureNote } from '../../controls/failure-note.tsx'
import { saveFile } from '../../controls/save-file.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { withoutMarkup } from '../../markdown/plain-text.ts'
import { toFailure, type Failure } from '../../service/failure.ts'
import type { Service } from '../../service/service.ts'
import { StoredFile } from '../../steps/stored-file.tsx'
import { texts } from '../../texts/texts.ts'
import { findText, isFindable } from './find-text.ts'
import type { DocumentPlace } from './open-document.tsx'
import { Button } from '../../controls/button.tsx'

/** Chunks that are read at a time, and those shown before the one that was asked for. */
const chunksAtOnce = 32
const chunksBefore = 8

interface Reading {
  /** Parts of the document, in order, as they were read. */
  readonly parts: readonly DocumentChunksView[]
  readonly failed: { readonly failure: Failure; readonly retry: () => void } | null
}

export function DocumentPreview({ place, service }: { place: DocumentPlace; service: Service }) {
  const { documentId } = place
  const [{ parts, failed }, setReading] = useState<Reading>({ parts: [], failed: null })
  const isReading = useRef(false)
  // Until it is tried again: an end that is still in view would read once more.
  const hasFailed = useRef(false)
  const text = useRef<HTMLDivElement>(null)
  const read = async (first: number, limit: number): Promise<void> => {
    if (isReading.current || hasFailed.current) return
    isReading.current = true
    try {
      const part = await service.documentChunks(documentId, first, limit)
      setReading(({ parts: known }) => ({
        parts: [...known, part].toSorted((left, right) => firstOf(left) - firstOf(right)),
        failed: null,
      }))
    } catch (error) {
      hasFailed.current = true
      const retry = (): void => {
        hasFailed.current = false
        void read(first, limit)
      }
      setReading((known) => ({ ...known, failed: { failure: toFailure(error), retry } }))
    } finally {
      isReading.current = false
    }
  }
  const readFirst = (): void => void read(Math.max(0, (place.chunk ?? 0) - chunksBefore), chunksAtOnce)
  useEffect(readFirst, [documentId])
  const isQuoteMissing = useQuote(text, place, parts.length)
  const [start, end] = [parts[0], parts.at(-1)]
  const before = start === undefined ? 0 : firstOf(start)
  const next = end?.next ?? null
  const readNext = (): void => void (next !== null && read(next, chunksAtOnce))
  return (
    <div class="preview u-grow u-anywhere u-scroll" ref={text} tabIndex={0} role="region" aria-label={texts.pane.text}>
      {start === undefined && failed === null && (
        <div class="skeleton" role="status">
          <span class="visually-hidden">{texts.pane.reading}</span>
        </div>
      )}
      {start !== undefined && <Facts part={start} service={service} />}
      {/* A long document may have it in a part that was not read yet, unless it is known where. */}
      {isQuoteMissing && (place.chunk !== undefined || (before === 0 && next === null)) && (
        <p class="preview-note u-note u-round-8 u-raised" role="status">
          {texts.pane.quoteIsMissing}
        </p>
      )}
      {before > 0 && failed === null && (
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
      {next !== null && failed === null && <Edge label={texts.frame.showMore} reach={readNext} />}
      {failed !== null && <FailureNote failure={failed.failure} retry={failed.retry} />}
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

function Facts({ part, service }: { part: DocumentChunksView; service: Pick<Service, 'file'> }) {
  const { document_id: id, updated_at: updatedAt, file_id: fileId } = part
  return (
    <p class="preview-facts u-flex u-wrap u-note">
      <span class="u-full u-anywhere">{id}</span>
      <span>{texts.pane.changed(new Date(updatedAt))}</span>
      {fileId !== null && <Original id={fileId} name={part.semantic_identifier} readFile={service.file} />}
    </p>
  )
}

function Original({ id, name, readFile }: { id: string; name: string; readFile: Service['file'] }) {
  const [isMissing, setIsMissing] = useState(false)
  const save = async (): Promise<void> => {
    const file = await readFile(id)
    saveFile(file.name === '' ? new File([file], name, { type: file.type }) : file)
  }
  if (isMissing) return <span>{texts.pane.originalIsGone}</span>
  return (
    <Button kind="text" onClick={() => void save().catch(() => setIsMissing(true))}>
      {texts.pane.saveOriginal}
    </Button>
  )
}

/** A button that loads more of a document when it is scrolled into view or pressed. */
function Edge({ label, reach }: { label: string; reach: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const latest = useRef(reach)
  latest.current = reach
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && latest.current())
    if (button.current !== null) observer.observe(button.current)
    return () => observer.disconnect()
  }, [label])
  return (
    <button ref={button} type="button" class="text-button edge u-block" onClick={reach}>
      {label}
    </button>
  )
}

const highlightName = 'quote'

/**
 * Marks the quote and scrolls to it, once it is there.
 * @returns whether neither it nor the passage is in the parts around the chunk that was asked for
 */
function useQuote(
  text: { readonly current: HTMLElement | null },
  { quote = '', passage = '' }: DocumentPlace,
  count: number,
): boolean {
  const isDone = useRef(false)
  const [isMissing, setIsMissing] = useState(false)
  useLayoutEffect(() => {
    const root = text.current
    if (root === null || count === 0 || isDone.current) return
    // A passage may begin with a fence or a heading that the text shows in another way.
    const wanted = [quote, passage, ...withoutMarkup(passage).split('\n')]
    const range = wanted.map((each) => findText(root, each)).find((found) => found !== undefined)
    setIsMissing(range === undefined && (isFindable(quote) || isFindable(passage)))
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
  return isMissing
}
