import type { Budget } from '../budget.ts'
import { cleanText } from '../encodings.ts'
import { sectionsOf, oneLine, type Reading } from '../sections.ts'

/** Reads reStructuredText: headings, code and notes become Markdown, all other text stays as it is written. */
export function readRst(text: string, budget: Budget): Reading {
  budget.takeText(text.length)
  const headings: Headings = { marks: [] }
  const lines = cleanText(text).replaceAll('\t', '        ').split('\n')
  const body = markdownOf(lines, headings).join('\n')
  const { title } = headings
  return { title: title === undefined ? null : oneLine(title.replaceAll('`', '')), sections: sectionsOf(body, budget) }
}

interface Headings {
  /** In the order of their first use, which is their level. */
  readonly marks: string[]
  title?: string
}

/** Deeper nesting stays as it is written. */
const maxDepth = 12
const maxHeadingLevel = 6

const underline = /^([!-/:-@[-`{-~])\1+$/
const directive = /^ *\.\. +([\w:.+-]{1,60})::(?= |$)/
/** Comments, and targets that lead to their own place. Footnotes, substitutions and addresses are text. */
const unseen = /^ *\.\.(?:$| +(?:_[^:]*:$|[^[|_ ]))/
const option = /^ *:[\w-]+:/
/** The text of an item of a list is indented by its mark. */
const itemMark = /^ *(?:(?:[-*+•]|\(?[\w#]{1,3}[.)]) +)?/

/** Directives of which nothing can be quoted. */
const unread =
  /^(?:contents|toctree|include|literalinclude|raw|meta|index|tags|highlight|default-role|role|sectnum|target-notes)$/
const codes = /^(?:code|code-block|sourcecode|parsed-literal|prompt|math|doctest|testcode|console|ipython)$/
const frames =
  /^(?:note|warning|tip|hint|important|caution|danger|attention|error|seealso|todo|admonition|topic|sidebar|tabs?|table|rubric|container|only|class|compound|epigraph|highlights|pull-quote)$/

const indentOf = (line: string): number => line.length - line.trimStart().length
const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''

function markdownOf(lines: readonly string[], headings: Headings, depth = 0): string[] {
  if (depth > maxDepth) return [...lines]
  const markdown: string[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!.trimEnd()
    const heading = headingAt(lines, at)
    if (heading) {
      if (!headings.marks.includes(heading.mark)) headings.marks.push(heading.mark)
      headings.title ??= heading.title
      const level = Math.min(maxHeadingLevel, headings.marks.indexOf(heading.mark) + 1)
      markdown.push(`${'#'.repeat(level)} ${heading.title}`)
      at += heading.lineCount
      continue
    }
    at++
    const indent = indentOf(line)
    const [start, name] = directive.exec(line) ?? []
    const kind = name?.toLowerCase() ?? ''
    const add = (block: readonly string[]): void => {
      for (const each of block) markdown.push(each === '' ? '' : ' '.repeat(indent) + each)
    }
    if (name === undefined && line.endsWith('::') && isBlank(lines[at])) {
      const { block, end } = indented(lines, at, itemMark.exec(line)![0].length)
      const isMarkOnly = /(?:^| )::$/.test(line)
      markdown.push(block.length === 0 ? line : line.slice(0, isMarkOnly ? -2 : -1).trimEnd(), '')
      add(fenced(block))
      at = end
    } else if (codes.test(kind) || frames.test(kind)) {
      const { block, end } = indented(lines, at, indent)
      const { shown, body } = withoutOptions(block)
      const argument = line.slice(start!.length).trim()
      const isLanguage = /^code|^sourcecode$/.test(kind)
      if (frames.test(kind)) add(markdownOf([argument, ...shown, ...body], headings, depth + 1))
      else add([...shown, ...fenced(isLanguage ? body : [argument, ...body], isLanguage ? argument : '')])
      at = end
    } else if (unread.test(kind) || isUnseen(lines, at - 1)) {
      // Nothing belongs to an empty comment.
      if (line.trim() !== '..' || !isBlank(lines[at])) at = indented(lines, at, indent).end
    } else if (line !== '' || markdown.at(-1) !== '') markdown.push(line)
  }
  return markdown
}

function headingAt(
  lines: readonly string[],
  at: number,
): { readonly title: string; readonly mark: string; readonly lineCount: number } | undefined {
  const [line = '', next = '', after = ''] = lines.slice(at, at + 3).map((each) => each.trimEnd())
  if (line.length > 2 && underline.test(line) && after === line && next !== '' && !underline.test(next))
    return { title: next.trim(), mark: `over ${line[0]}`, lineCount: 3 }
  const isTitle = indentOf(line) === 0 && line !== '' && !underline.test(line)
  return isTitle && next.length >= Math.min(4, line.length) && underline.test(next)
    ? { title: line, mark: next[0]!, lineCount: 2 }
    : undefined
}

/** Within a paragraph, dots at the beginning of a line are text. */
function isUnseen(lines: readonly string[], at: number): boolean {
  const before = lines[at - 1]
  const isBlock = isBlank(before) || /^ *\.\. /.test(before!)
  return isBlock && unseen.test(lines[at]!.trimEnd()) && !directive.test(lines[at]!)
}

/** The lines from `start` that are blank or indented by more than `indent`, without blank ones at the end. */
function indented(lines: readonly string[], start: number, indent: number): { block: string[]; end: number } {
  let end = start
  let least = Infinity
  for (let at = start; at < lines.length && (isBlank(lines[at]) || indentOf(lines[at]!) > indent); at++) {
    if (isBlank(lines[at])) continue
    least = Math.min(least, indentOf(lines[at]!))
    end = at + 1
  }
  return { block: lines.slice(start, end).map((line) => line.slice(least).trimEnd()), end }
}

/** The options of a directive are not seen, but for texts of headings and captions. */
function withoutOptions(block: readonly string[]): { shown: string[]; body: readonly string[] } {
  const end = block.findIndex((line) => !option.test(line))
  const options = end < 0 ? block : block.slice(0, end)
  const shown = options.flatMap((line) => /^:(?:caption|subtitle): *(.+)/.exec(line)?.[1] ?? [])
  return { shown, body: end < 0 ? [] : block.slice(end) }
}

function fenced(lines: readonly string[], language = ''): string[] {
  const start = lines.findIndex((line) => line !== '')
  return start < 0 ? [] : [`\`\`\`${language}`, ...lines.slice(start), '```']
}
