/** The smallest part of a text that can be quoted. */
export interface Unit {
  readonly kind: 'sentence' | 'item' | 'code' | 'row'
  /** Plain prose with inline code; for code, the lines without their fence. */
  readonly text: string
  /** Index of the block in its passage; sentences of one paragraph share it. */
  readonly block: number
  /** Position within its block. */
  readonly index: number
  /** Headings above it in the passage, outermost first. */
  readonly headings: readonly string[]
  /** The sentence that introduces this list or code, if any. */
  readonly lead?: string
  /** Whether it is an item of a numbered list. */
  readonly isNumbered?: boolean
  /** The number that a reader sees before an item of a numbered list that is not inside another list or a quotation. */
  readonly number?: number
  readonly language?: string
  /** The code that follows an item ending with a colon; it is quoted with the item. */
  readonly code?: { readonly text: string; readonly language?: string }
  /** Cells of a row and the names of their columns, of equal length. */
  readonly table?: { readonly header: readonly string[]; readonly cells: readonly string[] }
}

interface Block {
  readonly kind: Unit['kind'] | 'heading'
  readonly lines: string[]
  readonly level?: number
  readonly isNumbered?: boolean
  readonly number?: number
  readonly language?: string
}

const fence = /^\s{0,8}(`{3,}|~{3,})\s*([\w+#.-]*)/
const quoteMark = /^\s*(?:>\s?)+/
const item = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/
const directive = /^\s*(?:(?:\{\{.*\}\}|<!--.*-->|={3,}|-{3,}|\*{3,})\s*$|:::|\[[^\]]+\]:\s+\S|\[\^[^\]]+\]:)/

/** Without the marks before it, and those after it that follow a space: the title of `## C# ##` is C#. */
const headingOf = (line: string): string =>
  line
    .replace(/^#+\s+/, '')
    .trimEnd()
    .replace(/\s#+$/, '')
    .trimEnd()

/**
 * Counts the items of numbered lists. The returned function takes the first line of each block, and returns the number
 * that a reader sees before it; undefined for all but items of an outermost numbered list outside quotations.
 */
function createItemCounter(): (line: string) => number | undefined {
  // With as many spaces as the text of its last item has before it, a line is inside the list. Bullets count as NaN.
  let list: { readonly spaces: number; readonly kind: string; readonly number: number } | undefined
  return (line) => {
    const [, { length: indent } = '', mark = ''] = /^(\s*)((?:\d{1,3}[.)]|[-*+•])(?=\s))?/.exec(line)!
    if (list && indent >= list.spaces) return undefined
    const kind = mark.slice(-1)
    // Many lists write 1 before each item, and Markdown counts on.
    const number = Math.max(list?.kind === kind ? list.number + 1 : 0, Number.parseInt(mark, 10))
    list = mark === '' ? undefined : { spaces: indent + mark.length + 1, kind, number }
    return Number.isNaN(number) ? undefined : number
  }
}

function blocksOf(markdown: string): Block[] {
  // Front matter and comments are only for renderers.
  const page = markdown
    .replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---\r?\n/, '')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/&#124;/g, '\\|')
  const blocks: Block[] = []
  let open: Block | undefined
  let mark = ''
  let isQuoted = false
  const countItem = createItemCounter()
  for (const raw of page.split('\n')) {
    const line = raw.replace(quoteMark, '')
    // Code in a quotation or note ends with it at the latest.
    if (isQuoted && line === raw) [mark, open, isQuoted] = ['', undefined, false]
    const opening = fence.exec(mark !== '' && !isQuoted ? raw : line)
    if (mark !== '') {
      if (opening?.[1]?.startsWith(mark)) [mark, open, isQuoted] = ['', undefined, false]
      else open?.lines.push(isQuoted ? line : raw)
      continue
    }
    if (opening?.[1]) {
      countItem(raw)
      mark = opening[1]
      isQuoted = line !== raw
      open = { kind: 'code', lines: [], ...(opening[2] && { language: opening[2].toLowerCase() }) }
      blocks.push(open)
    } else if (line.trim() === '') open = undefined
    else if (directive.test(line) || /^\[!\w+\]$/.test(line.trim())) {
      countItem(raw)
      open = undefined
    } else if (/^#{1,6}\s/.test(line)) {
      countItem(raw)
      blocks.push({ kind: 'heading', lines: [headingOf(line)], level: line.indexOf(' ') })
      open = undefined
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      countItem(raw)
      blocks.push({ kind: 'row', lines: [line] })
      open = undefined
    } else if ((open?.kind === 'item' || open?.kind === 'sentence') && !item.test(line)) open.lines.push(line.trim())
    else {
      const number = countItem(raw)
      open = item.test(line)
        ? {
            kind: 'item',
            lines: [line.replace(item, '')],
            isNumbered: /^\s*\d/.test(line),
            ...(number !== undefined && { number }),
          }
        : { kind: 'sentence', lines: [line.trim()] }
      blocks.push(open)
    }
  }
  return blocks
}

const codeAlone = /^(`+)(?!`)(?:(?!\1).)+\1$/

/** The code of a block that contains only code, fenced or as one line of inline code; otherwise undefined. */
function codeOf(block: Block | undefined): string | undefined {
  if (block?.kind === 'code') return textOf(block)[0]
  const line = block?.kind === 'sentence' && block.lines.length === 1 ? (block.lines[0] ?? '') : ''
  return line.length < maxSentenceLength && codeAlone.test(line) ? line.replace(/^`+\s?|\s?(?<!`)`+$/g, '') : undefined
}

/**
 * Replaces each span of inline code, from a run of backticks to the next run of the same length. Without a pattern,
 * which would compare each run with each other: a page of backticks must not block the process.
 */
function replaceCode(text: string, replacement: (code: string) => string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: marks, index }) => ({ start: index, length: marks.length }))
  const later = new Map<number, number>()
  const closing: (number | undefined)[] = []
  for (let at = runs.length - 1; at >= 0; at--) {
    closing[at] = later.get(runs[at]!.length)
    later.set(runs[at]!.length, at)
  }
  let replaced = ''
  let from = 0
  for (let at = 0; at < runs.length; at++) {
    const last = runs[closing[at] ?? -1]
    if (last === undefined) continue
    const end = last.start + last.length
    replaced += text.slice(from, runs[at]!.start) + replacement(text.slice(runs[at]!.start, end))
    from = end
    at = closing[at]!
  }
  return replaced + text.slice(from)
}

/**
 * Converts a line of Markdown to plain text; inline code keeps its backticks, links keep their text. Each pattern has a
 * bounded lookahead, so that unclosed marks cost no more than others.
 */
export function toProse(markdown: string): string {
  const codes: string[] = []
  const kept = replaceCode(markdown, (code) => `\uE000${codes.push(code) - 1}\uE001`)
  const plain = kept
    .replace(/!\[[^\]]{0,200}\]\([^)]{0,2000}\)/g, '')
    .replace(/\[([^[\]]{0,300})\]\((?:[^()\s]|\([^()]{0,200}\)){0,2000}(?:\s{1,9}"[^"]{0,500}")?\)/g, '$1')
    .replace(/\[([^[\]]{1,300})\]\[[^[\]]{0,500}\]/g, '$1')
    .replace(/\[\^[^\]]{1,200}\]/g, '')
    .replace(/<(?!https?:\/\/)\/?[a-zA-Z][^>]{0,1000}>|<(https?:[^\s<>]{1,2000})>/g, '$1')
    .replace(/(\*\*|__)(?=\S)(.{1,500}?\S|\S)\1/g, '$2')
    .replace(/(?<![\w*])\*(?=\S)(.{1,500}?\S|\S)\*(?![\w*])/g, '$1')
    .replace(/(?<!\w)_(?=\S)(.{1,500}?\S|\S)_(?!\w)/g, '$1')
    .replace(/\\([\\`*_{}[\]()#+.!|<>-])/g, '$1')
    // A number in brackets would look like a citation: an array index becomes code, a footnote is removed.
    .replace(/\b[A-Za-z_]\w{0,3}\[\d+\]|\b\w+\[0\]/g, (index) => `\uE000${codes.push(`\`${index}\``) - 1}\uE001`)
    .replace(/(?<!\s)\s*\[\d+(?:, ?\d+)*\]/g, '')
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&#(\d{2,6});/g, (_, code: string) => characterOf(Number(code)))
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.replace(/\uE000(\d+)\uE001/g, (_, index: string) => codes[Number(index)] ?? '')
}

/** The character of a reference; "" for control characters and surrogates. */
const characterOf = (code: number): string =>
  code < 32 || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? '' : String.fromCodePoint(code)

const opens = (text: string, open: string, close: string): boolean => text.split(open).length > text.split(close).length

const abbreviated =
  /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|nos|fig|figs|eq|sec|ch|vol|dr|mr|mrs|ms|prof|rev|hon|gen|col|capt|lt|sgt|gov|sen|st|mt|jr|sr|sra|dra|bzw|ca|nr|inc|ltd|co|corp|u\.s|u\.k|a\.m|p\.m|jan|feb|mar|apr|aug|sept?|oct|nov|dec)|\b[A-Z])\.["”’)]*\s*$/i
let segmenter: Intl.Segmenter | undefined

/** Whether a sentence in a script with spaces ends before white space; not after abbreviations. */
export function endsSentence(text: string): boolean {
  const end = text.slice(-40)
  return /[.!?…]["”’)\]*_`]*$/.test(end) && !abbreviated.test(end)
}

/** Longer texts are not sentences but lists of numbers and the like: nothing more is joined to them. */
const maxSentenceLength = 2000

/** Follows an ordinal number with a full stop, as in German dates. */
const monthOrOrdinal =
  /^(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Jahrestag|Lebensjahr|Geburtstag|Klasse|Etage|Stock|Platz|Tag|Woche|Monat)/

/** Words with a full stop before a number, as in `§ 1 Abs. 2`, and words before an ordinal number, as in `des 14. Monats`. */
const beforeNumber = /(?<!\p{L})(?:abs|anm|art|artt|bd|buchst|kap|n|nr|núm|pág|par|pkt|rn|sez|ust|ziff|ст|п)\.\s*$/iu
const ordinal =
  /(?<!\p{L})(?:am|im|vom|zum|beim|bis|ab|der|die|das|dem|den|des|jede[nrsm]?|eine[nrsm]?|ihre?[nrsm]?) \d{1,3}\.\s*$/iu

/** Splits prose into sentences, taking abbreviations and inline code into account. */
export function sentencesOf(prose: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' })
  const codes: string[] = []
  // Code becomes a single capitalized word, since it may begin a sentence, so that full stops inside do not split it.
  const masked = replaceCode(prose, (code) => `X\uE000${codes.push(code) - 1}\uE001`)
  const sentences: string[] = []
  for (const { segment } of segmenter.segment(masked)) {
    const last = sentences.at(-1)
    const goesOn =
      last !== undefined &&
      last.length < maxSentenceLength &&
      (abbreviated.test(last) ||
        opens(last, '“', '”') ||
        opens(last, '(', ')') ||
        /^[\s"”’)]*[\p{Ll},;)]/u.test(segment) ||
        (/(?:^|\s)\d{1,2}\.\s*$/.test(last) && monthOrOrdinal.test(segment)) ||
        ordinal.test(last.slice(-20)) ||
        (/^[\d§]/.test(segment) && beforeNumber.test(last.slice(-20))) ||
        !/[.!?…。！？:]["”’)\]]*\s*$/.test(last))
    if (goesOn) sentences[sentences.length - 1] = last + segment
    else sentences.push(segment)
  }
  return sentences
    .map((sentence) => sentence.replace(/X\uE000(\d+)\uE001/g, (_, index: string) => codes[Number(index)] ?? '').trim())
    .filter((sentence) => sentence !== '')
}

const cells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => toProse(cell))

/** A cell after the name of its column, separated by a colon if it is long. */
const named = (column = '', cell: string): string =>
  column === '' ? cell : `${column}${cell.split(' ').length > 3 ? ':' : ''} ${cell}`

/** The first cell, then the others, with the names of their columns if there are several. */
function sentenceOfRow([first = '', ...rest]: readonly string[], header: readonly string[]): string {
  const parts = rest.map((cell, at) => (rest.length === 1 ? cell : named(header[at + 1], cell)))
  const filled = parts.filter((_, at) => rest[at] !== '')
  return filled.length === 0 ? first : `${first === '' ? '' : `${first}: `}${filled.join('; ')}`
}

function textOf(block: Block): string[] {
  if (block.kind === 'code') {
    const lines = block.lines.filter((line) => !/^\s*\{\{.*\}\}\s*$/.test(line))
    const code = lines.join('\n').replace(/^\n+/, '').trimEnd()
    return code === '' ? [] : [code]
  }
  const prose = toProse(block.lines.join(' '))
  return block.kind === 'sentence' ? sentencesOf(prose) : prose === '' ? [] : [prose]
}

/** A sentence that introduces the list or code after its paragraph without a colon. */
const announcing = /\b(?:the following|as follows|listed below|folgende[nrs]?)\b/i

/** Splits a passage into its sentences, list items, table rows and code, in order; [] if it has no words. */
export function unitsOf(markdown: string): Unit[] {
  const units: Unit[] = []
  const path: { level: number; text: string }[] = []
  let lead: string | undefined
  let header: string[] | undefined
  const blocks = blocksOf(markdown)
  for (let block = 0; block < blocks.length; block++) {
    const { kind, lines, level = 1, isNumbered = false, number, language } = blocks[block]!
    if (kind === 'heading') {
      while ((path.at(-1)?.level ?? 0) >= level) path.pop()
      path.push({ level, text: toProse(lines[0] ?? '') })
      lead = undefined
      continue
    }
    const headings = path.map((heading) => heading.text)
    if (kind === 'row') {
      const row = cells(lines[0] ?? '')
      if (row.every((cell) => /^:?-*:?$/.test(cell))) continue
      if (!header || header.length !== row.length) header = row
      else {
        units.push({ kind, text: sentenceOfRow(row, header), block, index: 0, headings, table: { header, cells: row } })
      }
      continue
    }
    header = undefined
    const texts = textOf({ kind, lines })
    const code = kind === 'item' && texts.at(-1)?.endsWith(':') ? codeOf(blocks[block + 1]) : undefined
    if (code !== undefined) {
      const attached = { text: code, language: blocks[block + 1]?.language }
      units.push({ kind, text: texts.join(' '), block, index: 0, headings, code: attached, number })
      block++
      continue
    }
    const isLed = (kind === 'item' || kind === 'code') && lead !== undefined
    for (const [index, text] of texts.entries())
      units.push({
        kind,
        text,
        block,
        index,
        headings,
        ...(isLed && { lead }),
        ...(isNumbered && { isNumbered }),
        ...(number !== undefined && { number }),
        ...(language && { language }),
      })
    if (kind === 'sentence')
      lead = texts.findLast((text, at) => (text.endsWith(':') ? at === texts.length - 1 : announcing.test(text)))
    else if (kind === 'code') lead = undefined
  }
  return units
}
