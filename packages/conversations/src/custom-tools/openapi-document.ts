import { isJsonObject, type JsonObject, type SkippedOperation, type ToolMethods } from '@inlay/protocol'
import type { CustomToolSource } from './contracts.ts'
import { readBody, type OpenApiBody } from './openapi-body.ts'
import { readParameters, type OpenApiParameter } from './openapi-parameters.ts'
import { dereferenced, NotCallable, unusable } from './openapi-references.ts'

export interface OpenApiOperation {
  /** The `operationId` in letters, digits, `_` and `-`, 64 at most; unique in the document. */
  readonly name: string
  readonly summary: string
  readonly description: string
  /** `GET`, `POST`, `PUT`, `DELETE` or `PATCH`. */
  readonly method: string
  /** Path as written in the document, with `{name}` for path parameters. */
  readonly path: string
  readonly tags: readonly string[]
  /** Without a slash at its end; undefined when the document names none that can be called. */
  readonly serverUrl: string | undefined
  readonly parameters: readonly OpenApiParameter[]
  readonly body: OpenApiBody | undefined
  /** The operation as written in the document. */
  readonly source: JsonObject
}

/** What a document offers, in its order. */
export interface OpenApiDescription extends Pick<ToolMethods, 'servers' | 'skipped'> {
  readonly operations: readonly OpenApiOperation[]
}

type ServerChoice = Pick<CustomToolSource, 'serverUrl' | 'address'>

const methods = ['get', 'post', 'put', 'delete', 'patch']
const otherMethods = ['head', 'options', 'trace', 'connect', 'query']
const maxOperations = 20_000
const maxNameLength = 64

/**
 * Reads an OpenAPI 3.1 document. What cannot be called is listed with the reason; the rest is not affected by it.
 * @throws VALIDATION_ERROR when it is no such document
 */
export function parseOpenApi(document: JsonObject, choice: ServerChoice = {}): OpenApiDescription {
  const { openapi, paths = {} } = document
  if (typeof openapi !== 'string' || !openapi.startsWith('3.'))
    throw unusable('it has to say openapi 3 or swagger 2.0.')
  if (!isJsonObject(paths)) throw unusable('paths has to be an object.')
  const servers = choice.serverUrl === undefined ? readServers(document, choice) : [checkedServer(choice.serverUrl)]
  const operations: OpenApiOperation[] = []
  const skipped: SkippedOperation[] = []
  const names = new Map<string, number>()
  for (const [path, item] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue
    for (const method of methodsOf(document, item)) {
      if (operations.length + skipped.length >= maxOperations) {
        throw unusable(`it has more than ${maxOperations} operations: split it.`)
      }
      try {
        operations.push(readOperation(document, { path, method, item, names }, { ...choice, servers }))
      } catch (error) {
        if (!(error instanceof NotCallable)) throw error
        skipped.push({ method: method.toUpperCase(), path, reason: error.message })
      }
    }
  }
  return { servers, operations, skipped }
}

function methodsOf(document: JsonObject, item: unknown): string[] {
  try {
    const fields = dereferenced(document, item)
    return [...methods, ...otherMethods].filter((method) => fields[method] !== undefined)
  } catch {
    // Read as one operation, which says what is wrong.
    return ['get']
  }
}

interface Place {
  readonly path: string
  readonly method: string
  readonly item: unknown
  /** Those taken, and how often. */
  readonly names: Map<string, number>
}

function readOperation(
  document: JsonObject,
  place: Place,
  choice: ServerChoice & { readonly servers: readonly string[] },
): OpenApiOperation {
  const { path, method, item, names } = place
  const fields = dereferenced(document, item)
  const operation = fields[method]
  if (!isJsonObject(operation)) throw new NotCallable('is no object')
  if (!methods.includes(method)) throw new NotCallable(`${method.toUpperCase()} is not called`)
  if (!path.startsWith('/')) throw new NotCallable('its path does not begin with a slash')
  const { operationId, summary, description, tags } = operation
  const own = operation['servers'] === undefined ? fields : operation
  const [given] = choice.serverUrl === undefined ? [] : choice.servers
  const [serverUrl = given] = own['servers'] === undefined ? choice.servers : readServers(own, choice)
  const read = {
    summary: textOf(summary),
    description: textOf(description),
    method: method.toUpperCase(),
    path,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    serverUrl,
    parameters: readParameters(document, { path, lists: [fields['parameters'], operation['parameters']] }),
    body: method === 'get' ? undefined : readBody(document, operation['requestBody']),
    source: operation,
  }
  return { name: ownName(place, textOf(operationId), names), ...read }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** A name that models take and no other operation has; the order in the document decides. */
function ownName({ method, path }: Place, operationId: string, names: Map<string, number>): string {
  const given = operationId || `${method}${path.replace(/[^A-Za-z0-9]+/g, '_')}`
  let name = given.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxNameLength)
  while (names.has(name)) {
    const count = (names.get(name) ?? 1) + 1
    names.set(name, count)
    name = `${name.slice(0, maxNameLength - 6)}_${count}`
  }
  names.set(name, 1)
  return name
}

/** The servers that can be called, variables replaced by their defaults. */
function readServers({ servers }: JsonObject, { address }: ServerChoice): string[] {
  const list: unknown[] = Array.isArray(servers) && servers.length > 0 ? servers : [{ url: '/' }]
  return list.slice(0, 100).flatMap((server) => {
    const { url, variables } = isJsonObject(server) ? server : {}
    const whole = typeof url === 'string' ? wholeUrl(withDefaults(url, variables), address) : undefined
    return whole === undefined ? [] : [whole]
  })
}

function withDefaults(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (written, name: string) => {
    const variable = isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    const { default: preset, enum: choices } = isJsonObject(variable) ? variable : {}
    const value = preset ?? (Array.isArray(choices) ? (choices[0] as unknown) : undefined)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : written
  })
}

/** A server address that requests can go to: http or https, without a query or password. */
function wholeUrl(url: string, address: string | undefined): string | undefined {
  const parsed = URL.canParse(url, address) ? new URL(url, address) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || /[{}]/.test(url)) return undefined
  if ([parsed.search, parsed.hash, parsed.username, parsed.password].some((part) => part !== '')) return undefined
  // As written if it is whole: placeholders in capital letters would change in the host.
  return (/^https?:/i.test(url) ? url : parsed.href).replace(/(?<!\/)\/+$/, '')
}

function checkedServer(url: string): string {
  const whole = wholeUrl(url, undefined)
  if (whole !== undefined) return whole
  throw unusable('server_url has to be a whole http or https address without a query or password.')
}
