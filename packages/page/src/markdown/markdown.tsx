import { createMarkdownReader, type Block, type Footnote, type Inline } from '@inlay/text/markdown'
import { createContext, type ComponentChildren, type VNode } from 'preact'
import { useContext, useId, useMemo, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { CodeBlock } from './code-block.tsx'
import { Formula } from './formula.tsx'
import { Table } from './table.tsx'

/** How the numbers of an answer become buttons; absent where Markdown holds no citations. */
export interface CitationHandling {
  /** Words that name a number for a screen reader, or undefined when the number names nothing. */
  readonly label: (number: number) => string | undefined
  readonly open: (number: number, sentence: string) => void
}

interface TextView {
  readonly citations: CitationHandling | undefined
  readonly footnotes: readonly Footnote[]
  /** Prefix of the ids of footnotes, unique on the page. */
  readonly id: string
}

/** The text around a block. A context, so that finished blocks are not rendered again when it changes. */
const TextContext = createContext<TextView>({ citations: undefined, footnotes: [], id: '' })

interface MarkdownProps {
  readonly text: string
  readonly isGrowing?: boolean
  readonly citations?: CitationHandling
}

/**
 * Shows Markdown that nobody vouches for. There is no HTML on the way that could be unsafe: the text is read into a
 * tree, and each of its nodes becomes an element of ours with text inside. HTML in the text is shown as text, but for a
 * few elements without attributes; images become links, links other than http, https and mailto become text.
 * While the text grows, blocks that are finished stay as they are.
 */
export function Markdown({ text, isGrowing = false, citations }: MarkdownProps) {
  const reader = useRef(createMarkdownReader())
  const drawn = useRef(new WeakMap<Block, VNode>())
  const id = useId()
  const { blocks, footnotes } = reader.current.read(text, isGrowing)
  const elements = blocks.map((block) => {
    const known = drawn.current.get(block)
    if (known !== undefined) return known
    const element = <BlockView block={block} />
    drawn.current.set(block, element)
    return element
  })
  const view = useMemo(() => ({ citations, footnotes, id }), [citations, footnotes, id])
  return (
    <TextContext.Provider value={view}>
      <div class="markdown u-anywhere">
        {elements}
        {footnotes.length > 0 && <Footnotes footnotes={footnotes} id={id} />}
      </div>
    </TextContext.Provider>
  )
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'paragraph':
      return <p dir="auto">{inlines(block.inlines)}</p>
    case 'heading':
      return <Heading level={block.level}>{inlines(block.inlines)}</Heading>
    case 'code':
      return <CodeBlock code={block.text} language={block.language} />
    case 'math':
      return <Formula tex={block.text} isBlock />
    case 'quote':
      return <blockquote dir="auto">{blockViews(block.blocks)}</blockquote>
    case 'alert':
      return (
        <div class={`alert ${block.alert}`} role="note" dir="auto">
          <p class="alert-name">{texts.steps.alerts[block.alert]}</p>
          {blockViews(block.blocks)}
        </div>
      )
    case 'details':
      return (
        <details class="fold" open={block.isOpen} dir="auto">
          <summary>{block.summary.length === 0 ? texts.steps.details : inlines(block.summary)}</summary>
          <div>{blockViews(block.blocks)}</div>
        </details>
      )
    case 'list':
      return <List list={block} />
    case 'table':
      return <Table table={block} show={inlines} plain={plainText} />
    case 'rule':
      return <hr />
  }
}

const blockViews = (blocks: readonly Block[]): ComponentChildren =>
  blocks.map((block, at) => <BlockView key={at} block={block} />)

/** Below the question, which is an h2. */
function Heading({ level, children }: { level: number; children: ComponentChildren }) {
  if (level <= 2) return <h3 dir="auto">{children}</h3>
  return level === 3 ? <h4 dir="auto">{children}</h4> : <h5 dir="auto">{children}</h5>
}

function List({ list }: { list: Extract<Block, { kind: 'list' }> }) {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.isChecked === null ? undefined : 'task'} dir="auto">
      {item.isChecked !== null && (
        <input type="checkbox" checked={item.isChecked} disabled aria-label={texts.steps.task} />
      )}
      {item.blocks.map((block, place) =>
        list.isTight && block.kind === 'paragraph' ? inlines(block.inlines) : <BlockView key={place} block={block} />,
      )}
    </li>
  ))
  return list.start === undefined ? (
    <ul dir="auto">{items}</ul>
  ) : (
    <ol start={list.start} dir="auto">
      {items}
    </ol>
  )
}

function Footnotes({ footnotes, id }: Pick<TextView, 'footnotes' | 'id'>) {
  return (
    <ol class="footnotes" aria-label={texts.steps.footnotes}>
      {footnotes.map(({ label, number, blocks }) => (
        <li key={label} id={`${id}-note-${number}`} tabIndex={-1} value={number} dir="auto">
          {blocks.map((block, at) =>
            block.kind === 'paragraph' ? inlines(block.inlines) : <BlockView key={at} block={block} />,
          )}
        </li>
      ))}
    </ol>
  )
}

function inlines(pieces: readonly Inline[]): ComponentChildren {
  let before = ''
  return pieces.map((piece, at) => {
    if (piece.kind === 'citation')
      return <Citation key={at} number={piece.number} href={piece.href} sentence={lastSentence(before)} />
    before += plainText([piece])
    if (piece.kind !== 'text') return <InlineView key={at} piece={piece} />
    return piece.text
  })
}

function InlineView({ piece }: { piece: Inline }) {
  switch (piece.kind) {
    case 'text':
      return <>{piece.text}</>
    case 'code':
      return <code>{piece.text}</code>
    case 'break':
      return <br />
    case 'link':
      return <Link href={piece.href}>{inlines(piece.inlines)}</Link>
    case 'image':
      return <Link href={piece.href}>{piece.text === '' ? texts.steps.image : piece.text}</Link>
    case 'math':
      return <Formula tex={piece.text} isBlock={false} />
    case 'footnote':
      return <FootnoteMark label={piece.label} />
    case 'citation':
      return null
    default: {
      const { kind: Tag } = piece
      return <Tag>{inlines(piece.inlines)}</Tag>
    }
  }
}

function Link({ href, children }: { href: string | undefined; children: ComponentChildren }) {
  if (href === undefined) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

/** A number that leads to its footnote; text where there is no such footnote. */
function FootnoteMark({ label }: { label: string }) {
  const { footnotes, id } = useContext(TextContext)
  const number = footnotes.find((footnote) => footnote.label === label)?.number
  if (number === undefined) return <>{`[^${label}]`}</>
  const open = (): void => {
    const place = document.getElementById(`${id}-note-${number}`)
    place?.scrollIntoView({ block: 'nearest' })
    place?.focus({ preventScroll: true })
  }
  return (
    <sup>
      <button type="button" class="footnote-mark u-bare" aria-label={texts.steps.footnote(number)} onClick={open}>
        {number}
      </button>
    </sup>
  )
}

function Citation({ number, href, sentence }: { number: number; href: string | undefined; sentence: string }) {
  const { citations } = useContext(TextContext)
  const label = citations?.label(number)
  if (citations === undefined || label === undefined) return <Link href={href}>{`[${number}]`}</Link>
  return (
    <button
      type="button"
      class="citation u-place-center u-no-border u-soft"
      aria-label={label}
      title={label}
      onClick={() => citations.open(number, sentence)}
    >
      {number}
    </button>
  )
}

export function plainText(pieces: readonly Inline[]): string {
  return pieces
    .map((piece) => {
      if ('inlines' in piece) return plainText(piece.inlines)
      if (piece.kind === 'break') return '\n'
      return 'text' in piece ? piece.text : ''
    })
    .join('')
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** The sentence that a citation number belongs to: the last one before it. Earlier sentences have their own numbers. */
function lastSentence(text: string): string {
  return [...segmenter.segment(text.trim())].at(-1)?.segment.trim() ?? ''
}
