import { describe, expect, test } from 'vitest'
import { parseOpenApi } from '@inlay/conversations/internal/custom-tools/openapi-document'
import { toInputSchema } from '@inlay/conversations/internal/custom-tools/openapi-request'
import { isInlayError } from '@inlay/protocol'
import { kennelDocument } from './kennel.ts'

/** The document with some of it replaced. */
const documentWith = (more: Record<string, unknown>) => ({ ...kennelDocument(), ...more })
const operation = (more: Record<string, unknown>) => ({ operationId: 'one', summary: 'One.', ...more })
const only = (path: string, item: unknown) => documentWith({ paths: { [path]: item } })

function refusal(document: Record<string, unknown>): string {
  try {
    parseOpenApi(document)
    return 'taken'
  } catch (error) {
    return isInlayError(error) ? `${error.code} ${error.message}` : `no InlayError: ${String(error)}`
  }
}

describe('a document', () => {
  test('gives a function for each operation, named for models', () => {
    const { title, serverUrl, operations } = parseOpenApi(kennelDocument())
    expect({ title, serverUrl }).toEqual({ title: 'Kennel', serverUrl: 'https://kennel.example/v1' })
    expect(operations.map(({ name, method, path }) => `${name} ${method} ${path}`)).toEqual([
      'list_dogs GET /dogs',
      'boardDog POST /dogs',
      'getDog GET /dogs/{dogId}',
      'releaseDog DELETE /dogs/{dogId}',
    ])
  })

  test('keeps what is required, and leaves out what says who calls', () => {
    const [list] = parseOpenApi(kennelDocument()).operations
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

  test('gives parameters of a path to each of its operations', () => {
    const [, , get, release] = parseOpenApi(kennelDocument()).operations
    const schema = {
      type: 'object',
      required: ['dogId'],
      properties: { dogId: { type: 'string', description: 'Its number' } },
    }
    expect([toInputSchema(get!), toInputSchema(release!)]).toEqual([schema, schema])
  })

  test('is unfolded: references in place, circles open, what is only read left out', () => {
    const [, board] = parseOpenApi(kennelDocument()).operations
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

  test('names a parameter apart when its name is taken in another place', () => {
    const parameters = [
      { name: 'id', in: 'query', schema: {} },
      { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'requestBody', in: 'query', schema: {} },
    ]
    const [first] = parseOpenApi(only('/x/{id}', { get: operation({ parameters }) })).operations
    expect(first!.parameters.map(({ argument, place }) => `${argument} in ${place}`)).toEqual([
      'id in path',
      'query_id in query',
      'query_requestBody in query',
    ])
  })

  test('gives arguments names that models take', () => {
    const names = ['filter[name]', 'filter{name}', 'x'.repeat(70), `${'x'.repeat(64)}y`, 'größe']
    const parameters = names.map((name) => ({ name, in: 'query', schema: {} }))
    const [first] = parseOpenApi(only('/x', { get: operation({ parameters }) })).operations
    expect(first!.parameters.map(({ name }) => name)).toEqual(names)
    expect(first!.parameters.map(({ argument }) => argument)).toEqual([
      'filter_name_',
      'query_filter_name_',
      'x'.repeat(64),
      `query_${'x'.repeat(58)}`,
      'gr__e',
    ])
  })

  test('may say which server by variables with defaults', () => {
    const servers = [
      { url: 'https://{zone}.example/{base}/', variables: { zone: { default: 'eu' }, base: { default: 'v2' } } },
    ]
    expect(parseOpenApi(documentWith({ servers })).serverUrl).toBe('https://eu.example/v2')
  })
})

describe('a document is refused, and told why,', () => {
  test.each([
    ['of version 2', documentWith({ openapi: '2.0' }), 'version 3'],
    ['without a description', documentWith({ info: { title: 'x' } }), 'title and a description'],
    ['with two servers', documentWith({ servers: [{ url: 'https://a' }, { url: 'https://b' }] }), 'exactly one'],
    ['with a relative server', documentWith({ servers: [{ url: '/v1' }] }), 'whole http or https'],
    ['with a file as its server', documentWith({ servers: [{ url: 'file:///etc/' }] }), 'whole http or https'],
    ['without operations', documentWith({ paths: {} }), 'no operation'],
    ['without an operationId', only('/x', { get: { summary: 'x' } }), 'GET /x needs an operationId'],
    ['without a summary', only('/x', { get: { operationId: 'x' } }), 'needs a summary or a description'],
    ['with another method', only('/x', { head: operation({}) }), 'HEAD operations'],
    [
      'with colliding names',
      only('/x', { get: operation({ operationId: 'a b' }), put: operation({ operationId: 'a/b' }) }),
      'called a_b',
    ],
    [
      'with a form body',
      only('/x', { post: operation({ requestBody: { content: { 'multipart/form-data': {} } } }) }),
      'application/json',
    ],
    ['with a path parameter not described', only('/x/{id}', { get: operation({}) }), 'path parameter id'],
    [
      'with a reference that leads nowhere',
      only('/x', { get: operation({ parameters: [{ $ref: '#/components/parameters/No' }] }) }),
      'leads nowhere',
    ],
    [
      'with a reference to another document',
      only('/x', { get: operation({ parameters: [{ $ref: 'https://other.example/p.json' }] }) }),
      'another document',
    ],
    [
      'with parameters that lead round in circles',
      documentWith({
        paths: { '/x': { get: operation({ parameters: [{ $ref: '#/components/a' }] }) } },
        components: { a: { $ref: '#/components/b' }, b: { $ref: '#/components/a' } },
      }),
      'round in circles',
    ],
  ])('%s', (_, document, words) => {
    const message = refusal(document)
    expect(message).toContain('VALIDATION_ERROR')
    expect(message).toContain(words)
  })

  test('that unfolds to more than a model could read', () => {
    const schemas: Record<string, unknown> = { s0: { type: 'string' } }
    for (let level = 1; level < 25; level++) {
      const $ref = `#/components/schemas/s${level - 1}`
      schemas[`s${level}`] = { properties: { a: { $ref }, b: { $ref } } }
    }
    const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/s24' } } } }
    const document = { ...only('/x', { post: operation({ requestBody: body }) }), components: { schemas } }
    expect(refusal(document)).toContain('too large')
  })
})
