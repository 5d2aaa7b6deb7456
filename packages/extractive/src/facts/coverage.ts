import { isLike, isNear, keysOf, spaceless, wordPattern } from '@inlay/text'
import type { Candidate } from '../passages.ts'
import { lightWords } from '../phrases.ts'

/** A passage, read for comparison. */
export interface ReadPassage {
  readonly rank: number
  readonly units: readonly ReadUnit[]
  readonly head: ReadonlySet<string>
  readonly all: ReadonlySet<string>
  readonly counts: ReadonlyMap<string, number>
  readonly words: ReadonlySet<string>
}

export interface ReadUnit {
  readonly unit: Candidate
  readonly keys: ReadonlySet<string>
  readonly list: readonly string[]
  /** Its neighbouring keys. */
  readonly pairs: ReadonlySet<string>
  /** Its words with single spaces around each. */
  readonly text: string
}

export function readPassages(candidates: readonly Candidate[]): ReadPassage[] {
  return [...Map.groupBy(candidates, ({ passage }) => passage)].map(([passage, own]): ReadPassage => {
    const units = own.map((unit): ReadUnit => {
      const list = keysOf(unit.code ? `${unit.text} ${unit.code.text}` : unit.text)
      const pairs = new Set(list.slice(1).map((key, at) => `${list[at]} ${key}`))
      return {
        unit,
        list,
        pairs,
        keys: new Set(list),
        text: ` ${(unit.text.toLowerCase().match(wordPattern) ?? []).join(' ')} `,
      }
    })
    const title = `${passage.title} ${passage.section ?? ''}`
    const head = new Set(keysOf(title))
    const counts = new Map<string, number>()
    for (const key of units.flatMap(({ list }) => list)) counts.set(key, (counts.get(key) ?? 0) + 1)
    return {
      rank: own[0]?.rank ?? 0,
      units,
      head,
      counts,
      all: new Set([...head, ...counts.keys()]),
      words: new Set([
        ...(title.toLowerCase().match(wordPattern) ?? []),
        ...units.flatMap(({ text }) => text.split(' ')),
      ]),
    }
  })
}

/** What share of a question sets of keys speak of, each key weighed by its rarity in the passages. */
export interface Coverage {
  of(...sets: readonly (ReadonlySet<string> | undefined)[]): number
  has(set: ReadonlySet<string>, key: string): boolean
  /** Share of the question that these of its keys are. */
  share(keys: readonly string[]): number
  readonly worth: ReadonlyMap<string, number>
  readonly total: number
}

/** How common something is, the other way round (the idf of BM25). */
export const rarity = (count: number, holding: number): number =>
  Math.log(1 + (count - holding + 0.5) / (holding + 0.5))

/** Text that is taken to exist beside the passages, so that rarity means something among a few of them. */
const elsewhere = { units: 30, passages: 8 }

/** What an English word that says little about a topic counts, as a share of what its rarity is worth. */
const lightShare = 0.2
const lightKeys: ReadonlySet<string> = new Set([...lightWords].flatMap(keysOf))

/** Words of a question that are looked at for slips: its last, for what is asked follows what is told. */
const mostCompared = 200

export function createCoverage(
  topic: readonly string[],
  question: string,
  { passages, isEnglish }: { passages: readonly Pick<ReadPassage, 'all' | 'units' | 'words'>[]; isEnglish: boolean },
): Coverage {
  const vocabulary = new Set(passages.flatMap(({ all }) => [...all]))
  const alike = new Map(
    topic.map((key) => {
      const spelt = vocabulary.has(key) ? [] : [...vocabulary].filter((other) => isLike(key, other))
      return [key, [...spelt, ...((isEnglish && relatedTo(key)) || [])]]
    }),
  )
  // A slip may change what is cut off a word, so whole words are compared too.
  const words = new Set(passages.flatMap((passage) => [...passage.words]))
  for (const word of (question.toLowerCase().match(wordPattern) ?? []).slice(-mostCompared)) {
    const [key = ''] = keysOf(word)
    const spelt = alike.get(key)
    if (!spelt || vocabulary.has(key) || spaceless.test(word) || /\P{L}/u.test(word)) continue
    for (const other of words) if (isNear(word, other)) spelt.push(...keysOf(other))
  }
  const has = (set: ReadonlySet<string>, key: string): boolean =>
    set.has(key) || (alike.get(key)?.some((other) => set.has(other)) ?? false)
  const count = passages.reduce((sum, { units }) => sum + units.length, 0)
  const worth = new Map<string, number>()
  let total = 0
  for (const key of topic) {
    const inPassages = passages.filter(({ all }) => has(all, key)).length
    const inUnits = passages.reduce((sum, { units }) => sum + units.filter(({ keys }) => has(keys, key)).length, 0)
    const value =
      (rarity(count + elsewhere.units, inUnits) + rarity(passages.length + elsewhere.passages, inPassages)) / 2
    const counted = isEnglish && lightKeys.has(key) ? lightShare * value : value
    worth.set(key, counted)
    total += counted
  }
  return {
    has,
    worth,
    total: total || 1,
    share: (keys) => keys.reduce((sum, key) => sum + (worth.get(key) ?? 0), 0) / (total || 1),
    of(...sets) {
      let sum = 0
      for (const [key, value] of worth) {
        if (sets.some((set) => set?.has(key))) sum += value
        else if (sets.some((set) => set && has(set, key))) sum += 0.7 * value
      }
      return total === 0 ? 0 : sum / total
    },
  }
}

/** English words of one meaning whose keys differ: forms, what people and places are called, everyday synonyms. */
const groups =
  // Irregular forms.
  `become became|begin began begun beginning start commence|bear bore born birth birthplace|break broke broken|bring brought|build built
  construct building|buy bought purchase acquire|catch caught|choose chose chosen select pick choice|come came arrive arrival|cost price
  expensive|die dead death died kill killed|draw drew drawn|drive drove driven|eat ate eaten food|fall fell fallen drop decline decrease|
  feel felt|fight fought battle combat|find found discover discovery|fly flew flown flight|freeze froze frozen|get got gotten receive
  obtain gain|give gave given provide grant|go went gone|grow grew grown growth increase rise rose risen|hold held|keep kept maintain
  retain|know knew known knowledge|lead led leader leadership|leave left depart departure|lose lost loss defeat|make made create creation
  produce|mean meant meaning signify|meet met meeting|pay paid payment|run ran|say said state told tell|see saw seen|sell sold sale|send
  sent|shoot shot|show shown demonstrate display|sing sang sung song singer|speak spoke spoken speech language|spend spent|stand stood|
  steal stole stolen|take took taken|teach taught teacher instructor professor|think thought|throw threw thrown|understand understood|
  win won winner victory victor|write wrote written writer author|lie lay laid located situated location|strike struck hit|seek sought|
  hide hid hidden|fight struggle|tear tore torn|wear wore worn|wake woke|sit sat|spread spreading expand expansion|` +
  // Other everyday synonyms and derived words.
  `call name nickname term known|big large great huge|largest biggest greatest|small little tiny|smallest least lowest|many numerous several|
  kind type sort form|job work occupation profession career employ|amount number quantity total|area region zone territory|country nation
  land|get became|end finish conclude conclusion cease stop|happen occur occurrence|help assist aid support|use utilize employ usage|often
  frequently frequent|quick fast rapid|old ancient age|new recent modern|near close adjacent|movie film|child children kid|man men|woman
  women female|person people population inhabitant resident|live reside residence dwell|leader head chief president chairman chair|king
  ruler monarch queen emperor|war conflict|army military troops soldier force|ship vessel boat|car vehicle automobile|road street route|
  school university college academy|student pupil|doctor physician|sick ill illness disease|church religion religious faith|god deity|
  important significant major main key chief|reason cause because why|result effect consequence outcome|goal aim purpose objective|think
  believe belief opinion view|idea concept notion|problem issue difficulty|answer solution solve|part portion section|group team
  organization|company firm corporation business|money cash fund finance|rich wealthy wealth|poor poverty|buy purchase|trade commerce
  commercial|law legal legislation|judge court|rule govern government reign|vote election elect|found establish founder founded
  establishment|invent invention inventor|discover discovery discoverer|design designer architect architecture|own owner belong|allow permit
  permission|forbid ban prohibit outlaw|decide decision determine|agree agreement treaty accord|invade invasion attack assault|conquer
  conquest capture seize|destroy destruction demolish ruin|move relocate migrate migration|travel journey trip|grow develop development|
  change alter transform|add append addition|remove delete eliminate|join unite union merge|divide split separate division|contain include
  comprise consist hold|need require requirement necessary|want desire wish|try attempt|fail failure|succeed success successful|protect
  protection defend defense|hurt harm damage injure injury|describe description depict|explain explanation|compare comparison|measure
  measurement|heat hot warm temperature|cold cool|wet rain water|burn fire combustion|light bright|dark black|high tall height|deep depth|
  wide width broad|long length|heavy weight|strong strength power powerful|weak weakness|fast speed velocity|early first initial original|
  last final late|middle center centre central|top peak summit|bottom base|border boundary edge|sea ocean|mountain mount hill|river stream|
  city town urban|capital metropolis|east eastern|west western|north northern|south southern|plant vegetation flora|animal fauna species|
  tree forest wood|father mother parent|son daughter|brother sister sibling|wife husband spouse marry married marriage|friend ally|enemy
  foe opponent|teach educate education|learn study research|book novel text publication|publish release issue|music musical song|art
  artist painting|play game match|player athlete|score point goal|champion title championship|month monthly|year annual yearly|day daily|
  week weekly|century hundred|decade ten|earn salary income wage|equal same identical|different differ difference|danger risk threat|safe
  security safety|free freedom liberty|independent independence|famous renowned popular|common widespread usual|rare unusual
  uncommon|visit tourist tourism|celebrate celebration festival|begin origin originate|replace substitute successor succeed|example instance|
  respond response reply react reaction|appoint appointment nominate|refuse reject deny|approve approval accept|argue argument claim|`
const pairs =
  // Places and those who live there.
  `England English|Britain British|France French|Germany German|Spain Spanish|Italy Italian|Poland Polish|Russia Russian|China Chinese|Japan
  Japanese|Greece Greek|Rome Roman|Turkey Turkish|Netherlands Dutch Holland|Sweden Swedish|Norway Norwegian|Denmark Danish|Finland Finnish|
  Ireland Irish|Scotland Scottish|Wales Welsh|Switzerland Swiss|Portugal Portuguese|Europe European|Africa African|Asia Asian|America
  American|India Indian|Egypt Egyptian|Mongolia Mongol|Vienna Viennese|Belgium Belgian|Austria Austrian|Hungary Hungarian|Ukraine Ukrainian|` +
  // Numbers.
  `one 1 first once|two 2 second twice|three 3 third|four 4 fourth|five 5 fifth|six 6 sixth|seven 7 seventh|eight 8 eighth|nine 9 ninth|ten 10
  tenth|eleven 11|twelve 12 twelfth dozen|twenty 20|percent percentage`

let related: Map<string, Set<string>> | undefined

/** Keys of words that may mean what the word of a key means; none for most. */
function relatedTo(key: string): ReadonlySet<string> | undefined {
  if (!related) {
    related = new Map()
    for (const group of `${groups}${pairs}`.split('|')) {
      // A longer word in one of its forms keeps a letter more.
      const keys = group.split(/\s+/).flatMap((word) => [...keysOf(word), word.slice(0, 7)])
      for (const key of keys) related.set(key, new Set([...(related.get(key) ?? []), ...keys]))
    }
  }
  return related.get(key)
}
