import { isJsonObject, type JsonObject, type SkippedOperation } from '@inlay/protocol'
import type { CustomToolSource, OpenApiReader } from './contracts.ts'
import { parseOpenApi, type OpenApiOperation } from './openapi-document.ts'
import { unusable } from './openapi-references.ts'

const maxCharacters = 30 * 2 ** 20
/** Larger documents are stored without what is not called. */
const maxWholeCharacters = 2 ** 18
const maxStoredCharacters = 4 * 2 ** 20
const maxSummaryCharacters = 500
// Providers accept 128 tools per request, which leaves room for other actions.
const maxChosen = 100

export const listOperations: OpenApiReader['listOperations'] = async (source) => {
  const { servers, operations, skipped } = parseOpenApi(await upgraded(await read(source.document)), source)
  const methods = operations.map(({ name, summary, description, method, path, source: spec }) => ({
    name,
    summary: (summary || description).slice(0, maxSummaryCharacters),
    method,
    path,
    spec,
  }))
  return { methods, skipped, servers }
}

export const reduceDocument: OpenApiReader['reduceDocument'] = async (source) => {
  const given = await read(source.document)
  const document = await upgraded(given)
  const { operations, skipped } = parseOpenApi(document, source)
  const chosen = source.operations ? choose(operations, skipped, source.operations) : operations.slice(0, maxChosen)
  if (source.operations?.length === 0) throw unusable('no operation is chosen.')
  if (chosen.length === 0) {
    throw unusable(`it has no operation that can be called${skipped.slice(0, 3).map(toClause).join('')}.`)
  }
  if (chosen.some(({ serverUrl }) => serverUrl === undefined)) {
    throw unusable('it names no server with a whole http or https address: give one as server_url.')
  }
  const reason = `only the first ${maxChosen} operations are taken: choose with operations`
  const beyond = operations.slice(maxChosen).map(({ method, path }) => ({ method, path, reason }))
  const left = source.operations ? [] : [...beyond, ...skipped]
  // Small documents of which everything is taken stay as they are.
  const isWhole =
    left.length === 0 &&
    !source.operations &&
    given['swagger'] === undefined &&
    JSON.stringify(given).length <= maxWholeCharacters &&
    parseOpenApi(document).operations.every(({ serverUrl }, index) => serverUrl === chosen[index]?.serverUrl)
  const definition = isWhole ? given : toDocument(given, chosen)
  if (JSON.stringify(definition).length > maxStoredCharacters) {
    throw unusable('the chosen operations are too large together: choose fewer.')
  }
  return { definition, skipped: left }
}

/**
 * A document of any version as 3.1 or later. The library is loaded on use: what is stored is mostly of that version.
 * @throws VALIDATION_ERROR
 */
export async function upgraded(document: JsonObject): Promise<JsonObject> {
  const { swagger, openapi } = document
  if (swagger === undefined && !(typeof openapi === 'string' && openapi.startsWith('3.0'))) return document
  const { upgrade } = await import('@scalar/openapi-upgrader')
  try {
    // It writes into what it is given.
    return upgrade(swagger === undefined ? { ...document } : withParameters(document), '3.1')
  } catch (cause) {
    throw unusable(`it is not made as its version demands: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

/** Version 2 with references to parameters put in place: those to bodies would be lost by the upgrade. */
function withParameters(document: JsonObject): JsonObject {
  const { parameters: shared, paths } = document
  const target = (parameter: unknown): unknown => {
    const name = isJsonObject(parameter) ? String(parameter['$ref']).replace(/^#\/parameters\//, '') : ''
    return isJsonObject(shared) && Object.hasOwn(shared, name) ? shared[name] : parameter
  }
  const inline = (holder: unknown): unknown => {
    const { parameters } = isJsonObject(holder) ? holder : {}
    return Array.isArray(parameters) ? { ...Object(holder), parameters: parameters.map(target) } : holder
  }
  const items = Object.entries(isJsonObject(paths) ? paths : {}).map(([path, item]) => {
    const operations = isJsonObject(item) ? Object.entries(item).map(([key, value]) => [key, inline(value)]) : []
    return [path, isJsonObject(item) ? inline(Object.fromEntries(operations)) : item]
  })
  return { ...document, paths: Object.fromEntries(items) }
}

async function read(document: CustomToolSource['document']): Promise<JsonObject> {
  if (typeof document !== 'string') return document
  if (document.length > maxCharacters) throw unusable('it is longer than 30 million characters.')
  let value: unknown
  try {
    value = document.trimStart().startsWith('{') ? JSON.parse(document) : await readYaml(document)
  } catch (cause) {
    const [line] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw unusable(`it is neither JSON nor YAML: ${line}`)
  }
  if (isJsonObject(value)) return value
  throw unusable('it is neither the http or https address of a document nor an object in JSON or YAML.')
}

async function readYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml')
  // Aliases share their value, so many are no harm by themselves; what they unfold to is bounded when it is read.
  return parse(text, { maxAliasCount: 10_000, merge: true, uniqueKeys: false, prettyErrors: false, logLevel: 'error' })
}

function choose(
  operations: readonly OpenApiOperation[],
  skipped: readonly SkippedOperation[],
  entries: readonly string[],
): OpenApiOperation[] {
  const chosen = new Set<OpenApiOperation>()
  for (const entry of entries) {
    const meant = operations.filter((operation) => isMeant(operation, entry))
    const reason = skipped.find(({ method, path }) => `${method} ${path}` === entry)
    if (reason) throw unusable(`a chosen operation cannot be called${toClause(reason)}.`)
    if (meant.length === 0) throw unusable(`it has no operation ${entry.slice(0, 100)} that can be called.`)
    for (const operation of meant) chosen.add(operation)
  }
  if (chosen.size > maxChosen) throw unusable(`${chosen.size} operations are chosen; at most ${maxChosen} can be.`)
  return operations.filter((operation) => chosen.has(operation))
}

function isMeant({ name, method, path, tags }: OpenApiOperation, entry: string): boolean {
  if (entry.startsWith('/') && entry.endsWith('*')) return path.startsWith(entry.slice(0, -1))
  return [name, path, `${method} ${path}`].includes(entry) || tags.some((tag) => `tag:${tag}` === entry)
}

function toClause({ method, path, reason }: SkippedOperation): string {
  return `; ${method} ${path.slice(0, 100)} ${reason}`
}

/** The operations as a document that stands for itself: each with its server, without references and responses. */
function toDocument({ info }: JsonObject, operations: readonly OpenApiOperation[]): JsonObject {
  const paths: Record<string, Record<string, unknown>> = Object.create(null)
  const [first] = operations
  for (const operation of operations) {
    const { path, method, serverUrl } = operation
    const own = serverUrl === first?.serverUrl ? {} : { servers: [{ url: serverUrl }] }
    paths[path] = { ...paths[path], [method.toLowerCase()]: { ...toSource(operation), ...own } }
  }
  return { openapi: '3.1.1', info: info ?? {}, servers: [{ url: first?.serverUrl }], paths }
}

function toSource({ name, summary, description, tags, parameters, body }: OpenApiOperation): JsonObject {
  return {
    operationId: name,
    ...(summary && { summary }),
    ...(description && { description }),
    ...(tags.length > 0 && { tags }),
    parameters: parameters.map(({ name: key, place, isRequired, style, explodes, isJson, schema }) => ({
      name: key,
      in: place,
      required: isRequired,
      style,
      explode: explodes,
      ...(isJson ? { content: { 'application/json': { schema } } } : { schema }),
    })),
    ...(body && {
      requestBody: {
        required: body.isRequired,
        content: { [body.mediaType]: { schema: body.schema, encoding: body.encoding } },
      },
    }),
  }
}
