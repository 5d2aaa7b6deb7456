import type { ComponentChildren, JSX } from 'preact'
import { parseBlocks, type MarkdownBlock } from './blocks.ts'
import { parseInline, type Inline } from './inline.ts'

/** How a citation is shown; undefined leaves its link. */
export type ShowCitation = (number: number) => JSX.Element | undefined

/**
 * Shows Markdown that nobody vouches for: elements of ours with text inside. HTML in it is shown as text, pictures become
 * links, and links other than http, https and mailto become text.
 */
export function Markdown({ text, citation }: { text: string; citation: ShowCitation }): JSX.Element {
  return <div class="markdown">{parseBlocks(text).map((block) => showBlock(block, citation))}</div>
}

function showBlock(block: MarkdownBlock, citation: ShowCitation): JSX.Element {
  const inline = (text: string): ComponentChildren => showInline(parseInline(text), citation)
  switch (block.kind) {
    case 'paragraph':
      return <p>{inline(block.text)}</p>
    case 'heading':
      return block.level <= 2 ? <h3>{inline(block.text)}</h3> : <h4>{inline(block.text)}</h4>
    case 'code':
      return (
        <pre tabIndex={0} role="region" aria-label={block.language === '' ? 'Code' : `Code, ${block.language}`}>
          <code>{block.text}</code>
        </pre>
      )
    case 'quote':
      return <blockquote>{block.blocks.map((inner) => showBlock(inner, citation))}</blockquote>
    case 'list': {
      const items = block.items.map((item) => <li>{showItem(item, citation)}</li>)
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case 'rule':
      return <hr />
    case 'table':
      return (
        // Scrolls by itself, so it must be reachable by keyboard.
        <div class="table" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.header.map((cell) => (
                  <th>{inline(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr>
                  {row.map((cell) => (
                    <td>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
  }
}

/** An item of a single paragraph stands without its own element, as in a tight list. */
function showItem(blocks: readonly MarkdownBlock[], citation: ShowCitation): ComponentChildren {
  return blocks.map((block, at) =>
    at === 0 && block.kind === 'paragraph' ? showInline(parseInline(block.text), citation) : showBlock(block, citation),
  )
}

function showInline(pieces: readonly Inline[], citation: ShowCitation): ComponentChildren {
  return pieces.map((piece) => {
    switch (piece.kind) {
      case 'text':
        return piece.text
      case 'code':
        return <code>{piece.text}</code>
      case 'break':
        return <br />
      case 'strong':
        return <strong>{showInline(piece.children, citation)}</strong>
      case 'em':
        return <em>{showInline(piece.children, citation)}</em>
      case 'del':
        return <del>{showInline(piece.children, citation)}</del>
      case 'link':
        return <SafeLink href={piece.href}>{showInline(piece.children, citation)}</SafeLink>
      case 'citation':
        return citation(piece.number) ?? <SafeLink href={piece.href}>[{piece.number}]</SafeLink>
    }
  })
}

/** A link to another site; text where the address may not be opened. */
export function SafeLink({ href, children }: { href: string | undefined; children: ComponentChildren }): JSX.Element {
  if (href === undefined) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}
