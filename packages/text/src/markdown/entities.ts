const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u{a0}',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  copy: '©',
  rarr: '→',
  larr: '←',
  times: '×',
  middot: '·',
}

const reference = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{2,6}));/
const references = new RegExp(reference, 'g')
const referenceAt = new RegExp(reference, 'y')

/** Decodes character references: all numeric ones, and the named ones that are common in Markdown. */
export function decodeEntities(text: string): string {
  return text.replaceAll(references, resolve)
}

/** The character reference at a position, with the text it represents. */
export function entityAt(text: string, at: number): { readonly text: string; readonly end: number } | undefined {
  referenceAt.lastIndex = at
  const [whole, decimal, hex, name] = referenceAt.exec(text) ?? []
  return whole === undefined ? undefined : { text: resolve(whole, decimal, hex, name), end: at + whole.length }
}

function resolve(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? whole) : whole
  const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  const isCharacter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
  return isCharacter ? String.fromCodePoint(point) : '\u{fffd}'
}
