import { createMarkdownReader, type Block, type Inline } from '@inlay/text/markdown'
import type { ComponentChildren, JSX, VNode } from 'preact'
import { useMemo } from 'preact/hooks'

/** Renders a citation; undefined keeps its link. */
export type ShowCitation = (number: number) => JSX.Element | undefined

interface MarkdownProps {
  readonly text: string
  readonly isGrowing: boolean
  readonly citation: ShowCitation
}

/**
 * Renders untrusted Markdown as elements with text. HTML in it is shown as text, pictures become links, and links other
 * than http, https and mailto become text.
 */
export function Markdown({ text, isGrowing, citation }: MarkdownProps): JSX.Element {
  const reader = useMemo(createMarkdownReader, [])
  const { blocks, footnotes } = reader.read(text, isGrowing)
  const view = { citation, numbers: new Map(footnotes.map(({ label, number }) => [label, number])) }
  return (
    <div class="markdown">
      {blocks.map((block) => showBlock(block, view))}
      {footnotes.length > 0 && (
        <ol>
          {footnotes.map((footnote) => (
            <li value={footnote.number}>{showBlocks(footnote.blocks, view)}</li>
          ))}
        </ol>
      )}
    </div>
  )
}

interface View {
  readonly citation: ShowCitation
  /** Numbers of footnotes by label. */
  readonly numbers: ReadonlyMap<string, number>
}

/** The first paragraph of an item or a footnote is rendered without its own element. */
const showBlocks = (blocks: readonly Block[], view: View): ComponentChildren =>
  blocks.map((block, at) =>
    at === 0 && block.kind === 'paragraph' ? showInline(block.inlines, view) : showBlock(block, view),
  )

function showBlock(block: Block, view: View): JSX.Element {
  const inline = (pieces: readonly Inline[]): ComponentChildren => showInline(pieces, view)
  const inner = (blocks: readonly Block[]): VNode[] => blocks.map((each) => showBlock(each, view))
  switch (block.kind) {
    case 'paragraph':
      return <p dir="auto">{inline(block.inlines)}</p>
    case 'heading':
      return block.level <= 2 ? (
        <h3 dir="auto">{inline(block.inlines)}</h3>
      ) : (
        <h4 dir="auto">{inline(block.inlines)}</h4>
      )
    case 'code':
    case 'math': {
      const language = block.kind === 'code' ? block.language : ''
      return (
        <pre tabIndex={0} role="group" aria-label={language === '' ? 'Code' : `Code, ${language}`} dir="ltr">
          <code>{block.text}</code>
        </pre>
      )
    }
    case 'quote':
      return <blockquote dir="auto">{inner(block.blocks)}</blockquote>
    case 'alert':
      return (
        <blockquote dir="auto">
          <p>
            <strong>{block.alert.charAt(0).toUpperCase() + block.alert.slice(1)}</strong>
          </p>
          {inner(block.blocks)}
        </blockquote>
      )
    case 'details':
      return (
        <details open={block.isOpen} dir="auto">
          <summary>{inline(block.summary)}</summary>
          {inner(block.blocks)}
        </details>
      )
    case 'list': {
      const items = block.items.map(({ isChecked, blocks }) => (
        <li dir="auto">
          {isChecked !== null && <input type="checkbox" checked={isChecked} disabled aria-label="Task" />}
          {showBlocks(blocks, view)}
        </li>
      ))
      return block.start === undefined ? (
        <ul dir="auto">{items}</ul>
      ) : (
        <ol start={block.start} dir="auto">
          {items}
        </ol>
      )
    }
    case 'rule':
      return <hr />
    case 'table': {
      const classOf = (column: number): string | undefined => block.alignments[column] ?? undefined
      return (
        // Scrolls by itself, so it must be reachable by keyboard.
        <div class="table" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.header.map((cell, column) => (
                  <th class={classOf(column)}>{inline(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr>
                  {row.map((cell, column) => (
                    <td class={classOf(column)}>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    }
  }
}

function showInline(pieces: readonly Inline[], view: View): ComponentChildren {
  return pieces.map((piece) => {
    switch (piece.kind) {
      case 'text':
        return piece.text
      case 'code':
      case 'math':
        return <code>{piece.text}</code>
      case 'break':
        return <br />
      case 'link':
        return <SafeLink href={piece.href}>{showInline(piece.inlines, view)}</SafeLink>
      case 'image':
        return <SafeLink href={piece.href}>{piece.text === '' ? 'image' : piece.text}</SafeLink>
      case 'citation':
        return view.citation(piece.number) ?? <SafeLink href={piece.href}>[{piece.number}]</SafeLink>
      case 'footnote': {
        const number = view.numbers.get(piece.label)
        return number === undefined ? `[^${piece.label}]` : <sup>{number}</sup>
      }
      default: {
        const { kind: Tag } = piece
        return <Tag>{showInline(piece.inlines, view)}</Tag>
      }
    }
  })
}

/** Plain text where the address is not safe, so undefined. */
export function SafeLink({ href, children }: { href: string | undefined; children: ComponentChildren }): JSX.Element {
  if (href === undefined) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}
