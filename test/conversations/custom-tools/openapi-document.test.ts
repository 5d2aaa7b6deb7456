import { describe, expect, test } from 'vitest'
import type { CustomToolSource } from '@inlay/conversations'
import { parseOpenApi } from '@inlay/conversations/internal/custom-tools/openapi-document'
import { listOperations, reduceDocument, upgraded } from '@inlay/conversations/internal/custom-tools/openapi-reader'
import { toInputSchema, toRequest } from '@inlay/conversations/internal/custom-tools/openapi-request'
import { isInlayError, type JsonObject } from '@inlay/protocol'
import { kennelDocument } from './kennel.ts'

/** The document with some of it replaced. */
const documentWith = (more: Record<string, unknown>) => ({ ...kennelDocument(), ...more })
const operation = (more: Record<string, unknown>) => ({ operationId: 'one', summary: 'One.', ...more })
const only = (path: string, item: unknown) => documentWith({ paths: { [path]: item } })
const operationsOf = async (document: JsonObject) => parseOpenApi(await upgraded(document)).operations

/** What is taken of a document, and what is not. */
async function listed(document: CustomToolSource['document'], more: Omit<CustomToolSource, 'document'> = {}) {
  const { methods, skipped, servers } = await listOperations({ document, ...more })
  return {
    names: methods.map(({ name, method, path }) => `${name}: ${method} ${path}`),
    skipped: skipped.map(({ method, path, reason }) => `${method} ${path} ${reason}`),
    servers,
  }
}

/** The request that a call of the first operation of what would be stored makes. */
async function requestOf(source: CustomToolSource, input: JsonObject) {
  const { definition } = await reduceDocument(source)
  const [first] = await operationsOf(definition)
  return toRequest(first!, input, (text) => text)
}

async function refusal(source: CustomToolSource): Promise<string> {
  try {
    await reduceDocument(source)
    return 'taken'
  } catch (error) {
    return isInlayError(error) ? `${error.code} ${error.message}` : `no InlayError: ${String(error)}`
  }
}

describe('a document', () => {
  test('gives a function for each operation, named for models', async () => {
    expect(await listed(kennelDocument())).toEqual({
      names: [
        'list_dogs: GET /dogs',
        'boardDog: POST /dogs',
        'getDog: GET /dogs/{dogId}',
        'releaseDog: DELETE /dogs/{dogId}',
      ],
      skipped: [],
      servers: ['https://kennel.example/v1'],
    })
  })

  test('keeps what is required, and leaves out what says who calls', async () => {
    const [list] = await operationsOf(kennelDocument())
    expect(toInputSchema(list!)).toEqual({
      type: 'object',
      required: ['limit'],
      properties: {
        limit: { type: 'integer', maximum: 50 },
        state: { type: 'array', items: { type: 'string' } },
        'X-Branch': { type: 'string' },
      },
    })
  })

  test('gives parameters of a path to each of its operations', async () => {
    const [, , get, release] = await operationsOf(kennelDocument())
    const schema = {
      type: 'object',
      required: ['dogId'],
      properties: { dogId: { type: 'string', description: 'Its number' } },
    }
    expect([toInputSchema(get!), toInputSchema(release!)]).toEqual([schema, schema])
  })

  test('is unfolded: references in place, circles open, what is only read left out', async () => {
    const [, board] = await operationsOf(kennelDocument())
    expect(toInputSchema(board!)).toEqual({
      type: 'object',
      required: ['requestBody'],
      properties: {
        requestBody: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, nick: { type: ['string', 'null'] }, mother: { type: 'object' } },
        },
      },
    })
  })

  test('names a parameter apart when its name is taken in another place', async () => {
    const parameters = [
      { name: 'id', in: 'query', schema: {} },
      { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'requestBody', in: 'query', schema: {} },
    ]
    const [first] = await operationsOf(only('/x/{id}', { get: operation({ parameters }) }))
    expect(first!.parameters.map(({ argument, place }) => `${argument} in ${place}`)).toEqual([
      'id in path',
      'query_id in query',
      'query_requestBody in query',
    ])
  })

  test('gives arguments names that models take', async () => {
    const names = ['filter[name]', 'filter{name}', 'x'.repeat(70), `${'x'.repeat(64)}y`, 'größe']
    const parameters = names.map((name) => ({ name, in: 'query', schema: {} }))
    const [first] = await operationsOf(only('/x', { get: operation({ parameters }) }))
    expect(first!.parameters.map(({ name }) => name)).toEqual(names)
    expect(first!.parameters.map(({ argument }) => argument)).toEqual([
      'filter_name_',
      'query_filter_name_',
      'x'.repeat(64),
      `query_${'x'.repeat(58)}`,
      'gr__e',
    ])
  })

  test('may be of any version, as JSON or YAML', async () => {
    const swagger = {
      swagger: '2.0',
      info: { title: 'x' },
      host: 'kennel.example',
      basePath: '/v2',
      schemes: ['https'],
      parameters: {
        Dog: { name: 'dog', in: 'body', required: true, schema: { $ref: '#/definitions/Dog' } },
        Sort: { name: 'sort', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
      },
      definitions: { Dog: { type: 'object', properties: { name: { type: 'string', 'x-nullable': true } } } },
      paths: {
        '/dogs': {
          post: {
            consumes: ['application/json'],
            parameters: [{ $ref: '#/parameters/Dog' }, { $ref: '#/parameters/Sort' }],
          },
        },
      },
    }
    expect(await requestOf({ document: swagger }, { sort: ['a', 'b'], requestBody: { name: null } })).toEqual({
      url: 'https://kennel.example/v2/dogs?sort=a,b',
      headers: { 'content-type': 'application/json' },
      body: '{"name":null}',
    })
    const yaml = [
      'openapi: "3.2.0"',
      'servers: [{ url: "https://kennel.example" }]',
      'paths:',
      '  /dogs:',
      '    get:',
      '      parameters:',
      '        - { name: all, in: querystring, content: { application/x-www-form-urlencoded: { schema: { type: object } } } }',
    ].join('\n')
    const { url } = await requestOf({ document: yaml }, { all: { state: 'ill', limit: 2 } })
    expect(url).toBe('https://kennel.example/dogs?state=ill&limit=2')
  })

  test('needs no ids, descriptions or described path parameters; names stay apart and short', async () => {
    const document = documentWith({
      info: { title: 'x' },
      paths: {
        '/dogs/{dogId}/walks': { get: {} },
        '/a': { get: { operationId: 'x'.repeat(72) }, put: { operationId: 'x'.repeat(72) } },
        '/b': { get: { operationId: 'a b' }, put: { operationId: 'a/b' } },
      },
    })
    const { names } = await listed(document)
    expect(names.map((line) => line.replaceAll('x'.repeat(58), 'X'))).toEqual([
      'get_dogs_dogId_walks: GET /dogs/{dogId}/walks',
      'Xxxxxxx: GET /a',
      'X_2: PUT /a',
      'a_b: GET /b',
      'a_b_2: PUT /b',
    ])
    expect(await requestOf({ document }, { dogId: 'r 1' })).toMatchObject({
      url: 'https://kennel.example/v1/dogs/r%201/walks',
    })
  })
})

describe('the server', () => {
  const servers = [
    { url: 'ftp://a.example' },
    { url: 'https://{zone}.example/{base}/', variables: { zone: { default: 'eu' }, base: { enum: ['v2'] } } },
    { url: 'https://other.example' },
  ]

  test('is the first that can be called, and another may be named', async () => {
    const document = documentWith({ servers })
    expect((await listed(document)).servers).toEqual(['https://eu.example/v2', 'https://other.example'])
    expect((await requestOf({ document }, { limit: 1 })).url).toBe('https://eu.example/v2/dogs?limit=1')
    const named = await requestOf({ document, serverUrl: 'https://own.example/' }, { limit: 1 })
    expect(named.url).toBe('https://own.example/dogs?limit=1')
  })

  test('of a path or an operation wins, and one relative to the document is made whole', async () => {
    const document = documentWith({
      servers: [{ url: '/v3' }],
      paths: {
        '/a': { servers: [{ url: 'https://path.example' }], get: {}, put: { servers: [{ url: '../up' }] } },
        '/b': { get: {} },
      },
    })
    const { definition } = await reduceDocument({ document, address: 'https://kennel.example/docs/openapi.json' })
    expect((await operationsOf(definition)).map(({ path, serverUrl }) => `${path} ${serverUrl}`)).toEqual([
      '/a https://path.example',
      '/a https://kennel.example/up',
      '/b https://kennel.example/v3',
    ])
    expect(await refusal({ document })).toContain('give one as server_url')
    expect((await listed(document)).names).toHaveLength(3)
  })

  test('that is named stands in for one of an operation that cannot be called', async () => {
    const document = only('/a#b', { servers: [{ url: '/own' }], get: operation({}) })
    const { url } = await requestOf({ document, serverUrl: 'https://own.example' }, {})
    expect(url).toBe('https://own.example/a')
  })

  test.each(['file:///etc/', 'https://u:p@a.example', 'https://a.example/?x=1', 'a.example'])(
    'cannot be %s',
    async (serverUrl) => {
      expect(await refusal({ document: kennelDocument(), serverUrl })).toContain('server_url has to be')
    },
  )
})

describe('operations that cannot be called are listed with the reason, and the others are taken:', () => {
  const body = (type: string, schema: unknown = {}) => ({ requestBody: { content: { [type]: { schema } } } })
  const file = { type: 'object', properties: { photo: { type: 'string', format: 'binary' } } }
  test.each<[string, Record<string, unknown>, string]>([
    ['HEAD', { head: operation({}) }, 'HEAD /x HEAD is not called'],
    ['bytes', { post: body('application/octet-stream') }, 'POST /x takes a body of application/octet-stream'],
    ['files', { post: body('multipart/form-data', file) }, 'POST /x uploads a file (photo), which a model cannot send'],
    [
      'a required cookie',
      { get: { parameters: [{ name: 'sid', in: 'cookie', required: true }] } },
      'GET /x needs sid in cookie, which is not sent',
    ],
    [
      'a reference that leads nowhere',
      { get: { parameters: [{ $ref: '#/components/parameters/No' }] } },
      'GET /x its $ref #/components/parameters/No leads nowhere',
    ],
    [
      'a reference to another document',
      { post: body('application/json', { $ref: 'https://other.example/p.json' }) },
      'POST /x refers to another document by $ref (https://other.example/p.json): put everything into one',
    ],
    [
      'references round in circles',
      { get: { parameters: [{ $ref: '#/components/parameters/a' }] } },
      'GET /x its references lead round in circles',
    ],
    ['an operation that is none', { get: 7 }, 'GET /x is no object'],
  ])('%s', async (_, item, reason) => {
    const { paths, components } = kennelDocument() as { paths: object; components: object }
    const circle = { a: { $ref: '#/components/parameters/b' }, b: { $ref: '#/components/parameters/a' } }
    const parameters = { ...(components as { parameters: object }).parameters, ...circle }
    const document = documentWith({ paths: { '/x': item, ...paths }, components: { ...components, parameters } })
    const { names, skipped } = await listed(document)
    expect(skipped).toEqual([reason])
    expect(names).toHaveLength(4)
    const { definition, skipped: left } = await reduceDocument({ document })
    expect(left).toHaveLength(1)
    expect(Object.keys(definition['paths'] as object)).toEqual(['/dogs', '/dogs/{dogId}'])
  })

  test('an optional cookie is left out alone', async () => {
    const get = operation({ parameters: [{ name: 'sid', in: 'cookie', schema: {} }] })
    const [first] = await operationsOf(only('/x', { get }))
    expect(toInputSchema(first!)).toEqual({ type: 'object', properties: {} })
  })
})

describe('operations are chosen', () => {
  const numbered = Object.fromEntries(
    Array.from({ length: 120 }, (_, number) => [
      `/${number % 2 ? 'odd' : 'even'}/${number}`,
      { get: { operationId: `get${number}`, tags: [number < 3 ? 'first' : 'rest'] } },
    ]),
  )
  const document = documentWith({ paths: numbered })
  const chosenBy = async (...operations: string[]) =>
    Object.keys((await reduceDocument({ document, operations })).definition['paths'] as object)

  test('by name, method and path, start of paths and tag', async () => {
    const paths = await chosenBy('get7', 'GET /even/4', '/odd/11*', 'tag:first')
    expect(paths.join(' ')).toBe(
      '/even/0 /odd/1 /even/2 /even/4 /odd/7 /odd/11 /odd/111 /odd/113 /odd/115 /odd/117 /odd/119',
    )
    expect(await chosenBy('get119')).toEqual(['/odd/119'])
  })

  test('or are the first hundred, and the others are told', async () => {
    const { definition, skipped } = await reduceDocument({ document })
    expect(Object.keys(definition['paths'] as object)).toHaveLength(100)
    expect(skipped).toHaveLength(20)
    expect(skipped[0]).toEqual({
      method: 'GET',
      path: '/even/100',
      reason: 'only the first 100 operations are taken: choose with operations',
    })
  })

  test.each([
    ['none', [], 'no operation is chosen'],
    ['no such', ['get120'], 'it has no operation get120'],
    ['too many', ['/*'], '120 operations are chosen; at most 100 can be'],
  ])('but %s are refused', async (_, operations, words) => {
    expect(await refusal({ document, operations })).toContain(words)
  })

  test('and are stored without the rest, so that reading them again gives the same', async () => {
    const source = { document: kennelDocument(), operations: ['boardDog', 'list_dogs'] }
    const { definition } = await reduceDocument(source)
    expect(definition).not.toHaveProperty('components')
    const before = (await operationsOf(kennelDocument())).slice(0, 2)
    const again = await operationsOf(definition)
    const withoutSource = before.map((known) => ({ ...known, source: expect.any(Object) as object }))
    expect(again).toEqual(withoutSource)
    expect((await reduceDocument({ document: definition, operations: ['list_dogs', 'boardDog'] })).definition).toEqual(
      definition,
    )
  })
})

describe('a document is refused, and told why,', () => {
  test.each<[string, CustomToolSource['document'], string]>([
    ['of another kind', documentWith({ openapi: '4.0' }), 'openapi 3 or swagger 2.0'],
    ['without operations', documentWith({ paths: {} }), 'no operation'],
    ['without one that can be called', only('/x', { head: {} }), 'HEAD /x HEAD is not called'],
    ['that is a page', '<html><body>', 'neither'],
    ['that is only a word', 'openapi.json', 'neither'],
    ['in broken JSON', '{"openapi": "3.0.0",', 'neither JSON nor YAML'],
    ['in broken YAML', 'openapi: "3.0.0\npaths: [', 'neither JSON nor YAML'],
    [
      'of version 2 that cannot be upgraded',
      { swagger: '2.0', paths: { '/x': { get: { parameters: [{ name: 'x' }] } } } },
      'not made as its version demands',
    ],
  ])('%s', async (_, document, words) => {
    const message = await refusal({ document })
    expect(message).toContain('VALIDATION_ERROR')
    expect(message).toContain(words)
  })
})

describe('a hostile document costs little', () => {
  const jsonBody = (schema: unknown) => operation({ requestBody: { content: { 'application/json': { schema } } } })
  const withSchemas = (schemas: Record<string, unknown>, schema: unknown) => ({
    ...only('/x', { post: jsonBody(schema) }),
    components: { schemas },
  })

  test('that unfolds to more than a model could read: inner levels are left open', async () => {
    const schemas: Record<string, unknown> = { s0: { type: 'string' } }
    for (let level = 1; level < 25; level++) {
      const $ref = `#/components/schemas/s${level - 1}`
      schemas[`s${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } }
    }
    const [first] = await operationsOf(withSchemas(schemas, { $ref: '#/components/schemas/s24' }))
    const text = JSON.stringify(toInputSchema(first!))
    expect(text.length).toBeLessThan(40_000)
    expect(text.length).toBeGreaterThan(1_000)
  })

  test('with an allOf that holds itself, ten thousand fields or names of every object', async () => {
    const $ref = '#/components/schemas/Loop'
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field${index}`, { type: 'string' }]))
    const schemas = {
      Loop: { allOf: [{ $ref }, { type: 'object', properties: { a: { $ref } } }] },
      Wide: { type: 'object', properties: wide },
      Odd: JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"$ref":"#"}}}',
      ) as unknown,
    }
    for (const name of Object.keys(schemas)) {
      const [first] = await operationsOf(withSchemas(schemas, { $ref: `#/components/schemas/${name}` }))
      expect(JSON.stringify(toInputSchema(first!)).length).toBeLessThan(40_000)
    }
    expect(Object.prototype).not.toHaveProperty('type')
  })

  test('with parameters and paths named like what every object has', async () => {
    const names = ['__proto__', 'constructor', 'toString']
    const parameters = names.map((name) => ({ name, in: 'query', schema: { type: 'string' } }))
    const document = JSON.stringify(only('/x', { get: operation({ parameters }) })).replace('"/x"', '"/__proto__"')
    expect((await requestOf({ document }, {})).url).toBe('https://kennel.example/v1/__proto__')
    const { url } = await requestOf({ document }, { query_constructor: 'a' })
    expect(url).toBe('https://kennel.example/v1/__proto__?constructor=a')
  })

  test('of YAML aliases, or with more operations than anybody calls', async () => {
    const levels = Array.from({ length: 8 }, (_, level) => {
      const items = Array.from({ length: 10 }, () => (level === 0 ? 'x' : `*l${level - 1}`))
      return `l${level}: &l${level} [${items.join(',')}]`
    })
    expect(await refusal({ document: ['openapi: 3.0.0', ...levels].join('\n') })).toContain('alias')
    const paths = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`/${index}`, { get: {} }]))
    expect(await refusal({ document: documentWith({ paths }) })).toContain('more than 20000 operations')
  })
})
