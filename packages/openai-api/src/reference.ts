import type { JsonObject } from '@inlay/protocol'
import { describeRoutes, routesOf, type Route } from '@inlay/server'
import * as v from 'valibot'

const route = routesOf('Service', { scope: 'public', owner: 'none' })

const nullableText = { type: ['string', 'null'] }
const failure = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: { message: { type: 'string' }, type: { type: 'string' }, param: nullableText, code: nullableText },
    },
  },
}

export const referenceRoutes: readonly Route[] = [
  route('GET /v1/openapi.json', 'openaiReference', 'Get the OpenAPI 3.1 document of /v1', {
    answer: { description: 'The document.', schema: v.record(v.string(), v.unknown()) },
    async handle({ routes, settings }) {
      const document = await describeRoutes(routes, settings.version, '/')
      const paths = Object.entries(document.paths).map(([path, operations]) => [
        path,
        Object.fromEntries(Object.entries(operations).map(([method, each]) => [method, withOwnErrors(each)])),
      ])
      return { ...document, paths: Object.fromEntries(paths) }
    },
  }),
]

/** Requests of another shape and conflicts get 400 here, and all errors have the form that OpenAI's clients read. */
function withOwnErrors({ responses, ...operation }: JsonObject): JsonObject {
  const { 400: invalid, 409: conflict, 422: shape, ...others } = responses as Readonly<Record<string, JsonObject>>
  const refused = [invalid, conflict, shape].filter((each) => each !== undefined)
  const description = refused.map((each) => each['description']).join(' ')
  const content = { 'application/json': { schema: failure } }
  const own = Object.entries({ ...(refused[0] && { 400: { ...refused[0], description } }), ...others })
  const described = own.map(([status, each]) => [status, /^[123]/.test(status) ? each : { ...each, content }])
  return { ...operation, responses: Object.fromEntries(described) }
}
