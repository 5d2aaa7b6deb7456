import { keysOf, unitsOf, wordPattern, type Unit } from '@inlay/text'

export interface SourcePassage {
  /** Citation number; undefined for text that cannot be cited, such as an earlier answer. */
  readonly number: number | undefined
  readonly title: string
  /** Headings above it, outermost first, joined by ` > `; absent if the content contains its headings. */
  readonly section?: string
  readonly content: string
  /** Time of the last change, as ISO 8601; absent if unknown. */
  readonly updatedAt?: string
  /** Title of the newer document that replaces its document; absent or "" if there is none. */
  readonly replacedBy?: string
}

/** A section of a page: all that stands directly below one heading, whichever passages it came in. */
export interface Place {
  readonly source: SourcePassage
  /** Title and heading. */
  readonly name: string
  readonly units: ReadUnit[]
  /** Keys of its text, its headings and the title. */
  readonly keys: Set<string>
}

/** A sentence, list item, table row or piece of code with its place on the page and its keys. */
export interface ReadUnit {
  readonly unit: Unit
  readonly passage: ReadPassage
  readonly place: Place
  /** Index among the units of its passage. */
  readonly at: number
  /** The heading above it, otherwise the title of its page. */
  readonly heading: string
  /** All items of its list or rows of its table, in order; a sentence or code is alone. */
  readonly group: readonly ReadUnit[]
  /** The sentence that introduces it, and the units that it introduces. */
  readonly lead: ReadUnit | undefined
  readonly led: readonly ReadUnit[]
  /** A command, or an item with one. */
  readonly isCommand: boolean
  readonly keys: ReadonlySet<string>
  /** Keys of its headings, of its lead and of the header of its table. */
  readonly above: ReadonlySet<string>
}

export interface ReadPassage {
  readonly source: SourcePassage
  /** Rank among the results, from 0. */
  readonly rank: number
  readonly units: readonly ReadUnit[]
  /** Keys of its title and section. */
  readonly head: ReadonlySet<string>
  /** Keys of the whole passage. */
  readonly all: ReadonlySet<string>
}

export function readPassages(sources: readonly SourcePassage[]): ReadPassage[] {
  const places = new Map<string, Place>()
  return sources.map((source, rank) => readPassage(source, rank, places))
}

function readPassage(source: SourcePassage, rank: number, places: Map<string, Place>): ReadPassage {
  const units: (ReadUnit & { readonly led: ReadUnit[] })[] = []
  const { number, title, section = '', content } = source
  const head = new Set(keysOf(`${title} ${section}`))
  const all = new Set(head)
  const passage: ReadPassage = { source, rank, units, head, all }
  const lists = new Map<string, ReadUnit[]>()
  const listOf = (...names: readonly unknown[]): ReadUnit[] => {
    const list = lists.get(names.join('\n')) ?? []
    lists.set(names.join('\n'), list)
    return list
  }
  for (const unit of unitsOf(content)) {
    const { kind, text, headings, lead, table, code } = unit
    const keys = keysOf(code ? `${text} ${code.text}` : text)
    const above = keysOf(`${headings.join(' ')} ${lead ?? ''} ${table?.header.join(' ') ?? ''}`)
    for (const key of [...keys, ...above]) all.add(key)
    const isListed = kind === 'item' || kind === 'row'
    const leader = lead === undefined ? undefined : units.findLast((other) => other.unit.text === lead)
    const heading = headings.at(-1) || section.split(' > ').at(-1) || title
    const key = [number ?? title, section, ...headings].join('\n')
    const name = [...new Set([title, heading])].filter((part) => part !== '').join(' › ')
    const place = places.get(key) ?? { source, name, units: [], keys: new Set(head) }
    places.set(key, place)
    const read = {
      unit,
      passage,
      place,
      at: units.length,
      heading,
      group: isListed ? listOf(kind, lead, table?.header, ...headings) : [],
      lead: leader,
      led: [],
      isCommand: kind === 'code' || code !== undefined,
      keys: new Set(keys),
      above: new Set(above),
    }
    for (const part of [...keys, ...above]) place.keys.add(part)
    place.units.push(read)
    read.group.push(read)
    leader?.led.push(read)
    units.push(read)
  }
  return passage
}

/** Only parts of longer texts are used, since ranking reads every word several times. */
const maxWholeCharacters = 4000
const maxCharacters = 60_000
const maxPatternWords = 50
/** A paragraph, or about 2,000 characters of a longer one. */
const part = /[\s\S]{1,2000}?(?:\n\n|$)|[\s\S]{1,2000}(?:\s|$)|[\s\S]{1,2000}/g

/** The passages, of which long ones are reduced to the paragraphs that share a word with the question. */
export function relevantParts(question: string, passages: readonly SourcePassage[]): readonly SourcePassage[] {
  const words = [...new Set(question.match(wordPattern))].slice(0, maxPatternWords)
  const pattern = new RegExp(words.map((word) => word.replace(/[.+]/g, '\\$&')).join('|') || '(?!)', 'iu')
  let room = maxCharacters
  return passages.map((passage) => {
    if (passage.content.length <= maxWholeCharacters) return passage
    const parts = passage.content.length > room ? (passage.content.match(part) ?? []) : [passage.content]
    const related = parts.filter((text) => parts.length === 1 || pattern.test(text))
    const content = (related.length > 0 ? related : parts).join('').slice(0, room)
    room -= content.length
    return { ...passage, content }
  })
}
