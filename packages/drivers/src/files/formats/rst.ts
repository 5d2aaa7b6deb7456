import papaparse from 'papaparse'
import type { Budget } from '../budget.ts'
import { cleanText } from '../encodings.ts'
import { sectionsOf, oneLine, type Reading } from '../sections.ts'
import { markdownTable } from './markdown-table.ts'

/** Reads a reStructuredText file as Markdown. */
export function readRst(text: string, budget: Budget): Reading {
  budget.takeText(text.length)
  const titles: string[] = []
  const lines = cleanText(text).replaceAll('\t', '        ').split('\n')
  const body = markdownOf(lines, { marks: [], titles, inline: inlineWith(substitutionsOf(lines), budget) })
  return {
    title: titles[0] === undefined ? null : oneLine(titles[0].replaceAll('`', '')),
    sections: sectionsOf(body, budget),
  }
}

/**
 * The marks of headings in the order of their first use, which is their level, the headings so far, and how the text of
 * this file becomes Markdown.
 */
interface Outline {
  readonly marks: string[]
  readonly titles: string[]
  readonly inline: Inline
}

type Inline = (text: string) => string

/** Deeper nesting stays as it is written. */
const maxDepth = 12
const maxHeadingLevel = 6

const underline = /^([!-/:-@[-`{-~])\1+$/
const bullet = /^(?:[-*+•]|\(?(?:\d{1,3}|#|[a-zA-Z])[.)])\s+(?=\S)/
const letter = /^[a-zA-Z](?=\.\s)/
const directive = /^\.\.\s+([\w:.+-]{1,60})::/
const footnote = /^\.\.\s+(\[[^\]\s]{1,80}\])(?:\s|$)/
const substitution = /^\s*\.\.\s+\|([^|\s](?:[^|]{0,80}[^|\s])?)\|\s+(replace|image)::/
const option = /^:([\w-]+):/
const tableEdge = /^(?:\+[-=+]{2,}\+|={2,}(?: +={2,})+)$/

/** Directives of which nothing can be quoted. */
const unread = new Set(
  'contents toctree include raw meta index tags highlight default-role role currentmodule module py:module sectnum target-notes literalinclude autoclass automodule autofunction'.split(
    ' ',
  ),
)
const codes = new Set(
  'code code-block sourcecode parsed-literal prompt math doctest testcode console ipython'.split(' '),
)
/** Directives whose content may begin beside their name. */
const codesWithoutLanguage = new Set(['math', 'parsed-literal'])
const quotes = new Set(['epigraph', 'highlights', 'pull-quote', 'compound'])
/** Directives that only frame their content. */
const frames = new Set(['container', 'only', 'class', 'image', 'figure', 'tabs'])
/** Directives with a title above their content. */
const titled = new Set(['admonition', 'topic', 'sidebar', 'tab', 'table'])

const indentOf = (line: string): number => line.length - line.trimStart().length
const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''

/** The lines from `start` that are blank or indented by more than `indent`, without blank ones at the end. */
function indented(lines: readonly string[], start: number, indent: number): { block: string[]; end: number } {
  let end = start
  let last = start
  for (; end < lines.length && (isBlank(lines[end]) || indentOf(lines[end]!) > indent); end++)
    if (!isBlank(lines[end])) last = end + 1
  return { block: dedented(lines.slice(start, last)), end: last }
}

function dedented(lines: readonly string[]): string[] {
  const least = Math.min(...lines.filter((line) => !isBlank(line)).map(indentOf))
  return lines.map((line) => line.slice(least))
}

const fenced = (lines: readonly string[], language = ''): string => {
  const code = lines
    .join('\n')
    .replace(/^(?:\s*\n)+/, '')
    .trimEnd()
  return code === '' ? '' : `\`\`\`${language}\n${code}\n\`\`\``
}

/** The first block of an item beside its mark, the others indented below it. */
const item = (mark: string, text: string): string =>
  `${mark} ${text.replace(/\n(?=.)/g, `\n${' '.repeat(mark.length + 1)}`)}`

function markdownOf(lines: readonly string[], outline: Outline, depth = 0): string {
  if (depth > maxDepth) return lines.join('\n')
  const { inline } = outline
  const within = (block: readonly string[]): string => markdownOf(block, outline, depth + 1)
  const blocks: string[] = []
  const add = (text: string): void => void (text.trim() !== '' && blocks.push(text))
  /** The item before, if it is the last block. */
  let before = { number: 0, letter: '', blocks: -1 }
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!.trimEnd()
    const next = lines[at + 1]?.trimEnd() ?? ''
    const indent = indentOf(line)
    if (line === '') {
      at++
      continue
    }
    if (indent > 0) {
      const { block, end } = indented(lines, at, indent - 1)
      add(within(block))
      at = end
      continue
    }
    const isOverlined = underline.test(line) && line.length > 1 && lines[at + 2]?.trimEnd() === line && next !== ''
    if (isOverlined || (underline.test(next) && next.length >= Math.min(4, line.length) && !tableEdge.test(line))) {
      const title = isOverlined ? next.trim() : line
      add(`${headingMark(isOverlined ? `over ${line[0]}` : next[0]!, outline)} ${inline(title)}`)
      outline.titles.push(inline(title))
      at += isOverlined ? 3 : 2
      continue
    }
    // A line between paragraphs.
    if (underline.test(line) && line.length > 3 && !tableEdge.test(line)) {
      at++
      continue
    }
    if (tableEdge.test(line)) {
      let end = at
      const isGrid = line.startsWith('+')
      let edges = 0
      for (; end < lines.length && (isGrid ? lines[end]!.trim() !== '' : edges < 3); end++)
        if (tableEdge.test(lines[end]!.trimEnd()) && ++edges === 2 && isBlank(lines[end + 1])) edges = 3
      add(isGrid ? gridTable(lines.slice(at, end), within) : simpleTable(lines.slice(at, end), inline))
      at = end
      continue
    }
    if (line.startsWith('..') && (line === '..' || line[2] === ' ')) {
      const { block, end } = indented(lines, at + 1, 0)
      const [start = '', name = ''] = directive.exec(line) ?? []
      const [, label = ''] = footnote.exec(line) ?? []
      if (name !== '') add(directed(name.toLowerCase(), line.slice(start.length).trim(), block, within, inline))
      else if (label !== '')
        add(`${label} ${within([line.slice(line.indexOf(label) + label.length).trim(), ...block])}`)
      at = end
      continue
    }
    const mark = bullet.exec(line)?.[0]
    if (before.blocks !== blocks.length) before = { number: 0, letter: '', blocks: -1 }
    if (mark !== undefined && isItemAt(lines, at, before.letter)) {
      const { block, end } = indented(lines, at + 1, 0)
      const number = mark.includes('#') ? before.number + 1 : Number(/\d+/.exec(mark)?.[0] ?? 0)
      const written = mark.trim().replace('#', String(number))
      const text = within([line.slice(mark.length), ...block])
      if (/^\d/.test(written)) blocks.push(item(written, text))
      else blocks.push(item('-', /\w/.test(written) ? `${written} ${text}` : text))
      before = { number, letter: letter.exec(line)?.[0] ?? '', blocks: blocks.length }
      at = end
      continue
    }
    const field = /^:([^:`\s][^:`]{0,80}):(?:\s+(.*))?$/s.exec(line)
    if (field) {
      const { block, end } = indented(lines, at + 1, 0)
      add(item('-', `**${inline(field[1]!)}**: ${within([field[2] ?? '', ...block])}`))
      at = end
      continue
    }
    let end = at
    while (!isBlank(lines[end]) && indentOf(lines[end]!) === 0) end++
    const paragraph = lines.slice(at, end).map((each) => each.trimEnd())
    const below = indented(lines, end, 0)
    at = end
    const last = paragraph.at(-1)!
    if (paragraph[0]!.startsWith('>>> ')) add(fenced(paragraph, 'python'))
    else if (last.endsWith('::')) {
      const text = paragraph.join(' ').slice(0, -2)
      add(inline(text.trimEnd() + (text === text.trimEnd() && last !== '::' ? ':' : '')))
      add(fenced(below.block))
      at = Math.max(end, below.end)
    } else if (below.block.length > 0 && paragraph.length === 1 && isTerm(last)) {
      add(definition(codeLike.test(last) ? `\`${last}\`` : inline(last), within(below.block), outline))
      at = below.end
    } else if (last.startsWith('| ')) add(inline(paragraph.map((each) => each.replace(/^\| ?/, '')).join('\n')))
    else add(inline(paragraph.join(' ')))
  }
  const isItem = (block: string | undefined): boolean => /^(?:- |\d+[.)] )/.test(block ?? '')
  return blocks
    .map((block, at) => (at === 0 ? '' : isItem(block) && isItem(blocks[at - 1]) ? '\n' : '\n\n') + block)
    .join('')
}

/**
 * A line such as `31. December was` followed by one that is neither indented nor an item belongs to a paragraph, and
 * `A. Smith` is a name unless the letter before or after it stands beside it.
 */
function isItemAt(lines: readonly string[], at: number, letterBefore: string): boolean {
  const line = lines[at]!
  if (/^[-*+•]/.test(line)) return true
  const next = lines[at + 1]
  if (!isBlank(next) && indentOf(next!) === 0 && !bullet.test(next!)) return false
  const own = letter.exec(line)?.[0]
  if (own === undefined) return true
  const follows = (a: string, b: string): boolean => a.charCodeAt(0) + 1 === b.charCodeAt(0)
  if (letterBefore !== '' && follows(letterBefore, own)) return true
  let after = at + 1
  while (after < lines.length && (isBlank(lines[after]) || indentOf(lines[after]!) > 0)) after++
  return follows(own, letter.exec(lines[after] ?? '')?.[0] ?? '')
}

/** Short and without a mark at its end: no sentence above a quotation. */
const isTerm = (line: string): boolean => line.length <= 80 && !/[.:;,!]$/.test(line)

/** A term such as `--name`, `restart <name>` or `start all:*`. */
const codeLike = /^(?=[^`]*$)(?:--?\w|.*[<>*=[\]])/

/**
 * A term with its definition is an item. A setting with several paragraphs gets a heading, and so does a question, whose
 * answer is the next definition.
 */
function definition(term: string, text: string, { marks }: Outline): string {
  const mark = '#'.repeat(Math.min(maxHeadingLevel, marks.length + 1))
  if (/^(?:Q|F|Question|Frage)$/.test(term)) return `${mark} ${oneLine(text)}`
  if (/^(?:A|Answer|Antwort)$/.test(term)) return text
  return term.startsWith('`') && /\n\n/.test(text) ? `${mark} ${term}\n\n${text}` : item('-', `**${term}**: ${text}`)
}

function headingMark(mark: string, { marks }: Outline): string {
  if (!marks.includes(mark)) marks.push(mark)
  return '#'.repeat(Math.min(maxHeadingLevel, marks.indexOf(mark) + 1))
}

/** The options of a directive that readers see, and its content. */
function optionsOf(block: readonly string[]): { shown: Map<string, string>; body: string[] } {
  const shown = new Map<string, string>()
  let name = ''
  let at = 0
  for (; at < block.length; at++) {
    const line = block[at]!
    const begun = option.exec(line)
    if (begun) name = begun[1]!
    else if (name === '' || isBlank(line) || indentOf(line) === 0) break
    shown.set(name, begun ? line.slice(begun[0].length).trim() : `${shown.get(name)!} ${line.trim()}`)
  }
  return { shown, body: block.slice(at) }
}

function directed(
  name: string,
  argument: string,
  block: string[],
  within: (block: readonly string[]) => string,
  inline: Inline,
): string {
  const kind = name.replace(/^.*:/, '')
  if (unread.has(kind) || unread.has(name)) return ''
  const { shown, body } = optionsOf(block)
  if (quotes.has(kind)) return within([argument, ...body])
  const parts = (...texts: (string | undefined)[]): string => texts.filter(Boolean).join('\n\n')
  const valueOf = (key: string): string => inline(oneLine(shown.get(key) ?? ''))
  if (codesWithoutLanguage.has(kind)) return fenced([argument, ...body])
  if (codes.has(kind)) return parts(valueOf('caption'), fenced(body, /^[\w+#.-]+$/.test(argument) ? argument : ''))
  if (kind === 'list-table') return listTable(argument, body, inline)
  if (kind === 'csv-table') return csvTable(argument, shown, body, inline)
  const text = within(body)
  if (frames.has(kind)) return parts(valueOf('alt'), text)
  if (titled.has(kind)) return parts(inline(argument), valueOf('subtitle'), text)
  if (/^(?:note|warning|tip|hint|important|caution|danger|attention|error|seealso|todo)$/.test(kind)) {
    return [inline(argument), text].filter((part) => part !== '').join(' ')
  }
  const since = { versionadded: 'Added in', versionchanged: 'Changed in', deprecated: 'Deprecated since' }[kind]
  if (since !== undefined) return `${since} ${inline(argument)}${text === '' ? '.' : `: ${text}`}`
  if (argument === '') return text
  // Such as an option or a function with its description.
  return text === '' ? inline(argument) : item('-', `**${inline(argument)}**: ${text}`)
}

/** `* - cell` begins a row, `  - cell` goes on. */
function listTable(title: string, lines: readonly string[], inline: Inline): string {
  const rows: string[][] = []
  for (const line of lines) {
    const [, star, , text = ''] = /^([*-])?(\s+)(.*)$/s.exec(line) ?? []
    const cell = /^-(?:\s+(.*))?$/s.exec(text.trim())
    if (star !== undefined && cell) rows.push([cell[1] ?? ''])
    else if (cell) rows.at(-1)?.push(cell[1] ?? '')
    else if (rows.length > 0) rows.at(-1)![rows.at(-1)!.length - 1] += ` ${text.trim()}`
  }
  return titledTable(title, rows, inline)
}

function titledTable(title: string, rows: readonly (readonly string[])[], inline: Inline): string {
  const table = markdownTable(rows.map((row) => row.map((cell) => inline(cell))))
  return title === '' ? table : `${inline(title)}:\n\n${table}`
}

const delimiters: Readonly<Record<string, string>> = { tab: '\t', space: ' ' }

function csvTable(title: string, shown: ReadonlyMap<string, string>, lines: readonly string[], inline: Inline): string {
  const delimiter = shown.get('delim') ?? ','
  // Spaces after a delimiter belong to no cell.
  const text = [shown.get('header') ?? '', ...lines].join('\n').replace(/([,;|\t]) +(?=")/g, '$1')
  const { data } = papaparse.parse<string[]>(text, {
    delimiter: delimiters[delimiter] ?? delimiter,
    skipEmptyLines: 'greedy',
  })
  return titledTable(
    title,
    data.map((row) => row.map(oneLine)),
    inline,
  )
}

/** Cells stand between the `+` of the edges; a row may have several lines. */
function gridTable(lines: readonly string[], within: (block: readonly string[]) => string): string {
  const bounds = [...lines[0]!.matchAll(/\+/g)].map(({ index }) => index)
  const rows: string[][][] = [[]]
  for (const line of lines.slice(1)) {
    if (/^\+[-=+]+\+$/.test(line.trimEnd())) rows.push([])
    else
      for (const [at, start] of bounds.slice(0, -1).entries())
        (rows.at(-1)![at] ??= []).push(line.slice(start + 1, bounds[at + 1]))
  }
  return markdownTable(rows.map((row) => row.map((cell) => oneLine(within(dedented(cell))))))
}

/** Columns are as wide as the marks of the edges; a row without a first cell continues the one before. */
function simpleTable(lines: readonly string[], inline: Inline): string {
  const columns = [...lines[0]!.matchAll(/=+/g)].map(({ index }) => index)
  const rows: string[][] = []
  for (const line of lines) {
    if (tableEdge.test(line.trimEnd()) || /^[-=\s]*$/.test(line)) continue
    const cells = columns.map((start, at) => inline(line.slice(start, columns[at + 1]).trim()))
    if (cells[0] === '' && rows.length > 1)
      for (const [at, cell] of cells.entries()) rows.at(-1)![at] = `${rows.at(-1)![at]} ${cell}`.trim()
    else rows.push(cells)
  }
  return markdownTable(rows)
}

const codeRoles =
  /^(?:\w+:)?(?:file|program|command|option|envvar|mod|func|class|meth|attr|data|obj|code|samp|kbd|literal|setting|confval|exc|const)$/

/** The texts of `.. |name| replace:: text`, and the descriptions of pictures. */
function substitutionsOf(lines: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [at, line] of lines.entries()) {
    const [start, name, kind] = substitution.exec(line) ?? []
    if (start === undefined) continue
    const { block } = indented(lines, at + 1, indentOf(line))
    const text = kind === 'image' ? optionsOf(block).shown.get('alt') : [line.slice(start.length), ...block].join(' ')
    if (text !== undefined) texts.set(name!, oneLine(text))
  }
  return texts
}

/** A long text may be used often: each use counts. */
function inlineWith(substitutions: ReadonlyMap<string, string>, budget: Budget): Inline {
  if (substitutions.size === 0) return inline
  return (text) =>
    inline(
      text.replace(/(`+)[^`]*\1|\|([^|`\n]{1,82})\|(?:__?(?!\w))?/g, (match, _: string, name: string | undefined) => {
        const value = name === undefined ? undefined : substitutions.get(name)
        budget.takeText(value?.length ?? 0)
        return value ?? match
      }),
    )
}

/** Roles, literals, references and links of a text as Markdown. */
function inline(text: string): string {
  return text
    .replace(/(`+)[^`]*\1|<(?=[a-z/!])/gi, (match, ticks: string | undefined) => (ticks ? match : '&lt;'))
    .replace(/``([^`\n]{1,500}(?:\n[^`\n]{1,500})?)``/g, '`$1`')
    .replace(/:([\w:+-]{1,40}):`([^`]{1,500})`/g, (_, role: string, content: string) => {
      const shown = content.replace(/\s*<[^<>]{0,300}>$/, '').replace(/^[~!](?:[\w.]*\.)?/, '')
      if (codeRoles.test(role)) return `\`${shown}\``
      return role === 'ref' ? shown.replaceAll('_', ' ') : shown
    })
    .replace(/`([^`<]{1,300})<([^<>`]{1,1000})>`__?/g, (_, label: string, address: string) =>
      /^https?:/.test(address) ? `[${oneLine(label)}](${address.replace(/\s+/g, '')})` : label.trimEnd(),
    )
    .replace(/`([^`]{1,300})`__?(?!\w)/g, '$1')
    .replace(
      /(`[^`]*`)|(\[[\w#*.-]{1,80}\])_(?!\w)|\|(\w[\w -]{0,40})\|/g,
      (_, code: string | undefined, label: string | undefined, name: string) => code ?? label ?? name,
    )
}
