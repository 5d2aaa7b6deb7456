/** A piece of code and what it is; null for what has no colour. */
export interface CodePiece {
  readonly kind: 'comment' | 'string' | 'number' | 'keyword' | 'name' | 'added' | 'removed' | null
  readonly text: string
}

/** Divides code into pieces. A language that is not known gets strings, numbers and comments only. */
export type Highlight = (code: string, language: string) => readonly CodePiece[]

interface Grammar {
  readonly pattern: RegExp
  readonly keywords: ReadonlySet<string>
  readonly ignoresCase?: boolean
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

const quoted = String.raw`"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?`
const slashes = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`
const hash = String.raw`#[^\n]*`
const numbers = String.raw`\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w*`

/** Finds comments, strings, numbers and words, each in a group of its own. */
const patternOf = (comments: string, strings: string): RegExp =>
  new RegExp(
    String.raw`(${comments})|(${strings})|(${numbers})|([\p{L}_$][\p{L}\p{N}_$-]*(?=\s*[:=(])|[\p{L}_$][\p{L}\p{N}_$]*)`,
    'gmu',
  )

const curly: Grammar = {
  pattern: patternOf(slashes, `${quoted}|\`(?:\\\\[^]|[^\`\\\\])*\`?`),
  keywords: words(
    'abstract as async await bool boolean break case catch char class const constructor continue default defer delete do double else enum export extends extern false final finally float fn for foreach from func function get go if impl implements import in instanceof int interface internal is let long loop match mod module mut namespace never new nil null number object of operator out override package private protected pub public readonly ref return sealed self set short signed sizeof static string struct super switch template this throw throws trait true try type typedef typeof undefined union unsafe unsigned using val var virtual void volatile when where while with yield',
  ),
}
const python: Grammar = {
  pattern: patternOf(hash, String.raw`[rbfRBF]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$))|${quoted}`),
  keywords: words(
    'False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield begin do end ensure module next nil rescue then unless until when',
  ),
}
const shell: Grammar = {
  pattern: patternOf(String.raw`(?<=^|\s)#[^\n]*`, quoted),
  keywords: words(
    'if then else elif fi for in do done while until case esac function return export local set unset source sudo cd echo exit read FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR EXPOSE ARG USER',
  ),
}
const sql: Grammar = {
  pattern: patternOf(String.raw`--[^\n]*|\/\*[^]*?(?:\*\/|$)`, String.raw`'(?:''|[^'])*'?|"(?:[^"\n])*"?`),
  keywords: words(
    'add all alter and as asc avg begin between by case check column commit constraint count create cross database default delete desc distinct drop else end exists false foreign from full group having if in index inner insert int integer into is join key left like limit max min not null on or order outer primary references returning right rollback select set sum table text then true union unique update using values varchar view when where with',
  ),
  ignoresCase: true,
}
const data: Grammar = { pattern: patternOf(hash, quoted), keywords: words('true false null yes no on off') }
const markup: Grammar = { pattern: patternOf(String.raw`<!--[^]*?(?:-->|$)`, quoted), keywords: new Set() }

const grammars: readonly (readonly [names: string, grammar: Grammar])[] = [
  ['py python rb ruby', python],
  ['sh bash shell zsh console powershell ps1 dockerfile docker makefile', shell],
  ['sql postgres postgresql mysql sqlite', sql],
  ['json yaml yml toml ini conf env properties', data],
  ['html xml svg vue', markup],
]
const byName = new Map(grammars.flatMap(([names, grammar]) => names.split(' ').map((name) => [name, grammar] as const)))

export const highlight: Highlight = (code, language) => {
  const name = language.toLowerCase()
  if (name === 'diff' || name === 'patch') return changes(code)
  if (name === 'text' || name === 'txt' || name === 'plain') return [{ kind: null, text: code }]
  const grammar = byName.get(name) ?? curly
  const pieces: CodePiece[] = []
  let end = 0
  const add = (kind: CodePiece['kind'], text: string): void => {
    const last = pieces.at(-1)
    if (text === '') return
    if (kind === null && last?.kind === null) pieces.splice(-1, 1, { kind, text: last.text + text })
    else pieces.push({ kind, text })
  }
  for (const match of code.matchAll(grammar.pattern)) {
    const [whole, comment, string, number, word] = match
    add(null, code.slice(end, match.index))
    end = match.index + whole.length
    const key = word === undefined ? '' : grammar.ignoresCase === true ? word.toLowerCase() : word
    if (comment !== undefined) add('comment', whole)
    else if (string !== undefined) add('string', whole)
    else if (number !== undefined) add('number', whole)
    else if (grammar.keywords.has(key)) add('keyword', whole)
    else add(/^\s*\(/.test(code.slice(end, end + 3)) ? 'name' : null, whole)
  }
  add(null, code.slice(end))
  return pieces
}

function changes(code: string): readonly CodePiece[] {
  return code
    .split(/(?<=\n)/)
    .map((text) => ({ kind: text.startsWith('+') ? 'added' : text.startsWith('-') ? 'removed' : null, text }))
}
