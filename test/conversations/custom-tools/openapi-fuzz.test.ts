import fc from '../../fast-check.ts'
import { expect, test } from 'vitest'
import { parseOpenApi } from '@inlay/conversations/internal/custom-tools/openapi-document'
import { listOperations, reduceDocument, upgraded } from '@inlay/conversations/internal/custom-tools/openapi-reader'
import { faultsOf, toInputSchema, toRequest } from '@inlay/conversations/internal/custom-tools/openapi-request'
import { isInlayError } from '@inlay/protocol'
import { kennelDocument } from './kennel.ts'

/** Every place of a document, as the keys that lead there. */
function placesOf(value: unknown, here: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [here]
  return [here, ...Object.entries(value).flatMap(([key, entry]) => placesOf(entry, [...here, key]))]
}

function replaced(value: unknown, place: readonly string[], other: unknown): unknown {
  const [key, ...rest] = place
  if (key === undefined || typeof value !== 'object' || value === null) return other
  const inner = replaced((value as Record<string, unknown>)[key], rest, other)
  if (Array.isArray(value)) return value.with(Number(key), inner)
  return { ...value, [key]: inner }
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    { $ref: '#' },
    { $ref: '#/components/schemas/Dog' },
    { $ref: '#/paths/~1dogs/get' },
    { $ref: 7 },
    '',
    -1,
  ),
)
const keyed = fc.oneof(anything, fc.record({ in: fc.constant('path'), name: fc.string(), schema: anything }))

/** The same in version 2, with a body, a form and shared parameters. */
const swagger = {
  swagger: '2.0',
  info: { title: 'Kennel', version: '1' },
  host: 'kennel.example',
  parameters: { Dog: { name: 'dog', in: 'body', schema: { $ref: '#/definitions/Dog' } } },
  definitions: {
    Dog: { type: 'object', required: ['name'], properties: { name: { type: 'string', 'x-nullable': true } } },
  },
  paths: {
    '/dogs': {
      parameters: [{ name: 'state', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' }],
      post: { operationId: 'board', consumes: ['application/json'], parameters: [{ $ref: '#/parameters/Dog' }] },
      put: { parameters: [{ name: 'name', in: 'formData', type: 'string' }] },
    },
  },
}

test.each<[string, Record<string, unknown>]>([
  ['3', kennelDocument()],
  ['2', swagger],
])('a document of version %s wrong in any place is read or refused, and told why', async (_, whole) => {
  const places = placesOf(whole).slice(1)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), keyed, async (place, other) => {
      const document = replaced(whole, place, other) as Record<string, unknown>
      try {
        await listOperations({ document })
        const { definition } = await reduceDocument({ document, serverUrl: 'https://kennel.example' })
        for (const operation of parseOpenApi(await upgraded(definition)).operations) {
          expect(JSON.stringify(toInputSchema(operation)).length).toBeLessThan(1_000_000)
        }
      } catch (error) {
        if (!isInlayError(error) || error.code !== 'VALIDATION_ERROR') throw error
      }
    }),
    { numRuns: 500 },
  )
})

test('no argument leads a request anywhere but to its own operation', () => {
  const places = ['path', 'query', 'header']
  const parameters = places.map((place) => ({ name: `${place}Value`, in: place, required: true, schema: {} }))
  const description = parseOpenApi({
    ...kennelDocument(),
    paths: { '/a/{pathValue}/b': { get: { operationId: 'one', summary: 'One.', parameters } } },
  })
  const [operation] = description.operations
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '..',
      '.',
      '%2e%2e',
      '../x',
      '/',
      '\\',
      '?x',
      '#',
      '@evil.example',
      '//evil.example',
      ' ',
      '\r\nx: y',
      ';',
    ),
    fc.jsonValue({ maxDepth: 2 }),
  )
  fc.assert(
    fc.property(value, value, value, (pathValue, queryValue, headerValue) => {
      const input = { pathValue, queryValue, headerValue }
      if (faultsOf(operation!, input).length > 0) return
      const { url, headers } = toRequest(operation!, input, (text) => text)
      const { origin, pathname, hash, username } = new URL(url)
      expect({ origin, hash, username }).toEqual({ origin: 'https://kennel.example', hash: '', username: '' })
      expect(pathname).toMatch(/^\/v1\/a\/[^/\\]+\/b$/)
      for (const text of Object.values(headers)) expect(text).not.toMatch(/[\r\n\0]/)
      expect(() => new Headers(headers)).not.toThrow()
    }),
    { numRuns: 1_000 },
  )
})
