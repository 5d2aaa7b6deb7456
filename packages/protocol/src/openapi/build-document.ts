import type * as v from 'valibot'
import { errorBodySchema, rateLimitedBodySchema, validationErrorBodySchema } from '../errors/error-schemas.ts'
import { nameOf } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import { operationExamples, requestExamples } from './request-examples.ts'
import { errorHeaders, fieldWords } from './path-descriptions.ts'
import type { ResponseSpec, RouteSpec } from './routes.ts'
import { toComponents, type Components } from './schemas.ts'

export type { OwnerRule, ResponseSpec, RouteSpec } from './routes.ts'

export interface OpenApiInfo {
  readonly title: string
  readonly version: string
  readonly description?: string
  /** Address the paths are relative to, e.g. `/api`. */
  readonly serverUrl?: string
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: JsonObject
  readonly servers: readonly JsonObject[]
  readonly tags: readonly JsonObject[]
  readonly security: readonly JsonObject[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  readonly components: { readonly schemas: JsonObject; readonly securitySchemes: JsonObject }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, JsonObject>>
  readonly required?: readonly string[]
}

const parameterNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')

/** Defaults of query parameters are text in the schema; the document shows the parsed value. */
function withOwnDefault(schema: JsonObject): JsonObject {
  const { type, default: value } = schema
  if (typeof value !== 'string') return schema
  if (type === 'integer') return { ...schema, default: Number(value) }
  return type === 'boolean' ? { ...schema, default: value === 'true' } : schema
}

/** Moves the description from the schema to its parameter. */
function described(schema: JsonObject, words?: string): JsonObject {
  const { description = words, ...plain } = schema
  return { ...(description !== undefined && { description }), schema: withOwnDefault(plain) }
}

function parametersOf(route: RouteSpec, components: Components): JsonObject[] {
  // RouteSpec requires queries and parameters to be object schemas.
  const query = (route.query ? components.parameters(route.query) : {}) as ObjectSchema
  const params = (route.params ? components.parameters(route.params) : {}) as ObjectSchema
  return [
    ...parameterNames(route.path).map((name) => ({
      name,
      in: 'path',
      required: true,
      ...described(params.properties?.[name] ?? { type: 'string' }, fieldWords[name]),
    })),
    ...Object.entries(query.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: query.required?.includes(name) ?? false,
      ...described(schema),
    })),
    ...Object.entries(route.headers ?? {}).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ]
}

const failure = (description: string, schema: v.GenericSchema): ResponseSpec => ({ description, schema })

/** The errors of every route besides those it declares. */
function commonFailures(route: RouteSpec): Record<string, ResponseSpec> {
  const isChecked = route.body ?? route.query ?? route.params
  // Requests limited to administrators are not counted, but their body sizes are.
  const isCounted = route.body ?? route.scopes.some((scope) => scope !== 'admin')
  return {
    ...(route.scopes.length > 0 && {
      401: failure('No key, or one that is not known.', errorBodySchema),
      403: failure('The key does not allow this.', errorBodySchema),
    }),
    ...(route.body && {
      413: failure('The body is too large.', errorBodySchema),
      415: failure('The body is compressed in a way that is not taken: gzip and deflate are.', errorBodySchema),
    }),
    ...(isChecked && { 422: failure('The request does not have this shape.', validationErrorBodySchema) }),
    ...(isCounted && { 429: failure('Too much at once: try again later.', rateLimitedBodySchema) }),
    default: failure('Any other failure.', errorBodySchema),
  }
}

function responsesOf(route: RouteSpec): Record<string, ResponseSpec> {
  return { ...commonFailures(route), ...route.responses }
}

const linesOf = (schema: JsonObject): JsonObject => ({
  schema: { type: 'string', description: 'JSON objects, one a line; `x-item-schema` describes each.' },
  'x-item-schema': schema,
})

function contentOf(response: ResponseSpec, components: Components): JsonObject {
  const { schema, lines, file, contentType = 'application/json' } = response
  const content: Record<string, JsonObject> = {}
  if (schema) content[contentType] = { schema: components.received(schema) }
  for (const [type, other] of Object.entries(response.alsoAs ?? {}))
    content[type] = { schema: components.received(other) }
  if (lines) content['application/x-ndjson'] = linesOf(components.received(lines))
  if (file?.startsWith('text/')) content[file] = { schema: { type: 'string' } }
  else if (file) {
    const bytes = { schema: { type: 'string', format: 'binary' } }
    // Generators need a media type they know; the actual type is that of the file.
    Object.assign(content, { [file]: bytes, '*/*': bytes })
  }
  return Object.keys(content).length > 0 ? { content } : {}
}

function headersOf(status: string, response: ResponseSpec): JsonObject {
  const headers = {
    'x-request-id': 'The id of the request, as the log has it.',
    ...errorHeaders[status],
    ...response.headers,
  }
  const entries = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return { headers: Object.fromEntries(entries) }
}

function bodyOf(route: RouteSpec, components: Components): JsonObject {
  if (!route.body) return {}
  const { bodyType = 'application/json' } = route
  const example =
    requestExamples[nameOf(route.body) ?? ''] ?? operationExamples[`${route.method} ${route.examplePath ?? route.path}`]
  const isLines = bodyType === 'application/x-ndjson'
  const schema = components.sent(route.body)
  const content = isLines ? linesOf(schema) : { schema }
  const shown = example === undefined ? {} : { example: isLines ? `${JSON.stringify(example)}\n` : example }
  return { requestBody: { required: true, content: { [bodyType]: { ...content, ...shown } } } }
}

function operationOf(route: RouteSpec, components: Components): JsonObject {
  const parameters = parametersOf(route, components)
  const responses = Object.entries(responsesOf(route)).map(([status, response]) => [
    status,
    { description: response.description, ...headersOf(status, response), ...contentOf(response, components) },
  ])
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: route.tags,
    ...(route.deprecated && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(route, components),
    responses: Object.fromEntries(responses),
    // Any of the scopes is sufficient.
    security: route.scopes.map((scope) => ({ key: [scope] })),
  }
}

function pathsOf(routes: readonly RouteSpec[], components: Components): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const route of routes) {
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = operationOf(route, components)
  }
  return paths
}

const isGiven = (schema: v.GenericSchema | undefined): schema is v.GenericSchema => schema !== undefined

/** All shapes come from the schemas that validate requests and type handlers. */
export function toOpenApi(routes: readonly RouteSpec[], info: OpenApiInfo): OpenApiDocument {
  const received = routes
    .flatMap((route) => Object.values(responsesOf(route)))
    .flatMap(({ schema, lines, alsoAs = {} }) => [schema, lines, ...Object.values(alsoAs)])
  const components = toComponents(
    routes.map((route) => route.body).filter(isGiven),
    routes.flatMap((route) => [route.query, route.params]).filter(isGiven),
    received.filter(isGiven),
  )
  const tags = [...new Set(routes.flatMap((route) => route.tags))]
  return {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version, ...(info.description && { description: info.description }) },
    servers: [{ url: info.serverUrl ?? '/' }],
    tags: tags.map((name) => ({ name })),
    security: [{ key: [] }],
    paths: pathsOf(routes, components),
    components: {
      schemas: components.named,
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key of this service.' } },
    },
  }
}
