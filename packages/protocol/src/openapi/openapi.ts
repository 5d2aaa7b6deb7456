import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import type { JsonObject } from '../json.ts'
import { errorBodySchema, validationErrorBodySchema } from '../errors/error-bodies.ts'
import { inputSchemas, type NamedSchemas, outputSchemas, packetSchemaName } from './named-schemas.ts'
import { packetTable, packetTypes } from '../packets/packets.ts'
import type { ResponseSpec, RouteSpec } from './routes.ts'

export type { OwnerRule, ResponseSpec, RouteSpec } from './routes.ts'

/** What the document says about itself. */
export interface OpenApiInfo {
  readonly title: string
  readonly version: string
  readonly description?: string
  /** Address the paths are relative to, e.g. `/api`. */
  readonly serverUrl?: string
}

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: JsonObject
  readonly servers: readonly JsonObject[]
  readonly tags: readonly JsonObject[]
  readonly security: readonly JsonObject[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  readonly components: { readonly schemas: JsonObject; readonly securitySchemes: JsonObject }
}

type Mode = 'input' | 'output'

const refTo = (name: string): string => `#/components/schemas/${name}`

/** JSON Schemas of all of one direction; those of names are referred to, the others stand where they are used. */
interface Converted {
  readonly named: JsonObject
  at(schema: v.GenericSchema): JsonObject
}

/** Fields that have a default are always there in what is received, unlike in what is sent. */
function alwaysPresent(entries: Readonly<Record<string, { type: string; default?: unknown }>>): string[] {
  return Object.entries(entries)
    .filter(
      ([, entry]) => !['optional', 'nullish', 'exact_optional'].includes(entry.type) || entry.default !== undefined,
    )
    .map(([name]) => name)
}

const hasEntries = (schema: object): schema is { entries: Record<string, { type: string; default?: unknown }> } =>
  'entries' in schema

function conversion(mode: Mode): ConversionConfig {
  return {
    typeMode: mode,
    target: 'draft-2020-12',
    // Checks that JSON Schema cannot tell are left out; the sentences tell them.
    errorMode: 'ignore',
    // Said of every integer alike, it would only hide the bounds that matter.
    ignoreActions: ['safe_integer'],
    overrideRef: ({ referenceId }) => refTo(referenceId),
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      if (mode === 'input') return undefined
      // Defaults are filled in before anything is sent, so a reader has no use for them.
      const { default: _, ...plain } = jsonSchema
      return hasEntries(valibotSchema) ? { ...plain, required: alwaysPresent(valibotSchema.entries) } : plain
    },
  }
}

function convert(schemas: readonly v.GenericSchema[], named: NamedSchemas, mode: Mode): Converted {
  const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]))
  const unnamed = [...new Set(schemas)].filter((schema) => !names.has(schema))
  const keyOf = (schema: v.GenericSchema): string => `unnamed ${unnamed.indexOf(schema)}`
  const definitions: JsonObject = toJsonSchemaDefs(
    { ...named, ...Object.fromEntries(unnamed.map((schema) => [keyOf(schema), schema])) },
    conversion(mode),
  )
  return {
    named: Object.fromEntries(Object.keys(named).map((name) => [name, definitions[name]])),
    at(schema) {
      const name = names.get(schema)
      // Converted above: `unnamed` holds every schema without a name.
      return name ? { $ref: refTo(name) } : (definitions[keyOf(schema)] as JsonObject)
    },
  }
}

/** Adds what the packet table knows: a sentence and an example each, and how `type` tells packets apart. */
function withPackets(named: JsonObject): JsonObject {
  // Every definition is a schema, and schemas are objects.
  const packets = packetTypes.map((type) => {
    const name = packetSchemaName(type)
    const { sentence, example } = packetTable[type]
    return [name, { ...(named[name] as JsonObject), description: sentence, examples: [example] }]
  })
  const mapping = Object.fromEntries(packetTypes.map((type) => [type, refTo(packetSchemaName(type))]))
  const body = { ...(named.PacketBody as JsonObject), discriminator: { propertyName: 'type', mapping } }
  return { ...named, ...Object.fromEntries(packets), PacketBody: body }
}

const parameterNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, JsonObject>>
  readonly required?: readonly string[]
}

/** Defaults of a query are written as text there; the document shows them as what they mean. */
function withOwnDefault(schema: JsonObject): JsonObject {
  const { type, default: value } = schema
  if (typeof value !== 'string') return schema
  if (type === 'integer') return { ...schema, default: Number(value) }
  return type === 'boolean' ? { ...schema, default: value === 'true' } : schema
}

function parametersOf(route: RouteSpec, input: Converted): JsonObject[] {
  // Queries and parameters are object schemas by contract, see RouteSpec.
  const query = (route.query ? input.at(route.query) : {}) as ObjectSchema
  const params = (route.params ? input.at(route.params) : {}) as ObjectSchema
  return [
    ...parameterNames(route.path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: params.properties?.[name] ?? { type: 'string' },
    })),
    ...Object.entries(query.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: query.required?.includes(name) ?? false,
      schema: withOwnDefault(schema),
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

/** The failures a route can have besides those it names. */
function commonFailures(route: RouteSpec): Record<string, ResponseSpec> {
  const isChecked = route.body ?? route.query ?? route.params
  return {
    ...(route.scope !== 'public' && {
      401: failure('No key, or one that is not known.', errorBodySchema),
      403: failure('The key does not allow this.', errorBodySchema),
    }),
    ...(route.body && {
      413: failure('The body is too large.', errorBodySchema),
      415: failure('The body is compressed in a way that is not taken: gzip and deflate are.', errorBodySchema),
    }),
    ...(isChecked && { 422: failure('The request does not have this shape.', validationErrorBodySchema) }),
    default: failure('Any other failure.', errorBodySchema),
  }
}

function contentOf(response: ResponseSpec, output: Converted): JsonObject {
  const types = {
    ...(response.schema && { [response.contentType ?? 'application/json']: response.schema }),
    ...response.alsoAs,
  }
  const content = Object.entries(types).map(([type, schema]) => [type, { schema: output.at(schema) }])
  return content.length > 0 ? { content: Object.fromEntries(content) } : {}
}

function operationOf(route: RouteSpec, input: Converted, output: Converted): JsonObject {
  const parameters = parametersOf(route, input)
  const responses: Record<string, ResponseSpec> = { ...commonFailures(route), ...route.responses }
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: route.tags,
    ...(route.deprecated && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: true,
        content: { [route.bodyType ?? 'application/json']: { schema: input.at(route.body) } },
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        { description: response.description, ...contentOf(response, output) },
      ]),
    ),
    security: route.scope === 'public' ? [] : [{ key: [route.scope] }],
  }
}

function pathsOf(routes: readonly RouteSpec[], input: Converted, output: Converted): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const route of routes) {
    const methods = (paths[route.path] ??= {})
    methods[route.method.toLowerCase()] = operationOf(route, input, output)
  }
  return paths
}

/** The document of a route table: every shape comes from the schemas that check and type it. */
export function toOpenApi(routes: readonly RouteSpec[], info: OpenApiInfo): OpenApiDocument {
  const sent = routes
    .flatMap((route) => [route.body, route.query, route.params])
    .filter((schema) => schema !== undefined)
  const received = routes
    .flatMap((route) => [...Object.values(commonFailures(route)), ...Object.values(route.responses)])
    .flatMap((response) => [response.schema, ...Object.values(response.alsoAs ?? {})])
    .filter((schema) => schema !== undefined)
  const input = convert(sent, inputSchemas, 'input')
  const output = convert(received, outputSchemas, 'output')
  const tags = [...new Set(routes.flatMap((route) => route.tags))]
  return {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version, ...(info.description && { description: info.description }) },
    servers: [{ url: info.serverUrl ?? '/' }],
    tags: tags.map((name) => ({ name })),
    security: [{ key: [] }],
    paths: pathsOf(routes, input, output),
    components: {
      schemas: { ...input.named, ...withPackets(output.named) },
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key of this service.' } },
    },
  }
}
