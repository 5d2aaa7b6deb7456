import { RolldownMagicString, type Plugin } from 'rolldown'
import { parseSync, Visitor, type ESTree } from 'rolldown/utils'

interface Insertion {
  readonly at: number
  readonly text: string
}

/**
 * `Partial` under another name, since its members are exact too. Without `export {}` a declaration file exports it as
 * well, and two such files could not be exported whole.
 */
const partial = '\ntype PartialOrUndefined<T> = { [Name in keyof T]?: T[Name] | undefined };\nexport {};\n'

/**
 * Adds `| undefined` to every optional member of a declaration. The sources are compiled without
 * `exactOptionalPropertyTypes`, so `name?: string` accepts `undefined` in them; hosts that set the flag need it spelled out.
 */
export function withUndefined(declarations: string): string {
  return insertUndefined(declarations).toString()
}

function insertUndefined(declarations: string): RolldownMagicString {
  const insertions: Insertion[] = []
  const add = (type: ESTree.TSType | null | undefined): void => {
    if (!type || type.type === 'TSUndefinedKeyword') return
    if (type.type === 'TSUnionType' && type.types.some((member) => member.type === 'TSUndefinedKeyword')) return
    // A union behind them would belong to their last part.
    const isOpen = /^TS(Function|Constructor|Conditional)/.test(type.type)
    if (isOpen) insertions.push({ at: type.start, text: '(' })
    insertions.push({ at: type.end, text: isOpen ? ') | undefined' : ' | undefined' })
  }
  const partials: Insertion[] = []
  const rename = (name: { readonly type: string; readonly start: number; readonly end: number }): void => {
    if (declarations.slice(name.start, name.end) === 'Partial') partials.push({ at: name.end, text: 'OrUndefined' })
  }
  const { program, errors } = parseSync('declarations.d.ts', declarations)
  if (errors.length > 0) throw new Error(`declarations cannot be parsed: ${errors[0]!.message}`)
  new Visitor({
    TSPropertySignature: ({ optional, typeAnnotation }) => optional && add(typeAnnotation?.typeAnnotation),
    PropertyDefinition: ({ optional, typeAnnotation }) => optional && add(typeAnnotation?.typeAnnotation),
    TSTypeReference: ({ typeName }) => rename(typeName),
    TSInterfaceHeritage: ({ expression }) => rename(expression),
    TSMappedType: ({ optional, typeAnnotation }) => (optional === true || optional === '+') && add(typeAnnotation),
  }).visit(program)
  if (partials.length > 0) insertions.push(...partials, { at: declarations.length, text: partial })
  const changed = new RolldownMagicString(declarations)
  for (const { at, text } of insertions) changed.prependLeft(at, text)
  return changed
}

/** Writes the declarations of a build with it. */
export const optionalMembers: Plugin = {
  name: 'optional-members',
  renderChunk: {
    order: 'post',
    handler: (code, { fileName }) => {
      if (!fileName.endsWith('.d.ts')) return null
      const changed = insertUndefined(code)
      return { code: changed.toString(), map: changed.generateMap({ hires: 'boundary' }).toString() }
    },
  },
}
