import { numberText } from './list-number.ts'
import { childOf, childrenOf, type Element } from './markup.ts'
import { attributeOf } from './office.ts'
import { isOn, type ListReference } from './word-styles.ts'

export interface Label {
  /** "" for a bullet. */
  readonly text: string
  /** Between the label and the text. */
  readonly gap: '' | ' '
  readonly level: number
}

interface Level {
  readonly start: number
  readonly format: string
  readonly text: string
  /** A level restarts behind those up to this one, counted from 1; 0 for never. */
  readonly restart: number
  readonly isLegal: boolean
  readonly gap: '' | ' '
  readonly isHidden: boolean
  /** Style whose paragraphs are of this level. */
  readonly style: string | undefined
}

interface List {
  readonly levels: ReadonlyMap<number, Level>
  readonly counts: Map<number, number>
}

/** A use of a list, which may restart it or change its levels. */
interface Use {
  readonly list: List
  readonly levels: ReadonlyMap<number, Level>
  /** Levels that start anew where this use begins. */
  readonly restarts: Map<number, number>
}

/** Counts the paragraphs of lists in the order of the text; undefined for one without a label. */
export type Numbering = (reference: ListReference, styleId: string | undefined) => Label | undefined

/** Reads the numbering of a Word file. `listOfStyle` tells the list that a style of lists names. */
export function readNumbering(part: Element | undefined, listOfStyle: (id: string) => string | undefined): Numbering {
  const root = part && childOf(part, 'numbering')
  const lists = new Map<string | undefined, List>()
  const links = new Map<string | undefined, string>()
  for (const element of root ? childrenOf(root, 'abstractNum') : []) {
    const id = attributeOf(element, 'abstractNumId')
    const link = attributeOf(childOf(element, 'numStyleLink'))
    if (link !== undefined) links.set(id, link)
    lists.set(id, { levels: levelsIn(element), counts: new Map() })
  }
  const numbers = new Map((root ? childrenOf(root, 'num') : []).map((each) => [attributeOf(each, 'numId'), each]))
  const uses = new Map<string, Use | undefined>()
  const useOf = (id: string): Use | undefined => {
    if (!uses.has(id)) uses.set(id, readUse(numbers.get(id), listFor(attributeOf(abstractOf(numbers.get(id))))))
    return uses.get(id)
  }
  const listFor = (abstract: string | undefined): List | undefined => {
    const linked = listOfStyle(links.get(abstract) ?? '')
    const target = linked === undefined ? abstract : attributeOf(abstractOf(numbers.get(linked)))
    return lists.get(target)
  }
  return ({ list, level }, styleId) => {
    const use = list === undefined ? undefined : useOf(list)
    if (!use) return undefined
    const ofStyle = [...use.levels].find(([, { style }]) => style !== undefined && style === styleId)?.[0]
    return count(use, level ?? ofStyle ?? 0)
  }
}

const abstractOf = (number: Element | undefined): Element | undefined => number && childOf(number, 'abstractNumId')

function readUse(element: Element | undefined, list: List | undefined): Use | undefined {
  if (!element || !list) return undefined
  const levels = new Map(list.levels)
  const restarts = new Map<number, number>()
  for (const override of childrenOf(element, 'lvlOverride')) {
    for (const [at, level] of levelsIn(override)) levels.set(at, level)
    const start = attributeOf(childOf(override, 'startOverride'))
    if (start !== undefined) restarts.set(Number(attributeOf(override, 'ilvl')), integer(start, 1))
  }
  return { list, levels, restarts }
}

const maxLevels = 9

function levelsIn(element: Element): Map<number, Level> {
  const levels = childrenOf(element, 'lvl').slice(0, maxLevels)
  return new Map(
    levels.map((each, place) => {
      const valueOf = (name: string): string | undefined => attributeOf(childOf(each, name))
      const at = integer(attributeOf(each, 'ilvl'), place)
      const level: Level = {
        start: integer(valueOf('start'), 1),
        format: valueOf('numFmt') ?? 'decimal',
        text: childOf(each, 'lvlText') ? (valueOf('lvlText') ?? '') : `%${at + 1}.`,
        restart: integer(valueOf('lvlRestart'), at),
        isLegal: isOn(each, 'isLgl') ?? false,
        gap: valueOf('suff') === 'nothing' ? '' : ' ',
        isHidden: isOn(childOf(each, 'rPr'), 'vanish') ?? false,
        style: valueOf('pStyle'),
      }
      return [at, level]
    }),
  )
}

function integer(text: string | undefined, otherwise: number): number {
  const value = Number(text)
  return text !== undefined && Number.isSafeInteger(value) ? value : otherwise
}

function count(use: Use, at: number): Label | undefined {
  const level = use.levels.get(at)
  if (!level) return undefined
  const { counts } = use.list
  const restart = use.restarts.get(at)
  use.restarts.delete(at)
  const value = restart ?? (counts.has(at) ? counts.get(at)! + 1 : level.start)
  counts.set(at, value)
  for (const [below, { restart: until }] of use.levels) if (below > at && at < until) counts.delete(below)
  if (level.isHidden || level.text === '') return undefined
  if (level.format === 'bullet') return { text: '', gap: ' ', level: at }
  const text = level.text.replace(/%([1-9])/g, (_, digit: string) => {
    const above = Number(digit) - 1
    const { start = 1, format = 'decimal' } = use.levels.get(above) ?? {}
    return numberText(counts.get(above) ?? start, level.isLegal && format !== 'none' ? 'decimal' : format)
  })
  // A sign in place of a number is a bullet.
  if (!/[\p{L}\p{N}]/u.test(text)) return text.trim() === '' ? undefined : { text: '', gap: ' ', level: at }
  return { text: text.trim(), gap: level.gap, level: at }
}
