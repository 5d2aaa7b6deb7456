/** The comments of wire types and schemas, `#descriptions` of the sources; the build writes them into a file. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { packetSchemaName } from '../src/packets/packet-entry.ts'
import { fixedText } from './fixed-text.ts'

interface Description {
  readonly description: string
  readonly fields: Record<string, string>
}

const sources = fileURLToPath(new URL('../src/', import.meta.url))
const comment = String.raw`(?:/\*\*((?:(?!\*/)[^])*)\*/\s*)?`
const declaration = new RegExp(String.raw`${comment}export (interface|type) (\w+)(<[^>{]*>)?([^={]*)[={]`, 'g')
const member = new RegExp(String.raw`${comment}(?:readonly )?(\w+)(?:\??:|(?=,\n))`, 'y')
const model = new RegExp(
  String.raw`(?:${comment}(?:export )?const \w+ = |\b)(?:m|closedM|spelledM)odel\(\s*'(\w+)'(,\s*(?=\{))?`,
  'g',
)

/** A comment as one line, without its stars; links become the name they lead to. */
function inWords(text: string | undefined): string {
  return (text ?? '')
    .replace(/^\s*\* ?/gm, ' ')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The text up to the brace or line that ends the declaration at `from`. */
function bodyAt(source: string, from: number): string {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    if (source[at] === '{') depth++
    if (source[at] === '}' && --depth === 0) return source.slice(from, at + 1)
    if (depth === 0 && source.startsWith('\n\n', at)) return source.slice(from, at)
  }
  return source.slice(from)
}

/** The fields of a body at its first level, each with its comment and the text of its type. */
function membersOf(body: string): { name: string; text: string; type: string }[] {
  const members: { name: string; text: string; type: string }[] = []
  let depth = 0
  for (let at = 0; at < body.length; at++) {
    if (depth === 1) {
      member.lastIndex = at
      const match = member.exec(body)
      if (match) {
        const start = member.lastIndex
        at = start
        const rest = body.slice(start)
        members.push({
          name: match[2]!,
          text: inWords(match[1]) || fixedText(rest),
          type: rest.startsWith(' {') ? bodyAt(body, start + 1) : '',
        })
      }
    }
    if (body[at] === '{') depth++
    if (body[at] === '}') depth--
  }
  return members
}

/** Comments by type and field; a type made of others has their fields too. */
function collect(): Record<string, Description> {
  const types: Record<string, Description> = {}
  const parents: Record<string, string[]> = {}
  const schemas = new Set<string>()
  for (const file of globSync('**/*.ts', { cwd: sources }).toSorted()) {
    const source = readFileSync(`${sources}${file}`, 'utf8')
    for (const match of source.matchAll(declaration)) {
      const [whole, text, , name = '', , heritage = ''] = match
      const end = match.index + whole.length
      const body = bodyAt(source, end - (whole.endsWith('{') ? 1 : 0))
      const members = membersOf(body)
      parents[name] = [...`${heritage} ${whole.endsWith('=') ? body : ''}`.matchAll(/\b[A-Z]\w+/g)].map(
        ([word]) => word,
      )
      types[name] = { description: inWords(text), fields: fieldsOf(members) }
    }
    // A type that is inferred from its schema has the comments of the schema's fields. The comment stands above the
    // type, or above the schema where nobody names the type.
    for (const match of source.matchAll(model)) {
      const [whole, text, name = '', isWritten] = match
      schemas.add(name)
      if (isWritten === undefined) continue
      const body = bodyAt(source, match.index + whole.length)
      const fields = fieldsOf(membersOf(body))
      const spread = [...body.matchAll(/\.\.\.(\w+)Schema\.entries/g)].map(([, parent = '']) => capitalized(parent))
      parents[name] = [...(parents[name] ?? []), ...spread]
      if (Object.keys(fields).length > 0 || spread.length > 0)
        types[name] = { description: types[name]?.description || inWords(text), fields }
    }
    const family = source.indexOf('packetFamily({')
    for (const packet of family === -1 ? [] : membersOf(bodyAt(source, family))) {
      const name = packetSchemaName(packet.name)
      schemas.add(name)
      types[name] = { description: packet.text, fields: fieldsOf(membersOf(packet.type)) }
    }
  }
  const inherited = (name: string, seen: readonly string[]): Record<string, string> =>
    seen.includes(name) || !types[name]
      ? {}
      : Object.assign(
          {},
          ...(parents[name] ?? []).map((parent) => inherited(parent, [...seen, name])),
          types[name].fields,
        )
  return Object.fromEntries(
    Object.entries(types)
      .map(([name, { description }]) => [name, { description, fields: inherited(name, []) }] as const)
      .filter(([name, { description, fields }]) => schemas.has(name) && (description || Object.keys(fields).length > 0))
      .toSorted(([left], [right]) => (left < right ? -1 : 1)),
  )
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

function fieldsOf(members: readonly { name: string; text: string }[]): Record<string, string> {
  return Object.fromEntries(members.filter(({ text }) => text !== '').map(({ name, text }) => [name, text]))
}

const descriptions: Readonly<Record<string, Description>> = collect()

export default descriptions

/** Writes them where the built package has `#descriptions`. */
export const descriptionsFile: Plugin = {
  name: 'descriptions',
  generateBundle() {
    const source = `export default ${JSON.stringify(descriptions)}\n`
    this.emitFile({ type: 'asset', fileName: 'openapi/descriptions.js', source })
  },
}
