import { childOf, childrenOf, type Element } from './markup.ts'
import { attributeOf } from './office.ts'

/** What a style of Word says about text, with what it takes over from those it is based on. */
export interface WordStyle {
  /** `h1` for a heading or title, or another block of HTML that its paragraphs become. */
  readonly block?: 'h1' | 'h2' | 'h3' | 'h4' | 'h5' | 'h6' | 'pre' | 'blockquote' | undefined
  readonly numbering: ListReference
  readonly isHidden: boolean
  readonly isBold: boolean
  readonly isItalic: boolean
  readonly isCode: boolean
  readonly font: string | undefined
}

/** List and level that a paragraph or its style names. */
export interface ListReference {
  readonly list?: string | undefined
  readonly level?: number | undefined
}

const codeBlocks = /^(?:html preformatted|preformatted text|code|source code|code block|macro(?: text)?)$/
const codeWords = /^(?:html (?:code|typewriter)|verbatim char|code char|inline code|source text)$/
const quotations = /^(?:intense )?quote$|^(?:quotations|block text)$/
/** Word keeps the English name in every language; other programs write their own, some without an outline level. */
const headings =
  /^(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|заголовок|nadpis|başlık|标题|標題|見出し|제목) ?([1-9])$/

/** Looks up styles by their ids; without the part of styles the ids of Word's own are known. */
export function readStyles(part: Element | undefined): (id: string | undefined) => WordStyle {
  const root = part && childOf(part, 'styles')
  const elements = new Map((root ? childrenOf(root, 'style') : []).map((each) => [attributeOf(each, 'styleId'), each]))
  const known = new Map<string | undefined, WordStyle>([[undefined, plainStyle]])
  const styleOf = (id: string | undefined, depth = 0): WordStyle => {
    const cached = known.get(id)
    if (cached || depth > maxDepth) return cached ?? plainStyle
    const element = elements.get(id)
    const base = attributeOf(element && childOf(element, 'basedOn'))
    const style = resolved(element, id ?? '', base === undefined ? plainStyle : styleOf(base, depth + 1))
    known.set(id, style)
    return style
  }
  return styleOf
}

const maxDepth = 20
const plainStyle: WordStyle = {
  numbering: {},
  isHidden: false,
  isBold: false,
  isItalic: false,
  isCode: false,
  font: undefined,
}

function resolved(element: Element | undefined, id: string, base: WordStyle): WordStyle {
  const name = (attributeOf(element && childOf(element, 'name')) ?? id).toLowerCase()
  const paragraph = element && childOf(element, 'pPr')
  const run = element && childOf(element, 'rPr')
  const own = listReference(paragraph)
  return {
    block: blockOf(name, outlineLevel(paragraph), base),
    numbering: listOf(own, base),
    isHidden: isOn(run, 'vanish') ?? base.isHidden,
    isBold: isOn(run, 'b') ?? (name === 'strong' || base.isBold),
    isItalic: isOn(run, 'i') ?? (name === 'emphasis' || base.isItalic),
    isCode: codeWords.test(name) || base.isCode,
    font: fontOf(run) ?? base.font,
  }
}

/** The list that a paragraph or style names itself, or that of its style. */
export function listOf(own: ListReference, { numbering }: WordStyle): ListReference {
  return own.list === undefined ? { list: numbering.list, level: own.level ?? numbering.level } : own
}

function blockOf(name: string, outline: number | undefined, base: WordStyle): WordStyle['block'] {
  if (name === 'title' || name === 'heading') return 'h1'
  if (name === 'subtitle') return undefined
  const level =
    outline === undefined || outline > 8
      ? Number((headings.exec(name) ?? /^heading([1-9])$/.exec(name))?.[1])
      : outline + 1
  if (level) return headingOf(level)
  if (outline !== undefined) return undefined
  if (codeBlocks.test(name)) return 'pre'
  return quotations.test(name) ? 'blockquote' : base.block
}

/** Word has nine levels, Markdown six. */
export function headingOf(level: number): WordStyle['block'] {
  return (['h1', 'h2', 'h3', 'h4', 'h5'] as const)[level - 1] ?? 'h6'
}

/** Outline level from 0; 9 says that a paragraph is no heading. */
export function outlineLevel(properties: Element | undefined): number | undefined {
  const value = attributeOf(properties && childOf(properties, 'outlineLvl'))
  return value === undefined ? undefined : Number(value)
}

export function listReference(properties: Element | undefined): ListReference {
  const numbering = properties && childOf(properties, 'numPr')
  const level = attributeOf(numbering && childOf(numbering, 'ilvl'))
  return {
    list: attributeOf(numbering && childOf(numbering, 'numId')),
    level: level === undefined ? undefined : Number(level),
  }
}

/** Whether a property is switched on; undefined where it is not mentioned. */
export function isOn(properties: Element | undefined, name: string): boolean | undefined {
  const property = properties && childOf(properties, name)
  return property && !/^(?:0|false|off)$/.test(attributeOf(property) ?? '')
}

export function fontOf(properties: Element | undefined): string | undefined {
  const fonts = properties && childOf(properties, 'rFonts')
  return attributeOf(fonts, 'ascii') ?? attributeOf(fonts, 'hAnsi')
}
