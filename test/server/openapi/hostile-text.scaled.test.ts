import type { GenericSchema } from 'valibot'
import * as v from 'valibot'
import { routes } from '@inlay/server/internal/routes/index'
import { expect, test } from 'vitest'
import { cases } from '../../cases.ts'
import { cpuMs } from '../../cpu-time.ts'
import { setup } from '../fakes.ts'

const length = cases(50_000, 1_000_000)
/** As much as fits into so many bytes of JSON: a lone surrogate takes six. */
const filled = (piece: string, end = ''): string =>
  piece.repeat(Math.ceil(length / (Buffer.byteLength(JSON.stringify(piece)) - 2))) + end

/** Long texts that look like the beginning of a number, a time, an id, a list or a name. */
const texts = [
  ...['1', '1_', '0', '1.', '1e', '+', '-', '+-', '.', 'e', '_'].flatMap((piece) => [
    filled(piece, 'x'),
    `1${filled(piece)}`,
  ]),
  ...[' ', '\t', ' \t', '\n', '\u00a0'].flatMap((piece) => [filled(piece), filled(piece, 'x'), `1${filled(piece)}x`]),
  ...['2026-01-31T', '2026-01-31 09:30:00.', 'Z', 'T', ':', '09:30:', '2026-01-31T09:30:00.1+0'].map((piece) =>
    filled(piece, 'x'),
  ),
  ...['"', "'", '\\', '[[[', '{"a":', ',', '/', '@', 'a@', 'a.', 'http://', 'data:;', '%', '='].map((piece) =>
    filled(piece, '\n'),
  ),
  ...['a', 'a-', 'A0', 'é', 'e\u0301', '\u0301', '\ud800', '\udc00', '😀', '\u200b', '\0'].map((piece) =>
    filled(piece, '!'),
  ),
  filled('true'),
  filled('urn:uuid:{'),
  filled('0123456789abcdef-', 'x'),
]

/** Parts of a schema that hold others; each is the schema of a value or of a part of it. */
interface Holder {
  readonly entries?: Readonly<Record<string, GenericSchema>>
  readonly options?: readonly GenericSchema[]
  readonly items?: readonly GenericSchema[]
  readonly pipe?: readonly { readonly kind: string }[]
  readonly item?: GenericSchema
  readonly key?: GenericSchema
  readonly value?: GenericSchema
  readonly wrapped?: GenericSchema
  readonly rest?: GenericSchema
  readonly getter?: (input: unknown) => GenericSchema
}

function collect(schema: GenericSchema, schemas: Set<GenericSchema>, fields: Set<string>): void {
  if (schemas.has(schema)) return
  schemas.add(schema)
  const holder = schema as Holder
  const { entries = {}, options = [], items = [], pipe = [], item, key, value, wrapped, rest } = holder
  for (const name of Object.keys(entries)) fields.add(name)
  const piped = pipe.filter((step): step is GenericSchema => step.kind === 'schema' && step !== schema)
  const lazy = holder.getter?.(undefined)
  const inner = [...Object.values(entries), ...options, ...items, ...piped, item, key, value, wrapped, rest, lazy]
  for (const part of inner) if (part !== undefined && part.kind === 'schema') collect(part, schemas, fields)
}

function requestSchemas(): { schemas: Set<GenericSchema>; fields: Set<string> } {
  const schemas = new Set<GenericSchema>()
  const fields = new Set<string>()
  for (const { input } of routes)
    for (const schema of [input?.path, input?.query, input?.body?.schema])
      if (schema !== undefined) collect(schema, schemas, fields)
  return { schemas, fields }
}

interface Described {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly [keyword: string]: unknown
}

/** Names of all fields and parameters of requests in the OpenAPI document. */
async function documentedFields(): Promise<Set<string>> {
  const response = await setup().ask('/openapi.json', { key: null })
  const document = (await response.json()) as {
    paths: Record<string, Record<string, { parameters?: { name: string; in: string }[]; requestBody?: Described }>>
    components: { schemas: Record<string, Described> }
  }
  const names = new Set<string>()
  const seen = new Set<string>()
  const read = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { $ref, properties, example: _, examples: __, ...others } = value as Described
    if ($ref !== undefined && !seen.has($ref)) {
      seen.add($ref)
      read(document.components.schemas[$ref.split('/').at(-1)!])
    }
    for (const name of Object.keys(properties ?? {})) names.add(name)
    for (const part of [...Object.values(properties ?? {}), ...Object.values(others)]) read(part)
  }
  // A parameter of a path without a schema is text that nothing reads.
  const unread = new Set(routes.filter(({ input }) => input?.path === undefined).map(({ path }) => path))
  for (const [path, methods] of Object.entries(document.paths))
    for (const { parameters = [], requestBody } of Object.values(methods)) {
      for (const { name, in: place } of parameters)
        if (place === 'query' || (place === 'path' && !unread.has(path))) names.add(name)
      read(requestBody)
    }
  return names
}

test('every scalar of every request reads a megabyte of hostile text in a few milliseconds', () => {
  const slow: string[] = []
  for (const schema of requestSchemas().schemas)
    for (const text of texts) {
      const began = cpuMs()
      v.safeParse(schema, text, { abortPipeEarly: true })
      let took = cpuMs() - began
      // The collector of garbage may have run meanwhile, or another process have emptied the caches.
      for (let tries = 0; tries < 4 && took >= 5 && took < 200; tries++) {
        const again = cpuMs()
        v.safeParse(schema, text, { abortPipeEarly: true })
        took = Math.min(took, cpuMs() - again)
      }
      if (took < 5) continue
      slow.push(
        `${v.getDescription(schema) ?? schema.type} ${JSON.stringify(text.slice(0, 12))}: ${took.toFixed(0)} ms`,
      )
      // One text tells enough.
      break
    }
  expect(slow).toEqual([])
})

test('no field of the OpenAPI document is left out', async () => {
  const { fields } = requestSchemas()
  expect([...(await documentedFields())].filter((name) => !fields.has(name))).toEqual([])
})
