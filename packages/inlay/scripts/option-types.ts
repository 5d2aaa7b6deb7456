/** Reads what functions of the packages take: the members of their options, with types and docstrings. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'vite'

/** One member of an object of options. */
export interface Option {
  readonly name: string
  readonly isRequired: boolean
  /** The source text, on one line. */
  readonly type: string
  readonly meaning: string
  /** Default according to the docstring; empty if it names none. */
  readonly fallback: string
  /** Types of ours that its type names. */
  readonly types: readonly string[]
}

/** Resolves a name used in a file to its declaration. */
interface Declared {
  readonly file: SourceFile
  readonly node: Node
}

interface SourceFile {
  readonly path: string
  readonly text: string
  readonly declared: ReadonlyMap<string, Node>
  /** Specifiers of imported names. */
  readonly imported: ReadonlyMap<string, string>
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[]
}

type Node = Record<string, unknown> & { readonly type: string; readonly start: number; readonly end: number }
const nodes = (value: unknown): readonly Node[] => (Array.isArray(value) ? (value as Node[]) : [])
const node = (value: unknown): Node | undefined => (value ?? undefined) as Node | undefined
const nameOf = (value: unknown): string => String(node(value)?.['name'] ?? node(value)?.['value'] ?? '')

function readSource(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const { program, comments } = parseSync(path, text)
  const declared = new Map<string, Node>()
  const imported = new Map<string, string>()
  for (const statement of program.body as unknown as readonly Node[]) {
    const declaration = node(statement['declaration']) ?? statement
    if (/^(?:TSInterface|TSTypeAlias|Function)Declaration$|^TSDeclareFunction$/.test(declaration.type))
      declared.set(nameOf(declaration['id']), declaration)
    if (statement.type === 'ImportDeclaration')
      for (const { local } of nodes(statement['specifiers'])) imported.set(nameOf(local), nameOf(statement['source']))
  }
  return { path, text, declared, imported, comments }
}

const sources = new Map(
  globSync('packages/*/src/**/*.{ts,tsx}')
    .toSorted()
    .map((path) => [path, readSource(path)] as const),
)

const inPackage = (name: string, folder: string): Declared | undefined => {
  const file = [...sources.values()].find(({ path, declared }) => path.startsWith(folder) && declared.has(name))
  return file && { file, node: file.declared.get(name)! }
}

function find(name: string, file: SourceFile): Declared | undefined {
  const own = file.declared.get(name)
  if (own !== undefined) return { file, node: own }
  const from = file.imported.get(name)
  if (from?.startsWith('.') === true) {
    const target = sources.get(join(dirname(file.path), from))
    return target && find(name, target)
  }
  const ours = /^@inlay\/(\w+)/.exec(from ?? '')?.[1]
  return ours === undefined ? undefined : inPackage(name, `packages/${ours}/src/`)
}

/** Finds members of a type, its own before those of what it extends. */
function membersOf(type: Node | undefined, file: SourceFile): readonly Option[] {
  if (type === undefined) return []
  const inner = (value: unknown): readonly Option[] => nodes(value).flatMap((part) => membersOf(part, file))
  if (type.type === 'TSInterfaceDeclaration') return [...inner([type['body']]), ...inner(type['extends'])]
  if (type.type === 'TSTypeAliasDeclaration') return membersOf(node(type['typeAnnotation']), file)
  if (/^TS(?:Intersection|Union)Type$/.test(type.type)) return inner(type['types'])
  if (type.type === 'TSTypeLiteral') return inner(type['members'])
  if (type.type === 'TSInterfaceBody') return inner(type['body'])
  if (/^TS(?:Property|Method)Signature$/.test(type.type)) return [toOption(type, file)]
  const name = nameOf(type['typeName'] ?? type['expression'])
  return name === '' ? [] : membersOfReference(name, nodes(node(type['typeArguments'])?.['params']), file)
}

function membersOfReference(name: string, args: readonly Node[], file: SourceFile): readonly Option[] {
  const [whole, keys] = args
  if (/^(?:Lenient|Partial|Readonly)$/.test(name)) {
    const members = membersOf(whole, file)
    return name === 'Readonly' ? members : members.map((member) => ({ ...member, isRequired: false }))
  }
  if (name === 'Pick' || name === 'Omit') {
    const listed = [...file.text.slice(keys?.start, keys?.end).matchAll(/'(\w+)'/g)].map(([, key]) => key)
    return membersOf(whole, file).filter((member) => listed.includes(member.name) === (name === 'Pick'))
  }
  const target = find(name, file)
  return target === undefined ? [] : membersOf(target.node, target.file)
}

function toOption(member: Node, file: SourceFile): Option {
  const annotation = node(node(member['typeAnnotation'])?.['typeAnnotation'])
  const isMethod = member.type === 'TSMethodSignature'
  const start = isMethod ? node(member['key'])!.end : (annotation?.start ?? member.end)
  const written = file.text.slice(start, isMethod ? member.end : annotation?.end).replace(/^\?/, '')
  const types = [...new Set(written.match(/\b[A-Z]\w+/g))].filter((name) => find(name, file) !== undefined)
  const { meaning, fallback } = docstringOf(member, file)
  const indexed = /^(\w+)\['(\w+)'\]/.exec(written)
  const inner = indexed && membersOfReference(indexed[1]!, [], file).find(({ name }) => name === indexed[2])
  if (inner)
    return { ...inner, name: nameOf(member['key']), isRequired: member['optional'] !== true, meaning, fallback }
  return {
    name: nameOf(member['key']),
    isRequired: member['optional'] !== true,
    type: toLine(written),
    meaning: meaning || (types[0] === undefined ? '' : meaningOf(types[0], file)),
    fallback,
    types,
  }
}

/** The docstring of a type, as a sentence. */
function meaningOf(name: string, file: SourceFile): string {
  const target = find(name, file)
  return target === undefined ? '' : docstringOf(target.node, target.file).meaning.replace(/(?<=\.) .*$/, '')
}

const toLine = (type: string): string =>
  type
    .replace(/\/\*\*[^]*?\*\//g, '')
    .replace(/\breadonly /g, '')
    .replace(/ \| undefined\b/g, '')
    .replace(/\s+/g, ' ')
    .replace(/^\| /, '')
    .trim()
    .replace(/^\((\(.*)\)$/, '$1')

function docstringOf(member: Node, { text, comments }: SourceFile): { meaning: string; fallback: string } {
  const comment = comments.findLast(
    ({ end }) => end <= member.start && /^\s*(?:export\s+)?$/.test(text.slice(end, member.start)),
  )
  const words = (comment?.value ?? '')
    .replace(/^\s*\*+ ?/gm, '')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .trim()
  const sentences = words.split(/(?<=[.;]) (?=[A-Z])/)
  const isDefault = (sentence: string): boolean => /^Defaults?\b/.test(sentence)
  const fallback = sentences
    .filter(isDefault)
    .map((sentence) => sentence.replace(/^Defaults?:? /, '').replace(/\.$/, ''))
  return { meaning: sentences.filter((sentence) => !isDefault(sentence)).join(' '), fallback: fallback.join('; ') }
}

/** Options by name; of those named twice the type's own counts. */
export function optionsOf(typeName: string, folder: string): readonly Option[] {
  const declared = inPackage(typeName, folder)
  if (declared === undefined) throw new Error(`No type ${typeName} in ${folder}.`)
  const members = membersOf(declared.node, declared.file)
  return members.filter(({ name }, at) => members.findIndex((other) => other.name === name) === at)
}

/** The type of a function's options, which are its first argument unless another is named so; undefined without any. */
export function optionsTypeOf(functionName: string, folder: string): string | undefined {
  const types = nodes(inPackage(functionName, folder)?.node['params']).map((parameter) => {
    const argument = parameter.type === 'AssignmentPattern' ? node(parameter['left']) : parameter
    const annotation = node(node(argument?.['typeAnnotation'])?.['typeAnnotation'])
    return annotation?.type === 'TSTypeReference' ? nameOf(annotation['typeName']) : undefined
  })
  return types.find((type) => type?.endsWith('Options')) ?? types[0]
}
