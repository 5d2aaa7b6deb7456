import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { readParameters, type OpenApiParameter } from './openapi-parameters.ts'
import { dereferenced, unusable } from './openapi-references.ts'
import { toJsonSchema } from './openapi-schema.ts'

/** One operation, ready to be called. */
export interface OpenApiOperation {
  /** The `operationId` in letters, digits, `_` and `-`; unique in the document. */
  readonly name: string
  readonly summary: string
  readonly description: string
  /** `GET`, `POST`, `PUT`, `DELETE` or `PATCH`. */
  readonly method: string
  /** Path as written in the document, with `{name}` for path parameters. */
  readonly path: string
  readonly parameters: readonly OpenApiParameter[]
  /** The JSON body; undefined when there is none. */
  readonly body: { readonly schema: JsonObject; readonly isRequired: boolean } | undefined
  /** The operation as written in the document. */
  readonly source: JsonObject
}

/** A document, checked. */
export interface OpenApiDescription {
  readonly title: string
  readonly description: string
  /** Without a slash at its end. */
  readonly serverUrl: string
  /** In the order of the document; at least one. */
  readonly operations: readonly OpenApiOperation[]
}

const methods = ['get', 'post', 'put', 'delete', 'patch']
const otherMethods = ['head', 'options', 'trace', 'connect', 'query']
// Providers accept 128 tools per request, which leaves room for other actions.
const maxOperations = 100
const maxNameLength = 64

/**
 * Reads an OpenAPI 3 document: a title and a description, one server, and operations that each have an `operationId`, a
 * summary or description, and at most a JSON body. References within the document are followed.
 * @throws VALIDATION_ERROR that says what is missing, and where
 */
export function parseOpenApi(document: JsonObject): OpenApiDescription {
  const { openapi, info, paths } = document
  if (typeof openapi !== 'string' || !openapi.startsWith('3.')) throw unusable('openapi has to be a version 3.')
  if (!isJsonObject(info) || !hasText(info['title']) || !hasText(info['description'])) {
    throw unusable('info needs a title and a description.')
  }
  const serverUrl = readServer(document['servers'])
  const operations = isJsonObject(paths)
    ? Object.entries(paths).flatMap(([path, item]) => readPath(document, path, item))
    : []
  if (operations.length === 0) throw unusable('it has no operation.')
  if (operations.length > maxOperations) {
    throw unusable(`it has more than ${maxOperations} operations; keep those that are needed.`)
  }
  refuseRepeats(operations)
  return { title: String(info['title']), description: String(info['description']), serverUrl, operations }
}

function hasText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function readServer(servers: unknown): string {
  const [server, ...others]: unknown[] = Array.isArray(servers) ? servers : []
  if (others.length > 0 || !isJsonObject(server) || !hasText(server['url'])) {
    throw unusable('servers needs exactly one entry with a url.')
  }
  const { variables } = server
  const url = server['url'].replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    if (isJsonObject(variable) && typeof variable['default'] === 'string') return variable['default']
    throw unusable('a variable of the server has no default.')
  })
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '') {
    throw unusable('the url of its server has to be a whole http or https address without a query.')
  }
  if (parsed.username !== '' || parsed.password !== '') throw unusable('its server holds a password; use a header.')
  return url.replace(/(?<!\/)\/+$/, '')
}

function readPath(document: JsonObject, path: string, item: unknown): OpenApiOperation[] {
  if (path.startsWith('x-')) return []
  if (!path.startsWith('/')) throw unusable('each path has to begin with a slash.')
  const fields = dereferenced(document, item)
  if (fields['servers'] !== undefined) throw unusable('a path has servers of its own; give each server a document.')
  const other = otherMethods.find((method) => fields[method] !== undefined)
  if (other !== undefined) throw unusable(`${other.toUpperCase()} operations are not called; leave them out.`)
  return methods.flatMap((method) => {
    const operation = fields[method]
    return operation === undefined ? [] : [readOperation(document, { path, method, item: fields, operation })]
  })
}

interface Place {
  readonly path: string
  readonly method: string
  readonly item: JsonObject
  readonly operation: unknown
}

function readOperation(document: JsonObject, { path, method, item, operation }: Place): OpenApiOperation {
  const place = `${method.toUpperCase()} ${path.slice(0, 100)}`
  if (!isJsonObject(operation)) throw unusable(`${place} is no object.`)
  const { operationId, summary, description, servers } = operation
  if (!hasText(operationId)) throw unusable(`${place} needs an operationId.`)
  if (!hasText(summary) && !hasText(description)) throw unusable(`${place} needs a summary or a description.`)
  if (servers !== undefined) throw unusable(`${place} has servers of its own; give each server a document.`)
  const name = operationId.replace(/[^A-Za-z0-9_-]/g, '_')
  if (name.length > maxNameLength)
    throw unusable(`the operationId of ${place} is longer than ${maxNameLength} characters.`)
  return {
    name,
    summary: hasText(summary) ? summary : '',
    description: hasText(description) ? description : '',
    method: method.toUpperCase(),
    path,
    parameters: readParameters(document, { place, path, lists: [item['parameters'], operation['parameters']] }),
    body: readBody(document, operation['requestBody'], place),
    source: operation,
  }
}

function readBody(document: JsonObject, body: unknown, place: string): OpenApiOperation['body'] {
  if (body === undefined) return undefined
  const { content, required } = dereferenced(document, body)
  const media = isJsonObject(content)
    ? Object.entries(content).find(([type]) => /^application\/json\s*(;|$)/i.test(type))?.[1]
    : undefined
  if (!isJsonObject(media)) throw unusable(`${place} takes a body that is not application/json.`)
  return { schema: toJsonSchema(document, media['schema']), isRequired: required === true }
}

function refuseRepeats(operations: readonly OpenApiOperation[]): void {
  const seen = new Set<string>()
  for (const { name } of operations) {
    if (seen.has(name)) throw unusable(`two operations are called ${name}; operationIds have to differ.`)
    seen.add(name)
  }
}
