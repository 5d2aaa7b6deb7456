import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { dereferenced, NotCallable } from './openapi-references.ts'
import { toJsonSchema } from './openapi-schema.ts'

export interface OpenApiBody {
  readonly mediaType: string
  readonly schema: JsonObject
  readonly isRequired: boolean
  /** How fields of a form are written (`style`, `explode`), by name. */
  readonly encoding: JsonObject
}

// The first that an operation takes is sent.
const sendable = [
  /^(?:application\/json|\*\/\*)\s*(?:;|$)/i,
  /^application\/merge-patch\+json/i,
  /\+json\s*(?:;|$)/i,
  /^application\/x-www-form-urlencoded/i,
  /^multipart\/form-data/i,
  /^text\/plain/i,
]

/** @throws NotCallable for a body that a model cannot give */
export function readBody(document: JsonObject, value: unknown): OpenApiBody | undefined {
  if (value === undefined) return undefined
  const { content, required } = dereferenced(document, value)
  if (!isJsonObject(content) || Object.keys(content).length === 0) return undefined
  const types = Object.keys(content)
  const type = sendable.flatMap((pattern) => types.filter((known) => pattern.test(known)))[0]
  if (type === undefined) throw new NotCallable(`takes a body of ${types.join(', ').slice(0, 100)}`)
  const media = dereferenced(document, content[type])
  const schema = toJsonSchema(document, media['schema'] ?? {})
  if (isForm(type)) refuseFiles(document, media['schema'])
  const { encoding } = media
  return {
    mediaType: type.startsWith('*') ? 'application/json' : type,
    schema,
    isRequired: required === true,
    encoding: isJsonObject(encoding) ? encoding : {},
  }
}

export function isForm(mediaType: string): boolean {
  return /^(?:multipart\/form-data|application\/x-www-form-urlencoded)/i.test(mediaType)
}

function refuseFiles(document: JsonObject, schema: unknown): void {
  if (schema === undefined) return
  const { properties } = dereferenced(document, schema)
  if (!isJsonObject(properties)) return
  for (const [name, property] of Object.entries(properties)) {
    const field = dereferenced(document, property)
    const { format, contentMediaType } = isJsonObject(field['items']) ? dereferenced(document, field['items']) : field
    if (format === 'binary' || contentMediaType !== undefined) {
      throw new NotCallable(`uploads a file (${name.slice(0, 60)}), which a model cannot send`)
    }
  }
}
