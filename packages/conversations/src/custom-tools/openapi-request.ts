import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { isForm, type OpenApiBody } from './openapi-body.ts'
import type { OpenApiOperation } from './openapi-document.ts'
import { bodyArgument, type OpenApiParameter } from './openapi-parameters.ts'

/** A request built from arguments, without headers of the tool and the caller. */
export interface OpenApiRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export function toInputSchema({
  parameters,
  body,
}: OpenApiOperation): JsonObject & { readonly properties: JsonObject } {
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument)
  if (body?.isRequired === true) required.push(bodyArgument)
  return {
    type: 'object',
    properties: {
      ...(body ? { [bodyArgument]: body.schema } : {}),
      ...Object.fromEntries(parameters.map(({ argument, schema }) => [argument, schema])),
    },
    ...(required.length > 0 ? { required } : {}),
  }
}

/** Reasons why the arguments cannot be sent, each as a clause for the model; [] if there are none. */
export function faultsOf({ parameters, body }: OpenApiOperation, input: JsonObject): string[] {
  const faults = parameters.flatMap((parameter): string[] => {
    const { argument, place, isRequired } = parameter
    const value = input[argument]
    const text = isAbsent(value) ? '' : place === 'path' ? pathText(parameter, value) : 'given'
    if (text === '' && isRequired && (place === 'path' || isAbsent(value))) return [`${argument}: is required`]
    // The segments `.` and `..` would lead to another operation than the one offered.
    if (place === 'path' && /^(\.|%2e){1,2}$/i.test(text)) return [`${argument}: must not be dots alone`]
    if (place === 'header' && !isAbsent(value) && !/^[\t\x20-\x7e]*$/.test(simple(parameter, value)))
      return [`${argument}: must be plain text on one line`]
    return []
  })
  if (body?.isRequired === true && isAbsent(input[bodyArgument])) faults.push(`${bodyArgument}: is required`)
  return faults
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** The path and query arguments, which clients are shown. */
export function shownArguments({ parameters }: OpenApiOperation, input: JsonObject): JsonObject {
  const shown = parameters.filter(
    ({ place, argument }) => (place === 'path' || place === 'query') && !isAbsent(input[argument]),
  )
  return Object.fromEntries(shown.map(({ argument }) => [argument, input[argument]]))
}

/**
 * Makes the request of a call. Values are percent-encoded wherever they go into the address.
 * @param input arguments without {@link faultsOf}
 * @param fill puts in what stands for a fact of the call, percent-encoded
 */
export function toRequest(
  operation: OpenApiOperation,
  input: JsonObject,
  fill: (template: string) => string,
): OpenApiRequest {
  const { serverUrl = '', path: template, body } = operation
  const given = operation.parameters.filter(({ argument }) => !isAbsent(input[argument]))
  const inPath = new Map(given.flatMap((item) => (item.place === 'path' ? [[item.name, item] as const] : [])))
  // The template is filled first, so an argument cannot contain a placeholder of the path. A fragment only tells
  // operations of one path apart.
  const path = fill(template.replace(/#.*/s, '')).replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const parameter = inPath.get(name)
    return parameter ? pathText(parameter, input[parameter.argument]) : ''
  })
  const query = given.flatMap((item) => (item.place === 'query' ? pairs(item, input[item.argument]) : []))
  const headers = given.flatMap((item) =>
    item.place === 'header' ? [[item.name.toLowerCase(), simple(item, input[item.argument])] as const] : [],
  )
  const [type, text] = body && !isAbsent(input[bodyArgument]) ? toBody(body, input[bodyArgument]) : []
  const joint = path.includes('?') ? '&' : '?'
  return {
    url: fill(serverUrl) + path + (query.length > 0 ? joint + query.join('&') : ''),
    headers: { ...Object.fromEntries(headers), ...(type !== undefined && { 'content-type': type }) },
    body: text,
  }
}

type Body = readonly [type: string, text: string]

function toBody({ mediaType, encoding }: OpenApiBody, value: unknown): Body {
  if (mediaType.startsWith('text/')) return [mediaType, plain(value)]
  if (!isForm(mediaType)) return [mediaType, JSON.stringify(value)]
  const fields = Object.entries(isJsonObject(value) ? value : {}).filter(([, field]) => !isAbsent(field))
  if (/^multipart/i.test(mediaType)) return toMultipart(fields)
  const text = fields.flatMap(([name, field]) => {
    const { style, explode } = Object(Object.hasOwn(encoding, name) ? encoding[name] : {}) as JsonObject
    // Without a style, fields with fields of their own are JSON.
    const isJson = style === undefined && (isJsonObject(field) || (Array.isArray(field) && field.some(isJsonObject)))
    return pairs({ name, style: String(style ?? 'form'), explodes: explode !== false, isJson }, field)
  })
  return ['application/x-www-form-urlencoded', text.join('&')]
}

function toMultipart(fields: readonly (readonly [string, unknown])[]): Body {
  const boundary = `inlay-${crypto.randomUUID()}`
  const parts = fields.flatMap(([name, field]) =>
    (Array.isArray(field) ? field : [field]).map((value: unknown) => {
      const escaped = name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
      const type = typeof value === 'object' ? '\r\nContent-Type: application/json' : ''
      return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped}"${type}\r\n\r\n${plain(value)}\r\n`
    }),
  )
  return [`multipart/form-data; boundary=${boundary}`, `${parts.join('')}--${boundary}--\r\n`]
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

/** A value as text: strings, numbers and booleans as they are, anything else as JSON. */
function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A path parameter as `simple`, `label` (`.a`) or `matrix` (`;name=a`) asks for. */
function pathText(parameter: OpenApiParameter, value: unknown): string {
  const { style, explodes, name } = parameter
  const text = simple(parameter, value, encode)
  if (style === 'simple' || text === '') return text
  const prefix = style === 'label' ? '.' : explodes && isJsonObject(value) ? ';' : `;${encode(name)}=`
  return prefix + (explodes ? text.replaceAll(',', prefix) : text)
}

/** Lists and objects with commas between their parts. */
function simple({ isJson, explodes }: OpenApiParameter, value: unknown, write?: (text: string) => string): string {
  return partsOf(isJson ? JSON.stringify(value) : value, explodes ? '=' : ',', write).join(',')
}

/** The items of a list, the fields of an object as name and value with `between`, or the value itself. */
function partsOf(value: unknown, between: string, write: (text: string) => string = String): string[] {
  if (Array.isArray(value)) return value.map((item) => write(plain(item)))
  if (!isJsonObject(value)) return [write(plain(value))]
  const fields = Object.entries(value).filter(([, item]) => !isAbsent(item))
  return fields.map(([key, item]) => write(key) + between + write(plain(item)))
}

const separators: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' }

/** `name=value` as often as the style of the parameter asks for. */
function pairs(
  { name, style, explodes, isJson }: Pick<OpenApiParameter, 'name' | 'style' | 'explodes' | 'isJson'>,
  value: unknown,
): string[] {
  if (!isJson && style === 'deepObject') return deepPairs(name, value)
  const separator = explodes ? '=' : (separators[style] ?? ',')
  const parts = partsOf(isJson ? JSON.stringify(value) : value, separator, encode)
  if (explodes && !isJson && isJsonObject(value)) return parts
  const texts = explodes || parts.length === 0 ? parts : [parts.join(separator)]
  return texts.map((text) => `${encode(name)}=${text}`)
}

/** `name[key]=value` for fields at any depth, as services read it that define more than the specification. */
function deepPairs(name: string, value: unknown): string[] {
  if (isAbsent(value)) return []
  if (typeof value !== 'object') return [`${encode(name)}=${encode(plain(value))}`]
  return Object.entries(Object(value) as JsonObject).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item))
}
