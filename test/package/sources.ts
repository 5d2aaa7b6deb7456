/** Reads the project's sources as they are written: imports, declared names, comments and titles. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync, type ESTree } from 'vite'

/** One parsed file. */
export interface Source {
  /** Path from the root of the repository. */
  readonly file: string
  /** Its imports, relative paths resolved against the root; includes types and lazy imports. */
  readonly imports: readonly string[]
  /** Names of variables, parameters, functions, types and members that it declares. */
  readonly names: readonly string[]
  readonly comments: readonly string[]
  /** First arguments of `test` and `describe`. */
  readonly titles: readonly string[]
  /** Functions handed to `test`, by the line they start at. */
  readonly cases: readonly { readonly line: number; readonly lines: number }[]
}

const everywhere = ['packages/*/{src,scripts}/**/*.ts', 'playground/**/*.{ts,tsx,mjs}', 'test/**/*.ts', '*.ts']
const ignored = ['**/node_modules/**', '**/dist/**']

/** Parses the files of a glob; by default all code of the project. */
export function readSources(pattern: string | readonly string[] = everywhere): Source[] {
  return globSync(pattern, { exclude: ignored }).toSorted().map(readSource)
}

function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8')
  const { program, comments, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const results = { imports: new Set<string>(), names: new Set<string>(), titles: [] as string[], cases: [] as Case[] }
  visit(program, (node) => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) results.imports.add(resolve(file, specifier))
    for (const name of declaredNames(node)) results.names.add(name)
    readCase(node, text, results)
  })
  return {
    file,
    imports: [...results.imports],
    names: [...results.names],
    comments: comments.map(({ value }) => value),
    titles: results.titles,
    cases: results.cases,
  }
}

type Case = Source['cases'][number]
type Node = Record<string, unknown> & { readonly type: string; readonly start: number; readonly end: number }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/** Calls back for every node, parents first. */
function visit(value: ESTree.Program | unknown, callback: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, callback)
  else if (isNode(value)) {
    callback(value)
    for (const key of Object.keys(value)) visit(value[key], callback)
  }
}

function specifierOf({ type, source, argument }: Node): string | undefined {
  const named = type === 'TSImportType' ? (source ?? argument) : source
  if (!/^(?:Import|Export|TSImportType)/.test(type) || !isNode(named)) return undefined
  const { value } = named.type === 'TSLiteralType' && isNode(named['literal']) ? named['literal'] : named
  return typeof value === 'string' ? value : undefined
}

const resolve = (file: string, specifier: string): string =>
  specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier

function declaredNames(node: Node): string[] {
  if (node.type === 'VariableDeclarator') return boundNames(node['id'])
  if (/^TS(?:InterfaceDeclaration|TypeAliasDeclaration)$/.test(node.type)) return boundNames(node['id'])
  if (/^TS(?:Property|Method)Signature$/.test(node.type)) return boundNames(node['key'])
  if (!/Function/.test(node.type)) return []
  const parameters = Array.isArray(node['params']) ? node['params'] : []
  return [node['id'], ...parameters].flatMap(boundNames)
}

/** Names that a pattern binds. */
function boundNames(pattern: unknown): string[] {
  if (!isNode(pattern)) return []
  if (typeof pattern['name'] === 'string') return [pattern['name']]
  const { properties, elements, left, argument, value } = pattern
  const inner = [properties, elements].flatMap((list) => (Array.isArray(list) ? list : []))
  return [...inner, left, argument, pattern.type === 'Property' ? value : undefined].flatMap(boundNames)
}

/** Takes note of a call of `test`, `describe` or a variant such as `test.each(…)`. */
function readCase(node: Node, text: string, into: { titles: string[]; cases: Case[] }): void {
  if (node.type !== 'CallExpression' || !Array.isArray(node['arguments'])) return
  const [title, ...rest] = node['arguments'] as Node[]
  const called = isNode(node['callee']) ? text.slice(node['callee'].start, node['callee'].end) : ''
  const word = /^(?:test|it|describe)\b/.exec(called)?.[0]
  if (word === undefined || !isNode(title) || !/^(?:Literal|TemplateLiteral)$/.test(title.type)) return
  into.titles.push(text.slice(title.start + 1, title.end - 1))
  if (word === 'describe') return
  for (const { start, end } of rest.filter(({ type }) => /Function/.test(type)))
    into.cases.push({ line: text.slice(0, start).split('\n').length, lines: text.slice(start, end).split('\n').length })
}
