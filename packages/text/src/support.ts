import { commonWordsOf } from './common-words.ts'
import { readStatement, type Anchor, type Statement } from './statement.ts'
import { keysOf, wordPattern } from './terms.ts'
import { toProse, unitsOf, type Unit } from './units.ts'

/** A text that sentences are compared with. */
export interface SourceText<Source> {
  readonly source: Source
  /** Markdown or plain text. */
  readonly text: string
  /** Its title and headings. */
  readonly about?: string
}

export interface SupportOptions {
  /** Minimum share of the weight of a sentence's words, 0 to 1. Default 0.8. */
  readonly minShare?: number
  /** What the sentences answer: its words count little, so the remaining words must occur in a text. */
  readonly question?: string | undefined
}

export interface Support<Source> {
  readonly source: Source
  /** Share of the sentence's words that occur there, by weight, up to 1. */
  readonly share: number
}

/** Adjacent sentences of a text, treated as one. */
interface Window<Source> {
  readonly source: Source
  /** Whether it is one sentence, item or row. */
  readonly isSingle: boolean
  /** Including code as written. */
  readonly text: string
  readonly statements: readonly Statement[]
  readonly keys: ReadonlySet<string>
  /** Words and keys of titles. */
  readonly about: ReadonlySet<string>
  /** The row of a table, where the name of a column stands before its value. */
  readonly row: Row | undefined
}

interface Row {
  /** Words of the first cell. */
  readonly name: ReadonlySet<string>
  /** Keys of each cell that is not empty. */
  readonly cells: readonly (readonly string[])[]
  /** Keys of the names of columns whose cell is zero or says no: the row says that there is none of these. */
  readonly absent: ReadonlySet<string>
}

/** Share of the weight of a sentence's words. With lower values, others on the same topic matched in measurements. */
const surelyTheSame = 0.8
/** Sentences with fewer content words could match anywhere. */
const minKeys = 3
const maxSentenceLength = 1_000
/** Maximum number of sentences that one sentence summarizes. */
const maxWindow = 3
/** A sentence that says so many cells of a row needs no minimum of words; one that says more is as surely of it as code. */
const minCells = 2
const candidates = 12
const nearest = 2
/** Weight of a word that occurs in the question. */
const questionWeight = 0.2
/** Minimum share of all words of a sentence when those of the question weigh less. */
const minWhole = 0.5
/** The same two shares for an answer whose code occurs in the text: code tells more than the words around it. */
const besideCode = { fresh: 0.6, whole: 0.4 }
/** Code of more than one word. */
const ownCode = /`(\w*[^`\n\w][^`\n]*)`/g

const opposites = toOpposites(
  `more less;most least;before after;above below;over under;up down;on off;with without;first last;always never;all none;
  enabled disabled;enable disable;enables disables;increase decrease;increases decreases;increased decreased;
  allow deny;allows denies;allowed denied;minimum maximum;min max;earlier later;higher lower;highest lowest;
  larger smaller;largest smallest;longer shorter;true false;mutable immutable;start end;starts ends;left right;open closed;
  inside outside;internal external;north south;east west;northern southern;eastern western;win lose;won lost;
  required optional;public private;possible impossible;safe unsafe;valid invalid;synchronous asynchronous;
  ascending descending;add remove;adds removes;added removed;accept reject;accepts rejects;accepted rejected;
  succeed fail;succeeds fails;succeeded failed;old new;older newer;oldest newest;long short;early late;high low;
  vor nach;mehr weniger;antes después;más menos;avant après;plus moins`,
)

function toOpposites(pairs: string): ReadonlyMap<string, string> {
  const both = pairs.split(';').map((pair) => pair.trim().split(' '))
  return new Map(both.flatMap(([left = '', right = '']) => [[left, right] as const, [right, left] as const]))
}

/**
 * Prepares texts for comparison with sentences. The returned function finds the text that supports a sentence: nearly
 * all its words occur close together there, and numbers, names, negations and opposites agree. Preferred sources are
 * tried first. Undefined if there is no such text, or the sentence has too few words.
 */
export function createSupport<Source>(
  texts: readonly SourceText<Source>[],
  { minShare = surelyTheSame, question = '' }: SupportOptions = {},
): (sentence: string, preferred?: readonly Source[]) => Support<Source> | undefined {
  const windows = texts.flatMap(windowsOf)
  const questionKeys = new Set(keysOf(question))
  const questionStatement = readStatement(question)
  const language = commonWordsOf(question)
  const windowsBySource = Map.groupBy(windows, ({ source }) => source)
  const frequency = new Map<string, number>()
  for (const { keys } of windows) for (const key of keys) frequency.set(key, (frequency.get(key) ?? 0) + 1)
  const weightOf = (key: string): number => Math.log(1 + (windows.length + 1) / (1 + (frequency.get(key) ?? 0)))
  return (sentence, preferred = []) => {
    if (sentence.length > maxSentenceLength || isDenied(sentence)) return undefined
    const statement = readStatement(toProse(withoutFrame(sentence)), language)
    const keys = [...new Set(statement.keys)]
    if (keys.length < minKeys) return answering(questionStatement, statement, windows, preferred)
    const whole = new Map(keys.map((key) => [key, weightOf(key)]))
    const fresh = new Map(keys.map((key) => [key, weightOf(key) * (questionKeys.has(key) ? questionWeight : 1)]))
    const hasNews = keys.filter((key) => !questionKeys.has(key)).length >= minKeys
    const cellsSaid = ({ row }: Window<Source>): number =>
      row?.cells.filter((cell) => cell.every((key) => whole.has(key))).length ?? 0
    const written = Array.from(sentence.matchAll(ownCode), ([, inner = '']) => inner.trim())
    const codeWords = new Set(written.join(' ').toLowerCase().match(wordPattern))
    const code = written.map(wholeWords)
    const isGiven = (word: string, { source }: Window<Source>): boolean =>
      codeWords.has(word) ||
      (questionStatement.words.has(word) &&
        windowsBySource.get(source)!.some(({ statements }) => statements.some(({ words }) => words.has(word))))
    const shares = windows.map((window) => {
      const share = shareOf(window, whole)
      const isQuoted = code.length > 0 && code.every((part) => part.test(window.text))
      const count = cellsSaid(window)
      const least = isQuoted || count > minCells ? besideCode : { fresh: minShare, whole: minWhole }
      const isEnough =
        share >= minShare ||
        (share >= least.whole && shareOf(window, fresh) >= least.fresh && (hasNews || count >= minCells))
      return { window, share, rank: share + Number(preferred.includes(window.source)) * 2, isEnough, isQuoted }
    })
    const best = shares
      .filter(({ isEnough }) => isEnough)
      .sort((a, b) => b.rank - a.rank || a.window.keys.size - b.window.keys.size)
      .slice(0, candidates)
      .find(({ window, isQuoted }) =>
        agree(isQuoted ? withoutAnchors(statement, (word) => isGiven(word, window)) : statement, window),
      )
    if (best) return { source: best.window.source, share: best.share }
    return hasNews ? undefined : answering(questionStatement, statement, windows, preferred)
  }
}

/** Minimum share, and number, of the words of a question for an answer that says hardly more than a number or a name. */
const minAsked = { share: 0.5, count: 2 }

/**
 * The source of an answer too short to compare by itself, such as `30 months.`: one sentence or row that holds its
 * numbers and names, and what was asked. Their neighbours there are words of the answer or of the question.
 */
function answering<Source>(
  question: Statement,
  said: Statement,
  windows: readonly Window<Source>[],
  preferred: readonly Source[],
): Support<Source> | undefined {
  const askedKeys = new Set(question.keys)
  const fresh = said.keys.filter((key) => !askedKeys.has(key))
  const isFact =
    said.anchors.some(({ word }) => !question.words.has(word)) && !said.isNegative && said.negated.size === 0
  if (!isFact || fresh.length === 0) return undefined
  const supports = windows.flatMap((window) => {
    const { keys, about, row, statements } = window
    if (!window.isSingle || !fresh.every((key) => keys.has(key))) return []
    const held = [...askedKeys].filter((key) => keys.has(key) || about.has(key))
    const share = held.length / askedKeys.size
    if (held.length < minAsked.count || share < minAsked.share) return []
    const isNegated = (key: string): boolean => statements.some(({ negated }) => negated.has(key))
    if (held.some((key) => isNegated(key) !== question.negated.has(key))) return []
    const isHeld = ({ word, lead, isJoined }: Anchor): boolean =>
      statements.some(({ words, anchors }) =>
        isJoined ? anchors.some((other) => other.word === word && other.lead === lead) : words.has(word),
      ) || about.has(word)
    if (!question.anchors.every(isHeld)) return []
    const anchors = statements.flatMap((statement) => statement.anchors)
    const isSame = (anchor: Anchor, other: Anchor): boolean => {
      const isAlike =
        (isBare(anchor) ? !anchor.isNumber && (!row || isBare(other)) : standAlike(anchor, other)) ||
        (row !== undefined && isOfColumn(anchor, other)) ||
        nearestOf(other).some((key) => askedKeys.has(key))
      return isAlike && !(anchor.isNumber && hasRival(anchor, other))
    }
    // `Hall A has 80 seats, Hall B has 120 seats`: which of the numbers was asked for remains open.
    const hasRival = (anchor: Anchor, other: Anchor): boolean => {
      const topics = nearestOf(other).filter((key) => askedKeys.has(key))
      const near = nearestOf(anchor)
      const isNamed = (key: string): boolean => askedKeys.has(key) || near.includes(key)
      const [unit = ''] = other.after
      const named = row && topics.length > 0 ? topics : isNamed(unit) ? [unit] : nearestOf(other).filter(isNamed)
      return anchors.some(
        (rival) =>
          rival.isNumber &&
          ![...said.anchors, ...question.anchors].some(({ word }) => word === rival.word) &&
          nearestOf(rival, row ? nearest : 1).some((key) => named.includes(key)),
      )
    }
    const isSaid = (anchor: Anchor): boolean => {
      const same = anchors.filter(({ word }) => word === anchor.word)
      return same.length === 0 && !anchor.isNumber ? isHeld(anchor) : same.some((other) => isSame(anchor, other))
    }
    if (!said.anchors.every(isSaid)) return []
    return [{ source: window.source, share }]
  })
  return supports.find(({ source }) => preferred.includes(source)) ?? supports.toSorted((a, b) => b.share - a.share)[0]
}

const documentWords =
  'documents?|documentation|contracts?|agreements?|pages?|websites?|guides?|guidelines?|handbooks?|manuals?|rules?|' +
  'polic(?:y|ies)|texts?|sources?|articles?|sections?|chapters?|paragraphs?|faqs?|readme|' +
  '\\p{L}*(?:dokumente?|dokumentation|vertrag|vereinbarung|seiten?|leitfaden|handbuch|anleitung|regeln?|ordnung|' +
  'richtlinien?|texte?|quellen?|artikel|abschnitt|kapitel|absatz)'
/** `the workshop rules`, `page 4`; not `no document`, nor a person, whose words may differ from another's. */
const aDocument =
  '(?:(?:the|this|these|your|our|die|der|das|dem|den|diese[rmns]?)\\s+' +
  '(?:(?!(?:the|a|of|with|who|that|in|on|and|or|not|no|nicht|und|oder|mit|von|in)\\s)[\\p{L}\\p{N}-]+\\s+){0,3})?' +
  `(?:${documentWords})(?:\\s+\\d+)?`
const documentName = `${aDocument}(?:\\s+(?:of|in|on)\\s+${aDocument})?`
const saying = (verbs: string): string => `(?:${verbs})(?: that|, dass)`
const says = 'states?|says?|specif(?:y|ies)|mentions?|notes?|explains?|besag(?:t|en)|sag(?:t|en)|schreib(?:t|en) vor'
const reported = new RegExp(
  `^(?:(?:${documentName}|it|es)\\s(?:(?:also|clearly|explicitly|auch|ausdrücklich)\\s)?${saying(says)}|` +
    `(?:according to|laut|gemäß) ${documentName},)\\s+`,
  'iu',
)
/** The beginning of a sentence on whether something is said. */
const frame = new RegExp(
  `^[^.;:\`]{1,120}?\\s${saying(`${says}|stated|said|specified|mentioned|noted|explained|besagt nicht|sagt nicht`)}\\s`,
  'iu',
)
/** Denies that a text says something, which no text that says it supports. */
const isDenied = (sentence: string): boolean => readStatement(frame.exec(sentence)?.[0] ?? '').negated.size > 0
const kinds =
  'commands?|programs?|utility|tool|options?|flags?|functions?|methods?|parameters?|befehls?|programms?|funktion'
const kindOfCode = new RegExp(
  `(?<=\`)\\s+(?:${kinds})(?![\\p{L}\\p{N}_-])|(?<![\\p{L}\\p{N}_-])(?:${kinds})\\s+(?=\`)`,
  'giu',
)

/** Removes words that say nothing of the matter: where it is written, and that `tail` is a command. */
const withoutFrame = (sentence: string): string => sentence.replace(reported, '').replace(kindOfCode, '')

/** Matches code that is not part of a longer word, number or option. */
const wholeWords = (code: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_][^\\s\`]?)${code.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(?![^\\s\`]?[\\p{L}\\p{N}_])`,
    'u',
  )

/** Words of code that occurs literally in a text, and names of the question: their neighbours need not match. */
function withoutAnchors(statement: Statement, isGiven: (word: string) => boolean): Statement {
  return { ...statement, anchors: statement.anchors.filter(({ word }) => !isGiven(word)) }
}

function shareOf<Source>({ keys, about }: Window<Source>, weights: ReadonlyMap<string, number>): number {
  let [share, total] = [0, 0]
  for (const [key, weight] of weights) {
    total += weight
    if (keys.has(key) || about.has(key)) share += weight
  }
  return share / total
}

function windowsOf<Source>({ source, text, about: title = '' }: SourceText<Source>): Window<Source>[] {
  const units = unitsOf(text)
  const wholes = units.map(({ text: own, lead = '', code }) => `${lead} ${own} ${code?.text ?? ''}`)
  const read = units.map(({ table }, at) => (table ? cellsOf(table) : [readStatement(wholes[at]!)]))
  const titles = new Map<string, ReadonlySet<string>>()
  return units.flatMap(({ kind, headings, table }, from) => {
    const heading = [title, ...headings].join('. ')
    let about = titles.get(heading)
    if (!about) {
      const { words, keys } = readStatement(heading)
      titles.set(heading, (about = new Set([...words, ...keys])))
    }
    const row = table && rowOf(table)
    const maxUnits = Math.min(kind === 'sentence' ? maxWindow : 1, units.length - from)
    return Array.from({ length: maxUnits }, (_, index) => {
      const statements = read.slice(from, from + index + 1).flat()
      const keys = new Set(statements.flatMap((statement) => statement.keys))
      return {
        source,
        isSingle: index === 0,
        text: wholes.slice(from, from + index + 1).join(' '),
        statements,
        keys,
        about,
        row,
      }
    })
  })
}

type Table = NonNullable<Unit['table']>

/** A statement a cell: the next column is no neighbour of a number, and names of columns need no neighbours. */
const cellsOf = ({ header, cells }: Table): Statement[] =>
  cells.map((cell, at) => {
    const column = at === 0 || cell === '' ? '' : (header[at] ?? '')
    const { anchors, ...statement } = readStatement(`${column} ${cell}`)
    const { words } = readStatement(column)
    return { ...statement, anchors: anchors.filter(({ word, isNumber }) => isNumber || !words.has(word)) }
  })

/** A cell that says that there is none of its column. */
const noneCell = /^(?:0+(?:[.,]0+)?|no|none|nein|kein(?:e[rs]?)?|non|aucune?|ningun[oa]|nessun[oa]|нет|✗|✘|❌)$/iu

function rowOf({ header, cells }: Table): Row {
  const filled = cells.filter((cell) => cell !== '').map((cell) => [...new Set(readStatement(cell).keys)])
  const none = header.filter((_, at) => at > 0 && noneCell.test(cells[at] ?? ''))
  return {
    name: readStatement(cells[0] ?? '').words,
    cells: filled.filter(({ length }) => length > 0),
    absent: new Set(none.flatMap((column) => ['', ...readStatement(column).keys])),
  }
}

/** Whether numbers, names, negations and opposites agree. */
function agree<Source>(said: Statement, { statements, keys, about, row }: Window<Source>): boolean {
  const hasWord = (word: string): boolean => statements.some(({ words }) => words.has(word))
  // Zero says it without a negation.
  const isAbsent = (key: string): boolean => row?.absent.has(key) === true && !said.keys.includes('0')
  const isNegated = (key: string): boolean => isAbsent(key) || statements.some(({ negated }) => negated.has(key))
  const { opening } = said
  if (opening !== undefined && !hasWord(opening) && !about.has(opening) && !keys.has(said.keys[0] ?? '')) return false
  if (said.isNegative !== statements.some(({ isNegative }) => isNegative)) return false
  if (said.negated.has('') && !isNegated('')) return false
  if (said.keys.some((key) => keys.has(key) && said.negated.has(key) !== isNegated(key))) return false
  for (const word of said.words) {
    const opposite = opposites.get(word)
    if (opposite !== undefined && !hasWord(word) && hasWord(opposite)) return false
  }
  const name = row && [...row.name].every((word) => said.words.has(word)) ? row.name : undefined
  const anchors = statements.flatMap((statement) => statement.anchors)
  const matches = said.anchors.map((anchor) => {
    const same = anchors.filter(({ word }) => word === anchor.word)
    // At the beginning of a sentence, a capitalized word need not be a name.
    return same.length === 0 && !anchor.isNumber && (about.has(anchor.word) || hasWord(anchor.word)) ? undefined : same
  })
  return said.anchors.every((anchor, at) => {
    const same = matches[at]
    if (!same) return true
    const isSame = (other: Anchor): boolean =>
      standAlike(anchor, other) || (row !== undefined && (name?.has(anchor.word) || isOfColumn(anchor, other)))
    if (!same.some(isSame)) return false
    if (anchor.isJoined && !hasLead(anchor, same)) return false
    const [next, nextSame] = [said.anchors[at + 1], matches[at + 1]]
    if (!next || !nextSame?.length || next.word === anchor.word) return true
    const areInOrder = anchors.indexOf(same[0]!) < anchors.lastIndexOf(nextSame.at(-1)!)
    return areInOrder || (hasLead(anchor, same) && hasLead(next, nextSame))
  })
}

const hasLead = ({ lead }: Anchor, others: readonly Anchor[]): boolean => others.some((other) => other.lead === lead)

/**
 * Whether a cell is said together with its column: `24 places` is said of `Places 24`, `Clara Jensen keeps the key` of
 * `Key kept by Clara Jensen`.
 */
function isOfColumn(anchor: Anchor, other: Anchor): boolean {
  const { isNumber, after } = anchor
  if (isNumber) return after.length > 0 && after[0] === other.before[0]
  const said = nearestOf(anchor)
  return other.before.slice(0, nearest).some((key) => said.includes(key))
}

/** Keys right beside a name or number, on both sides. */
const nearestOf = ({ before, after }: Anchor, count = nearest): readonly string[] => [
  ...before.slice(0, count),
  ...after.slice(0, count),
]

const isBare = ({ before, after }: Anchor): boolean => before.length + after.length === 0

/** Whether one of the nearest words on a side is the same; otherwise a name or number was moved to another context. */
function standAlike(anchor: Anchor, other: Anchor): boolean {
  const shares = (side: 'before' | 'after'): boolean =>
    anchor[side].slice(0, nearest).some((key) => other[side].includes(key))
  return shares('before') || shares('after') || isBare(anchor)
}
