import { inflateSync } from 'node:zlib'
import type { Budget } from '../budget.ts'

export interface RepairedPdf {
  /** The file with a blank page, which has no number as an object, in the place of each lost one. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
  /** Number of pages as the file states it; undefined if it cannot be found. */
  readonly statedPages: number | undefined
}

const blankPage = '<</Type/Page/MediaBox[0 0 1 1]>>'
/** Deeper trees are damaged. */
const maxDepth = 50
const maxLost = 20_000
const maxInflatedBytes = 50_000_000

/** pdf.js drops all pages behind an entry of the tree that is no page. @param text the file, one character a byte */
export function repairPageTree(text: string, budget: Budget): RepairedPdf {
  const nothing: RepairedPdf = { bytes: undefined, statedPages: undefined }
  const root = lastMatch(text, /\/Root\s+(\d+)\s+(\d+)\s+R/g)
  // Objects of encrypted files are not text.
  if (!root || /\/Encrypt\s+\d+\s+\d+\s+R/.test(text)) return nothing
  const objects = readObjects(text, budget)
  const top = refIn(objects.get(Number(root[1])) ?? '', 'Pages')
  if (top === undefined) return nothing
  const changed = new Map<number, string>()
  const seen = new Set<number>()
  /** Number of pages below an object, undefined if it is not in a page tree. */
  const walk = (number: number, depth: number): number | undefined => {
    const body = objects.get(number)
    if (body === undefined || seen.has(number) || depth > maxDepth) return undefined
    seen.add(number)
    const kids = kidsOf(body, objects)
    if (kids === undefined) return /\/Type\s*\/Page\b/.test(body) ? 1 : undefined
    const counts = kids.map((kid) => (kid.number === undefined ? undefined : walk(kid.number, depth + 1)))
    const foundPages = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
    const lost = counts.filter((count) => count === undefined).length
    const stated = Number(/\/Count\s+(\d+)/.exec(body)?.[1] ?? 0)
    // An entry that led to a whole branch stands for several pages.
    let blanks = lost === 0 ? 0 : Math.min(Math.max(lost, stated - foundPages), maxLost)
    const total = foundPages + blanks
    if (lost === 0 && total === stated) return total
    const entries = kids.map(({ entry }, at) => {
      if (counts[at] !== undefined) return entry
      const own = blanks - counts.slice(at + 1).filter((count) => count === undefined).length
      blanks -= own
      return blankPage.repeat(own)
    })
    changed.set(
      number,
      body
        .replace(/\/Kids\s*(?:\[[^[\]]*\]|\d+\s+\d+\s+R)/, `/Kids[${entries.join(' ')}]`)
        .replace(/\/Count\s+\d+(?:\s+\d+\s+R)?/, `/Count ${total}`),
    )
    return total
  }
  const pages = walk(top, 0)
  const statedPages = Number(/\/Count\s+(\d+)/.exec(objects.get(top) ?? '')?.[1] ?? 0) || undefined
  const bytes = pages === undefined || changed.size === 0 ? undefined : withObjects(text, changed, root[0])
  return { bytes, statedPages }
}

function lastMatch(text: string, pattern: RegExp): RegExpExecArray | undefined {
  let last: RegExpExecArray | undefined
  for (const match of text.matchAll(pattern)) last = match
  return last
}

function refIn(body: string, name: string): number | undefined {
  const number = new RegExp(`/${name}\\s+(\\d+)\\s+\\d+\\s+R`).exec(body)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** Bodies of all objects by their numbers, also of those in compressed streams; the last one of a number stands. */
function readObjects(text: string, budget: Budget): ReadonlyMap<number, string> {
  const objects = new Map<number, string>()
  for (const match of text.matchAll(/(?<!\d)(\d{1,10})\s+\d{1,5}\s+obj\b/g)) {
    const start = match.index + match[0].length
    const end = text.indexOf('endobj', start)
    const body = text.slice(start, end === -1 ? undefined : end)
    objects.set(Number(match[1]), body)
    if (!/^\s*<<[^>]*\/Type\s*\/ObjStm\b/.test(body)) continue
    for (const [number, inner] of compressedObjects(body, budget)) objects.set(number, inner)
  }
  return objects
}

/** A stream that cannot be read holds no objects here. */
function compressedObjects(body: string, budget: Budget): [number, string][] {
  const stream = /\bstream\r?\n/.exec(body)
  const first = Number(/\/First\s+(\d+)/.exec(body)?.[1])
  if (!stream || !Number.isInteger(first)) return []
  const packed = Buffer.from(body.slice(stream.index + stream[0].length), 'latin1')
  let content: string
  try {
    const isPacked = /\/FlateDecode\b/.test(body.slice(0, stream.index))
    content = (isPacked ? inflateSync(packed, { maxOutputLength: maxInflatedBytes }) : packed).toString('latin1')
  } catch {
    return []
  }
  budget.takeUnpacked(content.length)
  const numbers = content.slice(0, first).trim().split(/\s+/).map(Number)
  const places = numbers.flatMap((number, at) =>
    at % 2 === 0 ? [{ number, from: first + (numbers[at + 1] ?? 0) }] : [],
  )
  return places.map(({ number, from }, at) => [number, content.slice(from, places[at + 1]?.from)])
}

/** Undefined for an object without a list of kids; those that are no reference have no number. */
function kidsOf(body: string, objects: ReadonlyMap<number, string>) {
  const own = /\/Kids\s*\[([^[\]]*)\]/.exec(body)?.[1]
  const list = own ?? /\[([^[\]]*)\]/.exec(objects.get(refIn(body, 'Kids') ?? -1) ?? '')?.[1]
  // Pages that stand in the list themselves.
  if (list === undefined || list.includes('<<')) return undefined
  return Array.from(list.matchAll(/(?<!\d)(\d+)\s+\d+\s+R\b|\S+/g), ([entry, number]) => ({
    entry,
    number: number === undefined ? undefined : Number(number),
  }))
}

/** Appends objects as an update of the file. */
function withObjects(text: string, changed: ReadonlyMap<number, string>, root: string): Uint8Array<ArrayBuffer> {
  let update = '\n'
  const table: string[] = []
  for (const [number, body] of changed) {
    table.push(`${number} 1\n${String(text.length + update.length).padStart(10, '0')} 00000 n \n`)
    update += `${number} 0 obj\n${body.trim()}\nendobj\n`
  }
  const at = text.length + update.length
  const previous = lastMatch(text, /startxref\s+(\d+)/g)?.[1] ?? '0'
  const info = lastMatch(text, /\/Info\s+\d+\s+\d+\s+R/g)?.[0] ?? ''
  const size = Number(lastMatch(text, /\/Size\s+(\d+)/g)?.[1] ?? 0)
  update += `xref\n${table.join('')}trailer\n<</Size ${size}${root}${info}/Prev ${previous}>>\nstartxref\n${at}\n%%EOF\n`
  return new Uint8Array(Buffer.from(text + update, 'latin1'))
}
