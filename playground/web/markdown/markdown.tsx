import { Lexer } from 'marked'
import type { Token, Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { CodeBlock } from './code-block.tsx'
import { decodeEntities } from './entities.ts'
import { safeLink } from './links.ts'

/** How the numbers of an answer become buttons; absent where Markdown holds no citations. */
export interface CitationHandling {
  /** Words that name a number for a screen reader, or undefined when the number names nothing. */
  readonly label: (number: number) => string | undefined
  /** Called with the number and the sentence it stands behind. */
  readonly open: (number: number, sentence: string) => void
}

/**
 * Shows Markdown that nobody vouches for. There is no HTML on the way that could be unsafe: marked only splits the text
 * into tokens, and each known token becomes an element of ours with text inside. HTML in the text is shown as text,
 * images become links, links other than http, https and mailto become text.
 */
export function Markdown({ text, citations }: { text: string; citations?: CitationHandling }): JSX.Element {
  const tokens = useMemo(() => new Lexer({ gfm: true }).lex(text), [text])
  return <div class="markdown">{blocks(tokens, citations)}</div>
}

function blocks(tokens: readonly Token[], citations: CitationHandling | undefined): ComponentChildren {
  return tokens.map((token, at) => <Block key={at} token={token} citations={citations} />)
}

interface TokenProps {
  readonly token: Token
  readonly citations: CitationHandling | undefined
}

function Block({ token, citations }: TokenProps): JSX.Element | null {
  // marked types a token by its name only where the name is its own; each case holds the fields marked documents.
  switch (token.type) {
    case 'heading':
      return <Heading token={token as Tokens.Heading} citations={citations} />
    case 'paragraph':
      return <p>{inline(token.tokens, citations)}</p>
    case 'text':
      return <>{isParent(token) ? inline(token.tokens, citations) : textOf(token)}</>
    case 'code':
      return <CodeBlock code={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ''} />
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [], citations)}</blockquote>
    case 'list':
      return <List token={token as Tokens.List} citations={citations} />
    case 'table':
      return <Table token={token as Tokens.Table} citations={citations} />
    case 'hr':
      return <hr />
    case 'html':
      return token.raw.trim() === '' ? null : <p>{token.raw.trim()}</p>
    case 'space':
    case 'def':
      return null
    default:
      return <p>{token.raw}</p>
  }
}

/** Headings of an answer stand below the question, which is an h2. */
function Heading({
  token,
  citations,
}: {
  token: Tokens.Heading
  citations: CitationHandling | undefined
}): JSX.Element {
  const children = inline(token.tokens, citations)
  return token.depth <= 2 ? <h3>{children}</h3> : token.depth === 3 ? <h4>{children}</h4> : <h5>{children}</h5>
}

function List({ token, citations }: { token: Tokens.List; citations: CitationHandling | undefined }): JSX.Element {
  const items = token.items.map((item, at) => (
    <li key={at} class={item.task ? 'task' : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Task" />}
      {blocks(
        item.tokens.filter((inner) => inner.type !== 'checkbox'),
        citations,
      )}
    </li>
  ))
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token, citations }: { token: Tokens.Table; citations: CitationHandling | undefined }): JSX.Element {
  return (
    // Scrolls by itself on a phone, so it must be reachable by keyboard.
    <div class="table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at}>{inline(cell.tokens, citations)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{inline(cell.tokens, citations)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inline(tokens: readonly Token[] | undefined, citations: CitationHandling | undefined): ComponentChildren {
  if (tokens === undefined) return null
  let before = ''
  return tokens.map((token, at) => {
    const number = citations === undefined ? undefined : citationNumber(token)
    if (number === undefined) {
      before += plainOf(token)
      return <Inline key={at} token={token} citations={citations} />
    }
    return <Citation key={at} number={number} sentence={lastSentence(before)} token={token} citations={citations} />
  })
}

/** Marks of formulas: without their backslashes they read as ordinary parentheses and commas. */
const keepsBackslash = /^\\[(),]$/

function Inline({ token, citations }: TokenProps): JSX.Element | null {
  switch (token.type) {
    case 'escape':
      return <>{keepsBackslash.test(token.raw) ? token.raw : textOf(token)}</>
    case 'text':
      return <>{isParent(token) ? inline(token.tokens, citations) : textOf(token)}</>
    case 'strong':
      return <strong>{inline(token.tokens, citations)}</strong>
    case 'em':
      return <em>{inline(token.tokens, citations)}</em>
    case 'del':
      return <del>{inline(token.tokens, citations)}</del>
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link token={token as Tokens.Link} citations={citations} />
    case 'image':
      return <Image token={token as Tokens.Image} />
    default:
      return <>{token.raw}</>
  }
}

function Link({ token, citations }: { token: Tokens.Link; citations: CitationHandling | undefined }): JSX.Element {
  const href = safeLink(token.href)
  const children = inline(token.tokens, citations)
  if (href === undefined) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

/** A picture is never fetched: its address would tell its owner who reads what. */
function Image({ token }: { token: Tokens.Image }): JSX.Element {
  const href = safeLink(token.href)
  const label = token.text === '' ? 'image' : token.text
  if (href === undefined) return <>{label}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {label}
    </a>
  )
}

function Citation({
  number,
  sentence,
  token,
  citations,
}: TokenProps & { number: number; sentence: string }): JSX.Element {
  const label = citations?.label(number)
  if (citations === undefined || label === undefined) return <Link token={token as Tokens.Link} citations={undefined} />
  return (
    <button
      type="button"
      class="citation"
      aria-label={label}
      title={label}
      onClick={() => citations.open(number, sentence)}
    >
      {number}
    </button>
  )
}

/** The number of a rendered citation, `[[1]](link)`; undefined for every other token. */
function citationNumber(token: Token): number | undefined {
  if (token.type !== 'link') return undefined
  const digits = /^\[(\d{1,9})\]$/.exec((token as Tokens.Link).text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

const isParent = (token: Token): token is Token & { tokens: Token[] } =>
  'tokens' in token && Array.isArray(token.tokens)

const textOf = (token: Token): string => decodeEntities('text' in token ? String(token.text) : token.raw)

function plainOf(token: Token): string {
  if (isParent(token)) return token.tokens.map(plainOf).join('')
  return token.type === 'br' ? '\n' : textOf(token)
}

/** What a number stands behind: the last sentence before it, since sentences before that have numbers of their own. */
function lastSentence(text: string): string {
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text.trim())]
  return sentences.at(-1)?.segment.trim() ?? ''
}
