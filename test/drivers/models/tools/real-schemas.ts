type Schema = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
const of = (properties: Schema, ...required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})
const list = (items: unknown): Schema => ({ type: 'array', items })

/** Schemas that every provider takes. */
export const fineSchemas: readonly (readonly [name: string, schema: Schema])[] = [
  ['no arguments', of({})],
  ['one text', of({ query: { type: 'string', description: 'What to look for.' } }, 'query')],
  ['a choice', of({ unit: { type: 'string', enum: ['c', 'f'] } })],
  ['numbers with bounds', of({ limit: { type: 'integer', minimum: 1, maximum: 50 } })],
  ['a list of texts', of({ tags: list(string) }, 'tags')],
  ['a list of objects', of({ rows: list(of({ id: integer, done: { type: 'boolean' } }, 'id')) })],
  ['an object in an object', of({ range: of({ from: string, to: string }) })],
  ['lengths', of({ name: { type: 'string', minLength: 1, maxLength: 80 }, ids: { ...list(integer), maxItems: 9 } })],
]

const node = of({ value: string, children: list({ $ref: '#/$defs/node' }) }, 'value')
const filter = {
  oneOf: [
    of({ kind: { const: 'day' }, day: string }, 'kind', 'day'),
    of({ kind: { const: 'span' }, from: string, to: string }, 'kind', 'from'),
  ],
}

/** Schemas as servers and documents hand them out. */
export const oddSchemas: readonly (readonly [name: string, schema: Schema])[] = [
  ['nothing', {}],
  ['no type', { properties: { q: string } }],
  ['no properties', { type: 'object' }],
  ['required without properties', { type: 'object', required: ['q'] }],
  ['properties that are null', { type: 'object', properties: null }],
  ['properties that are a list', { type: 'object', properties: [] }],
  ['required that is null', { ...of({ q: string }), required: null }],
  ['required that is true', of({ q: { type: 'string', required: true } })],
  ['required names that are not there', of({ q: string }, 'q', 'p')],
  ['required of cases', { ...of({ shape: string }), required: { circle: ['radius'] } }],
  ['a type of null', { type: null, properties: { q: string } }],
  ['one of two ids', { ...of({ id: string, name: string }), anyOf: [{ required: ['id'] }, { required: ['name'] }] }],
  [
    'exactly one of two ids',
    { ...of({ id: string, name: string }), oneOf: [{ required: ['id'] }, { required: ['name'] }] },
  ],
  ['not both', { ...of({ id: string, name: string }), not: { required: ['id', 'name'] } }],
  ['forms by kind', { type: 'object', ...filter }],
  ['forms by kind without a type', filter],
  ['parts at the top', { type: 'object', allOf: [of({ a: string }, 'a'), of({ b: number })] }],
  [
    'parts by reference',
    { allOf: [{ $ref: '#/definitions/Base' }, of({ b: number })], definitions: { Base: of({ a: string }, 'a') } },
  ],
  ['a choice at the top', { ...of({ a: string }), enum: [{ a: 'x' }] }],
  ['conditions', { ...of({ a: string, b: string }), if: of({ a: { const: 'x' } }), then: { required: ['b'] } }],
  ['lists without items', of({ ids: { type: 'array' }, rows: list({ type: 'array' }) })],
  ['lists of anything', of({ ids: list({}), more: list(true) })],
  ['a pair', of({ point: { type: 'array', items: [number, number] } })],
  ['a pair of 2020', of({ point: { type: 'array', prefixItems: [number, string], items: false } })],
  ['a text or null', of({ note: { type: ['string', 'null'] } })],
  ['a text or a number', of({ id: { type: ['string', 'number'] } })],
  ['a text, a number or null', of({ id: { type: ['string', 'integer', 'null'] } })],
  ['a union with null', of({ note: { anyOf: [string, { type: 'null' }], default: null, title: 'Note' } })],
  ['a union of types', of({ id: { anyOf: [string, integer], description: 'Id.' } })],
  ['one or many', of({ to: { oneOf: [string, list(string)] } }, 'to')],
  ['forms in a field', of({ filter })],
  ['forms in a list', of({ filters: list(filter) })],
  [
    'fields beside a union',
    of({ at: { ...of({ x: number, y: number }), anyOf: [{ required: ['x'] }, { required: ['y'] }] } }),
  ],
  [
    'parts in a field',
    {
      ...of({ page: { allOf: [{ $ref: '#/$defs/Page' }], description: 'Page.' } }),
      $defs: { Page: of({ size: integer }) },
    },
  ],
  ['a tree', { ...of({ root: { $ref: '#/$defs/node' } }, 'root'), $defs: { node } }],
  ['a tree from the top', { $ref: '#/$defs/node', $defs: { node } }],
  ['a reference to the top', of({ value: string, next: { $ref: '#' } })],
  ['a reference to nowhere', of({ a: { $ref: '#/$defs/gone' }, b: { $ref: 'https://schemas.example/b.json' } })],
  ['a reference through a field', of({ a: of({ b: string }), c: { $ref: '#/properties/a/properties/b' } })],
  ['schemas that are true', of({ any: true, none: false })],
  ['a field that is a text', of({ type: 'object', q: string })],
  ['a field that is null', of({ q: null })],
  ['a field without a type', of({ data: { description: 'Anything.' } }, 'data')],
  ['a free object', of({ labels: { type: 'object', additionalProperties: string } })],
  ['an object of anything', of({ body: { type: 'object', additionalProperties: true }, empty: { type: 'object' } })],
  [
    'fields by pattern',
    of({ env: { type: 'object', patternProperties: { '^[A-Z]+$': string }, propertyNames: { pattern: '^[A-Z]' } } }),
  ],
  ['bounds that are left out', of({ n: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9, multipleOf: 2 } })],
  [
    'bounds of draft 4',
    of({
      n: { type: 'number', minimum: 0, exclusiveMinimum: true },
      m: { type: 'number', maximum: 1, exclusiveMaximum: false },
    }),
  ],
  ['a constant', of({ version: { const: 2 }, mode: { type: 'string', const: 'fast' } }, 'version')],
  ['choices of numbers', of({ depth: { type: 'integer', enum: [1, 2, 4] } })],
  ['choices with an empty text', of({ order: { type: 'string', enum: ['', 'asc', 'desc'] } })],
  ['choices with null', of({ order: { type: ['string', 'null'], enum: ['asc', null] } })],
  ['choices without a type', of({ order: { enum: ['asc', 'desc'] } })],
  ['no choices', of({ order: { type: 'string', enum: [] } })],
  [
    'formats',
    of({
      at: { type: 'string', format: 'date-time' },
      mail: { type: 'string', format: 'email' },
      n: { type: 'integer', format: 'int64' },
    }),
  ],
  ['patterns', of({ id: { type: 'string', pattern: '\\d+' }, slug: { type: 'string', pattern: '^[a-z-]+$' } })],
  [
    'keywords of tools',
    {
      ...of({ q: { ...string, examples: ['a'], default: 'b', 'x-order': 1, deprecated: true, readOnly: false } }),
      additionalProperties: false,
      title: 'Args',
    },
  ],
  [
    'names of other kinds',
    of(
      { $filter: string, 'first name': string, 日付: string, 'a[b]': string, ['x'.repeat(90)]: string },
      '$filter',
      'first name',
    ),
  ],
  [
    'keywords as names',
    of({
      properties: of({ type: string }),
      required: { type: 'boolean' },
      anyOf: list(string),
      $ref: string,
      enum: string,
    }),
  ],
  [
    'words for types',
    of({ a: { type: 'str' }, b: { type: 'int' }, c: { type: 'any' }, d: { type: 'String' }, e: { type: 'dict' } }),
  ],
  ['a description that is no text', of({ q: { type: 'string', description: ['What', 'to find'] } })],
  ['OpenAPI that may be null', of({ q: { type: 'string', nullable: true, example: 'x' } })],
  [
    'a union in a union',
    of({ v: { anyOf: [{ anyOf: [string, { type: 'null' }] }, { oneOf: [integer, { type: 'boolean' }] }] } }),
  ],
  ['depth', of({ a: of({ b: of({ c: of({ d: of({ e: of({ f: list(list(list(string))) }) }) }) }) }) })],
]
