// Fills the generated parts of docs/3.wire.md: `node --conditions=@inlay/source packages/protocol/scripts/wire-docs.ts`
import { readFileSync, writeFileSync } from 'node:fs'
import { errorTable, packetTable, packetTypes, streamLineSchema } from '@inlay/protocol'
import { toOpenApi, type RouteSpec } from '@inlay/protocol/openapi'

/** Path of the page. */
export const wirePage: URL = new URL('../../../docs/3.wire.md', import.meta.url)

/** A schema as the tables show it. */
export interface Shape {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly additionalProperties?: Shape | boolean
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
}

const stream: RouteSpec = {
  method: 'GET',
  path: '/',
  operationId: 'stream',
  summary: 'Every shape of a stream',
  tags: [],
  scopes: [],
  owner: 'none',
  responses: { 200: { description: 'Its lines.', schema: streamLineSchema } },
}

const shapes = toOpenApi([stream], { title: 'Inlay', version: '0' }).components.schemas as Readonly<
  Record<string, Shape>
>

/** A shape in words: `list of SearchDoc or null`. */
export function inWords(shape: Shape): string {
  if (shape.$ref) return shape.$ref.replace('#/components/schemas/', '')
  if (shape.anyOf) return shape.anyOf.map(inWords).join(' or ')
  if (shape.enum) return shape.enum.map((value) => `\`${String(value)}\``).join(' or ')
  if (shape.const !== undefined) return `\`${String(shape.const)}\``
  if (shape.type === 'array') return `list of ${inWords(shape.items ?? {})}`
  if (shape.type === 'object' && shape.properties) {
    const fields = Object.entries(shape.properties).map(([name, field]) => `${name}: ${inWords(field)}`)
    return `{ ${fields.join(', ')} }`
  }
  if (shape.type === 'object')
    return typeof shape.additionalProperties === 'object' && Object.keys(shape.additionalProperties).length > 0
      ? `object of ${inWords(shape.additionalProperties)}`
      : 'object'
  if (shape.format === 'date-time') return 'date-time'
  return typeof shape.type === 'string' ? shape.type : 'any JSON value'
}

/** The fields of an object as a table in Markdown. */
export function fieldTable(shape: Shape | undefined): string[] {
  const fields = Object.entries(shape?.properties ?? {}).filter(([name]) => name !== 'type')
  if (fields.length === 0) return []
  const rows = fields.map(([name, field]) => {
    const presence = shape?.required?.includes(name) ? '' : ', may be absent'
    return `| ${name} | ${inWords(field)}${presence} | ${field.description ?? ''} |`
  })
  return ['| field | type | meaning |', '|---|---|---|', ...rows, '']
}

const shapeOf = (type: string): Shape | undefined =>
  Object.values(shapes).find((shape) => shape.properties?.type?.const === type)

function packetSections(): string {
  return packetTypes
    .flatMap((type) => {
      const shape = shapeOf(type)
      return [
        `### ${type}`,
        '',
        shape?.description ?? '',
        '',
        ...fieldTable(shape),
        '```json',
        JSON.stringify(packetTable[type].example),
        '```',
        '',
      ]
    })
    .join('\n')
}

function sharedShapes(): string {
  return ['Placement', 'SearchDoc', 'GeneratedImage']
    .flatMap((name) => [`### ${name}`, '', ...fieldTable(shapes[name])])
    .join('\n')
}

function lineSections(): string {
  return ['SessionLine', 'MessageIdLine', 'MultiModelLine', 'Packet', 'ErrorLine']
    .flatMap((name) => [`### ${name}`, '', ...fieldTable(shapes[name])])
    .join('\n')
}

function errorRows(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, retryable, message }]) => `| ${code} | ${status} | ${retryable ? 'yes' : 'no'} | ${message} |`,
  )
  return ['| code | status | retry may help | meaning |', '|---|---|---|---|', ...rows, ''].join('\n')
}

const parts: Readonly<Record<string, () => string>> = {
  lines: lineSections,
  packets: packetSections,
  shapes: sharedShapes,
  errors: errorRows,
}

/** The page with every part between `<!-- generated: name -->` and `<!-- end -->` made anew. */
export function fillWirePage(page: string): string {
  return page.replace(
    /(<!-- generated: (\w+) -->\n)[^]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${(parts[name]?.() ?? '').trim()}\n\n${end}`,
  )
}

if (import.meta.main) writeFileSync(wirePage, fillWirePage(readFileSync(wirePage, 'utf8')))
