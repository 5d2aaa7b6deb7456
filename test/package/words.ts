/** Words that the project does not use, and what it says instead. One standard term for one thing. */
import { basename } from 'node:path'
import type { Source } from './sources.ts'

/** A word to avoid: where it counts, and its replacement. */
interface Rule {
  readonly word: string
  readonly say: string
  /** A declared name or a file name that is exactly this. */
  readonly name?: RegExp
  /** A part of a declared name or a file name, as camel case and kebab case divide it. */
  readonly part?: RegExp
  /** In comments, docs and titles of tests. */
  readonly prose?: RegExp
  /** Files in which it counts; everywhere by default, because elsewhere the word means something else. */
  readonly within?: RegExp
}

const lancedb = /drivers\/(?:src\/)?lancedb\//
const chunks = /(?:packages|test)\/(?:agent|drivers|knowledge)\//

const rules: readonly Rule[] = [
  {
    word: 'company, solitude',
    say: 'writer presence, sole writer',
    part: /^(?:company|solitude)$/,
    prose: /\bsolitude\b/i,
    within: /^(?:packages|test)\/drivers/,
  },
  { word: 'standing, tail', say: 'unindexed rows', part: /^(?:standing|tail)$/, within: lancedb },
  { word: 'waiting', say: 'memtable', part: /^waiting$/, within: lancedb },
  { word: 'places', say: 'term positions', part: /^places$/, within: lancedb },
  { word: 'vocabulary', say: 'term statistics', part: /^vocabulary$/, within: lancedb },
  { word: 'card', say: 'chunk metadata', part: /^cards?$/, prose: /\bcards?\b/i, within: chunks },
  { word: 'shelf', say: 'private file index', part: /^shel(?:f|ves)$/, prose: /\bshel(?:f|ves)\b/i },
  {
    word: 'surroundings, around',
    say: 'turn context',
    name: /^around$/,
    part: /^surroundings$/,
    prose: /\bsurroundings\b/i,
  },
  {
    word: 'narrate, voice, tell, hear',
    say: 'packet writer, emit, event, listener',
    name: /^(?:ear|tell|hear|telling|toTell)$/i,
    part: /^(?:narrat(?:e|es|ed|or)|voice|telling|hears?)$/,
    prose: /\bnarrat(?:e|es|ed|or)\b/i,
  },
  { word: 'told', say: 'the noun that the value is', name: /^(?:told|toldBy|hasTold|isTold)$/ },
  { word: 'asked', say: 'the noun that the value is', name: /^asked$/ },
  { word: 'made', say: 'the noun that the value is', name: /^made$/ },
  { word: 'found', say: 'the noun that the value is', name: /^found$/ },
  { word: 'one', say: 'the noun that the value is', name: /^one$/ },
  { word: 'some', say: 'the noun that the value is', name: /^some$/ },
  { word: 'doStreamTold, TellingModel', say: 'streaming tap', name: /^(?:doStreamTold|TellingModel)$/ },
  { word: 'stray calls', say: 'text tool calls', part: /^stray$/, prose: /\bstray calls?\b/i },
  { word: 'run places', say: 'run limits', name: /runPlaces$/i, prose: /\brun places\b/i },
  { word: 'made files', say: 'generated files', name: /madeFiles?/i, prose: /\bmade files?\b/i },
  { word: 'begin, carry out', say: 'start run, execute turn', name: /^(?:begin|carryOut)$/, prose: /\bcarryOut\b/ },
  {
    word: 'turns, side by side, wake, waits',
    say: 'mutex, mapConcurrent, yieldToEventLoop, signal, waitUntilIndexed',
    name: /^(?:inTurns|createTurns|sideBySide|createWaits|waits|Waits|createWake|wake|Wake)$/,
  },
  { word: 'born', say: 'incarnation', part: /^born$/, prose: /\bborn\b/i },
  { word: 'citationless', say: 'strip citations', name: /citationless/i, prose: /\bcitationless\b/i },
  { word: 'moments', say: 'timestamps', part: /^moments?$/, prose: /\bmoments\b/i },
  { word: 'closed doors', say: 'blocked modules', part: /^doors?$/, prose: /\bclosed doors?\b/i },
  { word: 'laws', say: 'conformance', part: /^laws?$/, prose: /\blaws?\b/i },
  {
    word: 'world, house',
    say: 'fixture, harness',
    part: /^(?:world|house)$/,
    prose: /\b(?:world|house)\b/i,
    within: /^(?:packages|test)\//,
  },
]

/** Names of other people's contracts, and ordinary uses. */
const allowed: readonly RegExp[] = [/^answer_citationless$/, /^voice_/, /^isOpenWorld$/, /^openWorldHint$/]

/** Places of words that are not used here. */
export interface Finding {
  readonly file: string
  readonly word: string
  readonly text: string
  readonly say: string
}

/** Finds words of the list in names, comments and titles of a source. */
export function findInSource({ file, names, comments, titles }: Source): Finding[] {
  const all = [...names, basename(file).replace(/\..*$/, '')].filter((name) => !allowed.some((form) => form.test(name)))
  return rulesFor(file).flatMap((rule) => [
    ...all.filter((name) => isNamed(rule, name)).map((name) => toFinding(rule, file, name)),
    ...findInProse(rule, file, [...comments, ...titles].join('\n')),
  ])
}

/** Finds words of the list in a page; code in it counts as prose. */
export function findInPage(file: string, text: string): Finding[] {
  return rulesFor(file).flatMap((rule) => findInProse(rule, file, text))
}

const rulesFor = (file: string): Rule[] => rules.filter(({ within }) => within === undefined || within.test(file))

function isNamed({ name, part }: Rule, declared: string): boolean {
  const parts = declared
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/)
  return name?.test(declared) === true || (part !== undefined && parts.some((word) => part.test(word)))
}

function findInProse(rule: Rule, file: string, text: string): Finding[] {
  if (rule.prose === undefined) return []
  const matches = text.matchAll(new RegExp(`.{0,30}(?:${rule.prose.source}).{0,30}`, `g${rule.prose.flags}`))
  return [...matches].map(([match]) => toFinding(rule, file, match))
}

const toFinding = ({ word, say }: Rule, file: string, text: string): Finding => ({ file, word, text, say })
