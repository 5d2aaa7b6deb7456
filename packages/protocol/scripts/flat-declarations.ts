import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RolldownMagicString, type Plugin } from 'rolldown'
import { API, SymbolFlags, TypeFlags, type Checker, type Symbol, type Type } from 'typescript/unstable/sync'
import { fixedText } from './fixed-text.ts'

const config = fileURLToPath(new URL('../tsconfig.json', import.meta.url))
const sources = fileURLToPath(new URL('../src/', import.meta.url))
const namedType = /^export (?:interface|type) (\w+)(?= (?:\{|=|extends))/gm
const inferredType =
  /^export type (\w+) = (?:(?:Partial|Omit)<)?(Wire|Sent|PacketFieldsOf)<typeof (\w+)>+(?:, [^>]+>)?$/gm
const schemaStart = /^export const (\w+)(?= = (model|closedModel|spelledModel|packetFamily)\()/gm

interface NamedType {
  readonly name: string
  readonly file: string
}

/** Writes types as somebody would type them: members with their comments, other wire types by their names. */
class TypeWriter {
  readonly #checker: Checker
  /** By the id of the type: its members by name, without comments and names of types. */
  readonly #shapes = new Map<number, string>()
  readonly #files: ReadonlyMap<string, string>
  /** Exported types by shape. */
  readonly #named = new Map<string, NamedType[]>()

  constructor(checker: Checker, files: ReadonlyMap<string, string>) {
    this.#checker = checker
    this.#files = files
    for (const [file, code] of files) {
      for (const { index, 0: whole, 1: name = '' } of code.matchAll(namedType)) {
        const shape = this.#shape(this.typeAt(file, index + whole.length - 1))
        this.#named.set(shape, [...(this.#named.get(shape) ?? []), { name, file }])
      }
    }
  }

  typeAt(file: string, position: number): Type {
    const type = this.#checker.getTypeAtPosition(file, position)
    if (!type) throw new Error(`${file} has no type at ${position}`)
    return type
  }

  /** The parsed value of the schema at a position. */
  outputAt(file: string, position: number): Type {
    const member = (type: Type, name: string): Type => {
      const property = this.#checker.getPropertiesOfType(type).find((each) => each.name === name)
      if (!property) throw new Error(`${file} has no schema at ${position}`)
      return this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(property)!)!
    }
    return member(member(this.typeAt(file, position), '~types'), 'output')
  }

  /** @param imported called with each type that another file declares */
  write(type: Type, file: string, imported: (name: string, from: string) => void): string {
    const nested = (inner: Type): string => {
      const named = this.#nameOf(inner, file)
      if (!named) return this.#expand(inner, nested, true)
      if (named.file !== file) imported(named.name, named.file)
      return named.name
    }
    return this.#expand(type, nested, true)
  }

  /**
   * The exported type with this shape, from this folder or one that the file imports from, so that types of the same shape
   * by chance are not mixed up. Of several, the one that the file mentions.
   */
  #nameOf(type: Type, file: string): NamedType | undefined {
    const shape = this.#shape(type)
    if (!/["{]/.test(shape)) return undefined
    const code = this.#files.get(file) ?? ''
    const isNear = ({ file: from }: NamedType): boolean =>
      dirname(from) === dirname(file) || code.includes(`/${basename(dirname(from))}/`)
    const candidates = (this.#named.get(shape) ?? []).filter(isNear)
    if (candidates.length < 2) return candidates[0]
    const mentioned = candidates.filter(({ name }) => new RegExp(String.raw`\b${name}\b`).test(code))
    return mentioned.length === 1 ? mentioned[0] : undefined
  }

  #shape(type: Type): string {
    const known = this.#shapes.get(type.id)
    if (known !== undefined) return known
    // Ends the recursion of a type that contains itself.
    this.#shapes.set(type.id, `#${type.id}`)
    const shape = this.#expand(type, (inner) => this.#shape(inner), false)
    this.#shapes.set(type.id, shape)
    return shape
  }

  #expand(type: Type, nested: (inner: Type) => string, isDocumented: boolean): string {
    const checker = this.#checker
    if (type.flags & TypeFlags.Boolean) return 'boolean'
    if (type.isUnionType()) return this.#union(type.getTypes(), checker.getNonNullableType(type)!, nested)
    if (!type.isObjectType() && !type.isIntersectionType()) return checker.typeToString(type)
    if (checker.isArrayType(type) && type.isTypeReference()) {
      const item = nested(checker.getTypeArguments(type)[0]!)
      return /^\w+$/.test(item) ? `readonly ${item}[]` : `ReadonlyArray<${item}>`
    }
    const [index] = checker.getIndexInfosOfType(type)
    if (index) return `Readonly<Record<string, ${nested(index.valueType)}>>`
    const members = checker.getPropertiesOfType(type).map((property) => {
      const isOptional = (property.flags & SymbolFlags.Optional) !== 0
      const comment = isDocumented ? this.#comment(property) : ''
      const value = nested(checker.getTypeOfSymbol(property)!).replace(isOptional ? / \| undefined$/ : '', '')
      return `${comment && `/** ${comment} */ `}readonly ${property.name}${isOptional ? '?' : ''}: ${value}`
    })
    return `{ ${(isDocumented ? members : members.toSorted()).join('; ')} }`
  }

  #comment(property: Symbol): string {
    const written = property.getDocumentationComment(this.#checker).replaceAll(/\s+/g, ' ').trim()
    return written || fixedText(property.declarations[0]?.resolve()?.getText().replace(/^\w+:/, '') ?? '')
  }

  #union(types: readonly Type[], solid: Type, nested: (inner: Type) => string): string {
    const has = (flag: TypeFlags): boolean => types.some((type) => type.flags & flag)
    const nothing = [...(has(TypeFlags.Null) ? ['null'] : []), ...(has(TypeFlags.Undefined) ? ['undefined'] : [])]
    if (nothing.length > 0) return [nested(solid), ...nothing].join(' | ')
    const isBoolean = types.filter((type) => type.flags & TypeFlags.BooleanLiteral).length === 2
    const rest = isBoolean ? types.filter((type) => !(type.flags & TypeFlags.BooleanLiteral)) : types
    return [...rest.map(nested).toSorted(), ...(isBoolean ? ['boolean'] : [])].join(' | ')
  }
}

/** The sources by path, with inferred types written out on the line that infers them, so that line numbers stay. */
export function writeOut(): ReadonlyMap<string, RolldownMagicString> {
  const api = new API()
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (!project) throw new Error(`${config} cannot be opened`)
    const paths = globSync('**/*.ts', { cwd: sources }).map((path) => join(sources, path))
    const files = new Map(paths.map((file) => [file, readFileSync(file, 'utf8')]))
    const writer = new TypeWriter(project.checker, files)
    return new Map([...files].map(([file, code]) => [file, writeOutFile(file, code, writer)]))
  } finally {
    api.close()
  }
}

function writeOutFile(file: string, code: string, writer: TypeWriter): RolldownMagicString {
  const text = new RolldownMagicString(code)
  const imports = new Map<string, string>()
  const imported = (name: string, from: string): void => void imports.set(name, from)
  const types = new Map<string, string>()
  for (const { index, 0: whole, 1: name = '', 2: kind, 3: schema = '' } of code.matchAll(inferredType)) {
    const written = writer.write(writer.typeAt(file, index + 'export type '.length), file, imported)
    const start = written.startsWith('{') ? `interface ${name} ` : `type ${name} = `
    text.update(index, index + whole.length, `export ${start}${written}`)
    if (kind !== 'Sent') types.set(schema, name)
  }
  for (const { index, 0: whole, 1: schema = '', 2: builder } of code.matchAll(schemaStart)) {
    const isFamily = builder === 'packetFamily'
    const generic = isFamily ? 'PacketFamily' : 'WireSchema'
    const type =
      types.get(schema) ?? writer.write(writer.outputAt(file, index + 'export const '.length), file, imported)
    text.appendLeft(index + whole.length, `: ${generic}<${type}>`)
    imported(generic, join(sources, isFamily ? 'packets/packet-entry.ts' : 'fields.ts'))
  }
  const missing = [...imports].filter(
    ([name]) => !new RegExp(String.raw`^import [^;]*?\b${name}\b[^;]*? from`, 'm').test(code),
  )
  const lines = missing.map(([name, from]) => {
    const path = relative(dirname(file), from)
    return `import type { ${name} } from '${path.startsWith('.') ? path : `./${path}`}'; `
  })
  return lines.length > 0 ? text.prepend(lines.join('')) : text
}

/** Writes out the types inferred from schemas, so that declarations show their members instead of Valibot's types. */
export function flatDeclarations(): Plugin {
  let written: ReadonlyMap<string, RolldownMagicString> | undefined
  return {
    name: 'flat-declarations',
    load(id) {
      if (!id.startsWith(sources) || !id.endsWith('.ts')) return null
      written ??= writeOut()
      return written.get(id)?.toString() ?? null
    },
    // Puts the comments of members on lines of their own.
    renderChunk(code, { fileName }) {
      if (!fileName.endsWith('.d.ts')) return null
      const text = new RolldownMagicString(code)
      for (const { index, 0: whole, 1: indent = '' } of code.matchAll(/^( +)\/\*\* .* \*\/(?= readonly )/gm))
        text.update(index + whole.length, index + whole.length + 1, `\n${indent}`)
      return { code: text.toString(), map: text.generateMap({ hires: 'boundary' }).toString() }
    },
  }
}
