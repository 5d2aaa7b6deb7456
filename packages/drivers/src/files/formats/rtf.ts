import type { Budget } from '../budget.ts'
import { encodingNamed, findEncoding, type FoundEncoding } from '../encodings.ts'
import { factsOf, oneLine, sectionsOf, type Reading } from '../sections.ts'
import { linkTo } from './html-inline.ts'
import { markdownTable } from './markdown-table.ts'

/**
 * Reads Rich Text: paragraphs, text boxes, headings by their style or outline level, tables, links, footnotes and comments.
 * Pictures, hidden and deleted text are left out; headers and footers too, unless there is no other text.
 */
export async function readRtf(bytes: Uint8Array, budget: Budget): Promise<Reading> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const { encoding, facts: guess } = await unnamedEncoding(source)
  const reader = new RtfReader(source, encoding)
  reader.read()
  const { title, author, subject, keywords } = reader.facts
  const blocks = reader.blocks.length > 0 ? reader.blocks : reader.margins
  return {
    title: title ? oneLine(title) : null,
    metadata: { ...factsOf({ author, subject, keywords }), ...guess },
    sections: sectionsOf(blocks.join('\n\n'), budget),
  }
}

/** The encoding of a file that names neither a code page nor a font of another script, by the bytes of its text. */
async function unnamedEncoding(source: string): Promise<FoundEncoding> {
  if (/\\ansicpg[1-9]|\\fcharset(?![012]\b)\d/.test(source)) return { encoding: 'windows-1252', facts: {} }
  const text = source
    .replace(/\\'([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/\\[a-z]+(?:-?\d+)? ?|[{}]/gi, '')
  return findEncoding(Buffer.from(text, 'latin1'))
}

/** State that a group inherits and restores at its end. */
interface Group {
  /** Destination of text; `skip` drops it. */
  target: 'body' | 'skip' | 'margin' | 'style' | 'note' | 'instruction' | 'fact' | 'font'
  isHidden: boolean
  encoding: string
  /** Number of replacement characters after `\u`. */
  fallback: number
  /** The drawing that holds the group; some say their text a second time for older programs. */
  shape: { hasText: boolean } | undefined
  isBox: boolean
}

/** Destinations without text of the document. `\*` marks others as optional. */
const skipped = new Set(
  (
    'colortbl filetbl listtable revtbl rsidtbl generator ' +
    'themedata datastore latentstyles xmlnstbl objdata private atnid atnref atntime atndate ftnsep ftnsepc bkmkstart ' +
    'bkmkend listtext pntext nonshppict operator creatim revtim printim'
  ).split(' '),
)
const marginNames = new Set('header headerl headerr headerf footer footerl footerr footerf'.split(' '))
const factNames = new Set(['title', 'author', 'subject', 'keywords'])

const signs: Readonly<Record<string, string>> = {
  tab: '\t',
  line: '\n',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  '~': ' ',
  _: '-',
  '{': '{',
  '}': '}',
  '\\': '\\',
}

const codePages: Readonly<Record<string, string>> = {
  '874': 'windows-874',
  '932': 'shift_jis',
  '936': 'gbk',
  '949': 'euc-kr',
  '950': 'big5',
  '65001': 'utf-8',
}
const charsets: Readonly<Record<string, string>> = {
  '128': 'shift_jis',
  '129': 'euc-kr',
  '134': 'gbk',
  '136': 'big5',
  '161': 'windows-1253',
  '162': 'windows-1254',
  '163': 'windows-1258',
  '177': 'windows-1255',
  '178': 'windows-1256',
  '186': 'windows-1257',
  '204': 'windows-1251',
  '222': 'windows-874',
  '238': 'windows-1250',
}

/** A control word with its number, a control sign, a byte, a brace, or text. */
const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|([^\\{}]+)/giy

/** Deeper groups count as text of the one at this depth. */
const maxDepth = 500

class RtfReader {
  readonly blocks: string[] = []
  readonly margins: string[] = []
  readonly facts: Record<string, string> = {}
  readonly #source: string
  readonly #groups: Group[] = []
  #group: Group
  #depthBeyond = 0
  /** Characters still to be skipped after `\u`. */
  #skipping = 0
  #bytes: number[] = []
  #paragraph = ''
  #outline: number | undefined
  #style: number | undefined
  /** Outline level by number of the style. */
  readonly #headings = new Map<number, number>()
  #styleText = ''
  #styleNumber = -1
  readonly #fonts = new Map<number, string>()
  #font = 0
  /** Encoding of the whole file, unless a font has its own. */
  #encoding: string
  #fact = ''
  #note = ''
  #instruction = ''
  readonly #links: { from: number; url: string; depth: number }[] = []
  #inTable = false
  #cells: string[] = []
  #cell: string[] = []
  #rows: string[][] = []
  #isStar = false
  #margin = ''
  /** The text before each open text box, and the text of boxes, which stands after the paragraph that holds them. */
  readonly #anchors: string[] = []
  #boxes: string[] = []

  /** What control words do, but for destinations whose text is skipped. */
  readonly #words = new Map<string, (number: number | undefined) => void>(
    Object.entries({
      // Paragraphs, tables and lists.
      'par sect page': () => (this.#inBody() ? this.#endParagraph() : this.#text(' ')),
      pard: () => {
        if (this.#group.isBox) return
        this.#outline = undefined
        this.#style = undefined
        this.#inTable = false
      },
      'intbl trowd': () => {
        if (!this.#group.isBox) this.#inTable = true
      },
      'cell nestcell': () => {
        if (!this.#inBody()) return
        if (!this.#group.isBox) this.#inTable = true
        this.#endParagraph()
        if (this.#group.isBox) return
        this.#cells.push(this.#cell.join(' '))
        this.#cell = []
      },
      'row nestrow': () => {
        if (this.#inBody() && this.#cells.length > 0) this.#rows.push(this.#cells.splice(0))
      },
      outlinelevel: (level) => (this.#outline = level),
      s: (number) => {
        if (this.#group.target === 'style') this.#styleNumber = number ?? 0
        else this.#style = number
      },
      // Characters, their encoding, and whether they are visible.
      u: (code = 0) => {
        this.#text(String.fromCharCode(code & 0xffff))
        this.#skipping = this.#group.fallback
      },
      uc: (count = 1) => (this.#group.fallback = Math.min(10, Math.max(0, count))),
      plain: () => (this.#group.isHidden = false),
      'v deleted': (number) => (this.#group.isHidden = number !== 0),
      ansicpg: (page) => {
        this.#encoding = encodingNamed(codePages[String(page)] ?? `windows-${page}`) ?? this.#encoding
        this.#group.encoding = this.#encoding
      },
      f: (font = 0) => {
        if (this.#group.target === 'font') this.#font = font
        else this.#group.encoding = this.#fonts.get(font) ?? this.#encoding
      },
      fcharset: (charset) => {
        const encoding = charsets[String(charset)]
        if (this.#group.target === 'font' && encoding !== undefined) this.#fonts.set(this.#font, encoding)
      },
      // Groups whose text does not go into the paragraph.
      shppict: () => {},
      shp: () => (this.#group.shape = { hasText: false }),
      'shptxt dptxbxtext': () => this.#openBox(this.#group),
      stylesheet: () => (this.#group.target = 'style'),
      fonttbl: () => (this.#group.target = 'font'),
      'pict info atnauthor': () => (this.#group.target = 'skip'),
      footnote: () => this.#openNote(''),
      annotation: () => this.#openNote('Comment: '),
      fldinst: () => {
        if (this.#group.target === 'body') this.#group.target = 'instruction'
      },
    } satisfies Record<string, (number: number | undefined) => unknown>).flatMap(([words, act]) =>
      words.split(' ').map((word) => [word, act] as const),
    ),
  )

  constructor(source: string, encoding: string) {
    this.#source = source
    this.#encoding = encoding
    this.#group = { target: 'body', isHidden: false, encoding, fallback: 1, shape: undefined, isBox: false }
  }

  read(): void {
    token.lastIndex = 0
    for (let match = token.exec(this.#source); match; match = token.exec(this.#source)) {
      const [, word, number, byte, sign, brace, text] = match
      if (byte !== undefined) this.#byte(Number.parseInt(byte, 16))
      else if (text !== undefined) this.#plain(text)
      else {
        this.#endBytes()
        if (brace === '{') this.#open()
        else if (brace === '}') this.#close()
        else if (word !== undefined) {
          if (word === 'bin') token.lastIndex += Math.max(0, Number(number ?? 0))
          else this.#word(word.toLowerCase(), number === undefined ? undefined : Number(number))
        } else if (sign === '*') this.#isStar = true
        else if (sign === '\n' || sign === '\r') this.#word('par', undefined)
        else if (sign !== undefined) this.#text(signs[sign] ?? '')
      }
    }
    this.#endBytes()
    this.#endParagraph()
    this.#endTable()
  }

  #open(): void {
    this.#isStar = false
    if (this.#groups.length >= maxDepth) {
      this.#depthBeyond++
      return
    }
    this.#groups.push(this.#group)
    this.#group = { ...this.#group }
    if (this.#group.target === 'style') this.#styleNumber = -1
  }

  #close(): void {
    if (this.#depthBeyond > 0) {
      this.#depthBeyond--
      return
    }
    const before = this.#groups.pop()
    if (!before) return
    const { target } = this.#group
    if (target === 'style') {
      const level = /^\s*heading\s*(\d)/i.exec(this.#styleText)?.[1]
      if (level !== undefined) this.#headings.set(this.#styleNumber, Number(level) - 1)
      else if (/^\s*title\b/i.test(this.#styleText)) this.#headings.set(this.#styleNumber, 0)
      this.#styleText = ''
    }
    if (target === 'note' && before.target !== 'note') {
      const note = oneLine(this.#note)
      if (note !== '' && !before.isHidden) this.#paragraph += ` (${note})`
      this.#note = ''
    }
    if (target === 'margin' && before.target !== 'margin') {
      this.margins.push(oneLine(this.#margin))
      this.#margin = ''
    }
    if (this.#group.isBox && !before.isBox) {
      this.#endParagraph()
      this.#paragraph = this.#anchors.pop() ?? ''
    }
    if (target === 'fact' && before.target !== 'fact') this.#fact = ''
    if (target === 'instruction' && before.target !== 'instruction') {
      const url = /HYPERLINK\s+"([^"]+)"/i.exec(this.#instruction)?.[1]
      if (url !== undefined) this.#links.push({ from: this.#paragraph.length, url, depth: this.#groups.length })
      this.#instruction = ''
    }
    const link = this.#links.at(-1)
    // The result of a field is a separate group, after that of its instruction.
    if (link && link.depth === this.#groups.length && this.#paragraph.length > link.from) {
      const label = this.#paragraph.slice(link.from)
      this.#paragraph = this.#paragraph.slice(0, link.from) + linkTo(label.trim(), link.url)
      this.#links.pop()
    }
    this.#group = before
  }

  #word(word: string, number: number | undefined): void {
    const isStar = this.#isStar
    this.#isStar = false
    const act = this.#words.get(word)
    if (act) return act(number)
    if (word === 'listtext' || word === 'pntext') if (this.#inBody()) this.#paragraph = '- '
    if (factNames.has(word) && this.#groups.at(-1)?.target === 'skip') {
      this.#group.target = 'fact'
      this.#fact = word
    } else if (marginNames.has(word) && this.#group.target === 'body') this.#group.target = 'margin'
    else if (skipped.has(word) || (isStar && !kept.has(word))) {
      // Styles may be marked as optional too.
      if (this.#group.target !== 'style' && this.#group.target !== 'font') this.#group.target = 'skip'
    } else if (signs[word] !== undefined && word.length > 1) this.#text(signs[word])
  }

  /** Drawings are optional destinations, which are skipped but for the text in them. */
  #openBox(group: Group): void {
    const outer = this.#groups.map(({ target }) => target).findLast((target) => target !== 'skip')
    if (group.isBox || group.shape?.hasText || (outer !== 'body' && outer !== 'margin')) return
    if (group.shape) group.shape.hasText = true
    group.target = outer
    if (outer === 'margin') return
    group.isBox = true
    this.#anchors.push(this.#paragraph)
    this.#paragraph = ''
  }

  #openNote(before: string): void {
    if (this.#group.target === 'body') this.#group.target = 'note'
    this.#note += before
  }

  #inBody(): boolean {
    return this.#group.target === 'body' && !this.#group.isHidden
  }

  #byte(value: number): void {
    if (this.#skipping > 0) this.#skipping--
    else this.#bytes.push(value)
  }

  /** Bytes are decoded together: a character may take two. */
  #endBytes(): void {
    if (this.#bytes.length === 0) return
    const bytes = Uint8Array.from(this.#bytes)
    this.#bytes = []
    this.#text(new TextDecoder(this.#group.encoding).decode(bytes))
  }

  #plain(given: string): void {
    let text = given.replace(/[\r\n]+/g, '')
    if (this.#skipping > 0) {
      const skipped = Math.min(this.#skipping, text.length)
      this.#skipping -= skipped
      text = text.slice(skipped)
    }
    if (text === '') return
    if (/[\x80-\xff]/.test(text)) for (const character of text) this.#bytes.push(character.charCodeAt(0))
    else {
      this.#endBytes()
      this.#text(text)
    }
  }

  #text(text: string): void {
    const { target, isHidden } = this.#group
    if (text === '' || isHidden) return
    if (target === 'body') this.#paragraph += text
    else if (target === 'note') this.#note += text
    else if (target === 'margin') this.#margin += text
    else if (target === 'style') this.#styleText += text
    else if (target === 'instruction') this.#instruction += text
    else if (target === 'fact') this.facts[this.#fact] = (this.facts[this.#fact] ?? '') + text
  }

  #endParagraph(): void {
    const text = this.#paragraph
      .replace(/[ \t]+/g, ' ')
      .trim()
      .replace(/^[•·▪] /, '- ')
    this.#paragraph = ''
    this.#links.length = 0
    if (this.#group.isBox) {
      if (text !== '') this.#boxes.push(text)
      return
    }
    const boxes = this.#boxes.splice(0)
    if (this.#inTable) {
      this.#cell.push(...[text, ...boxes].filter(Boolean))
      return
    }
    this.#endTable()
    this.#pushParagraph(text)
    this.blocks.push(...boxes)
  }

  #pushParagraph(text: string): void {
    if (text === '') return
    const level = this.#outline ?? (this.#style === undefined ? undefined : this.#headings.get(this.#style))
    this.blocks.push(level === undefined || level > 5 ? text : `${'#'.repeat(level + 1)} ${oneLine(text)}`)
  }

  #endTable(): void {
    if (this.#cells.length > 0) this.#rows.push(this.#cells.splice(0))
    const table = markdownTable(this.#rows.splice(0))
    if (table !== '') this.blocks.push(table)
  }
}

/** Optional destinations with text of the document. */
const kept = new Set(['fldinst', 'annotation', 'footnote', 'shptxt', 'cs', 's', 'ts', 'ds'])
