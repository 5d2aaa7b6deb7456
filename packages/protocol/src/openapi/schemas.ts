import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { isClosed, nameOf } from '../fields.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { packetSchemaName } from '../packets/packet-entry.ts'
import { packetTable, packetTypes } from '../packets/packet-table.ts'
import { withBounds } from './bounds.ts'
import descriptions from './descriptions.json' with { type: 'json' }
import { fieldWords } from './path-descriptions.ts'
import { namedBelow, type SchemaParts } from './named-schemas.ts'

/** The JSON Schemas of a document. */
export interface Components {
  /** Schemas by name, of both directions. */
  readonly named: JsonObject
  /** What is sent in this place: a reference when the schema has a name. */
  sent(schema: v.GenericSchema): JsonObject
  /** What is received in this place. */
  received(schema: v.GenericSchema): JsonObject
  /** An object schema itself, never a reference. */
  parameters(schema: v.GenericSchema): JsonObject
}

type Mode = 'input' | 'output'
type Rename = (name: string) => string

interface Description {
  readonly description: string
  readonly fields: Readonly<Record<string, string>>
}

const described = descriptions as Readonly<Record<string, Description>>

/** Address of a named schema in the document. */
export const refTo = (name: string): string => `#/components/schemas/${name}`

/** Fields that have a default are always there in what is received, unlike in what is sent. */
function alwaysPresent(entries: NonNullable<SchemaParts['entries']>): string[] {
  return Object.entries(entries)
    .filter(([, entry]) => {
      const { type = '', default: value } = entry as SchemaParts
      return !['optional', 'nullish', 'exact_optional'].includes(type) || value !== undefined
    })
    .map(([name]) => name)
}

/** The words of an object schema and of its fields: the comments of the interface of its name, if it has one. */
function withWords(json: JsonObject, schema: v.GenericSchema): JsonObject {
  const words = described[nameOf(schema) ?? ''] ?? { description: '', fields: fieldWords }
  if (!isJsonObject(json['properties'])) return json
  const properties = Object.entries(json['properties']).map(([name, field]) => [
    name,
    { ...(words.fields[name] && { description: words.fields[name] }), ...(field as JsonObject) },
  ])
  return {
    ...(words.description && { description: words.description }),
    ...json,
    properties: Object.fromEntries(properties),
  }
}

/**
 * Says what generators for Go and Java do not infer: the type of a constant, and some type for a field that is always
 * null, without which they write code that does not compile.
 */
function withTypes(json: JsonObject): JsonObject {
  if ('const' in json && !('type' in json)) return { type: typeof json['const'], ...json }
  if (!isJsonObject(json['properties'])) return json
  const properties = Object.entries(json['properties']).map(([name, field]) => {
    const isAlwaysNull = isJsonObject(field) && field['type'] === 'null'
    return [name, isAlwaysNull ? { ...field, type: ['string', 'null'] } : field]
  })
  return { ...json, properties: Object.fromEntries(properties) }
}

/** Defaults that say nothing are left out: generators take a field with a default for required, or stumble over it. */
function toSent(json: JsonObject): JsonObject {
  const { default: value, ...plain } = json
  const isNothing = value === null || (isJsonObject(value) && Object.keys(value).length === 0)
  return isNothing ? plain : json
}

/** Bounds that stand behind transformations, for every field of an object. */
function withFieldBounds(json: JsonObject, entries: NonNullable<SchemaParts['entries']>): JsonObject {
  const properties = Object.entries(json['properties'] ?? {}).map(([name, field]) => [
    name,
    withBounds(field as JsonObject, entries[name]),
  ])
  return { ...json, properties: Object.fromEntries(properties) }
}

function conversion(mode: Mode, rename: Rename): ConversionConfig {
  return {
    typeMode: mode,
    target: 'draft-2020-12',
    // Checks that JSON Schema cannot tell are left out; the sentences tell them.
    errorMode: 'ignore',
    // Said of every integer alike, it would only hide the bounds that matter.
    ignoreActions: ['safe_integer'],
    overrideRef: ({ referenceId }) => refTo(rename(referenceId)),
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      const { entries } = valibotSchema as SchemaParts
      const json = withTypes(withWords(jsonSchema as JsonObject, valibotSchema as v.GenericSchema))
      if (mode === 'input') {
        const sent = entries ? withFieldBounds(json, entries) : toSent(json)
        return (isClosed(valibotSchema) ? { ...sent, additionalProperties: false } : sent) as typeof jsonSchema
      }
      // Defaults are filled in before anything is sent, so a reader has no use for them.
      const { default: _, ...plain } = json
      return (entries ? { ...plain, required: alwaysPresent(entries) } : plain) as typeof jsonSchema
    },
  }
}

/** JSON Schemas of one direction; `inline` are written out even where they have a name. */
function convert(schemas: readonly v.GenericSchema[], inline: readonly v.GenericSchema[], mode: Mode, rename: Rename) {
  const fieldsOf = (schema: v.GenericSchema): v.GenericSchema[] => Object.values((schema as SchemaParts).entries ?? {})
  const named = namedBelow([...schemas, ...inline.flatMap(fieldsOf)])
  const unnamed = [...new Set([...schemas.filter((schema) => !nameOf(schema)), ...inline])]
  const keyOf = (schema: v.GenericSchema): string => `unnamed ${unnamed.indexOf(schema)}`
  const all = { ...Object.fromEntries(named), ...Object.fromEntries(unnamed.map((schema) => [keyOf(schema), schema])) }
  const definitions: JsonObject = toJsonSchemaDefs(all, conversion(mode, rename))
  return {
    named: Object.fromEntries([...named.keys()].map((name) => [name, definitions[name] as JsonObject])),
    at(schema: v.GenericSchema): JsonObject {
      const name = inline.includes(schema) ? undefined : nameOf(schema)
      // Converted above: `unnamed` holds every schema without a name.
      return name ? { $ref: refTo(rename(name)) } : (definitions[keyOf(schema)] as JsonObject)
    },
  }
}

/** Names whose schemas differ by direction, themselves or in what they refer to. */
function differing(sent: Readonly<Record<string, JsonObject>>, received: Readonly<Record<string, JsonObject>>) {
  const shared = Object.keys(sent).filter((name) => name in received)
  const names = new Set(shared.filter((name) => JSON.stringify(sent[name]) !== JSON.stringify(received[name])))
  for (let size = -1; size !== names.size;) {
    size = names.size
    for (const name of shared) {
      const refs = [...JSON.stringify(sent[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)]
      if (refs.some(([, ref]) => names.has(ref!))) names.add(name)
    }
  }
  return names
}

/** Adds what the packet table knows: a sentence and an example each, and how `type` tells packets apart. */
function withPackets(named: Readonly<Record<string, JsonObject>>): JsonObject {
  if (!named['PacketBody']) return named
  const packets = packetTypes.map((type) => {
    const name = packetSchemaName(type)
    const { sentence, example } = packetTable[type]
    const { properties, ...plain } = named[name] as { properties: Readonly<Record<string, JsonObject>> }
    const kind = { ...properties['type'], description: `Always \`${type}\`.` }
    return [name, { ...plain, properties: { ...properties, type: kind }, description: sentence, examples: [example] }]
  })
  const mapping = Object.fromEntries(packetTypes.map((type) => [type, refTo(packetSchemaName(type))]))
  const body = { ...named['PacketBody'], discriminator: { propertyName: 'type', mapping } }
  return { ...named, ...Object.fromEntries(packets), PacketBody: body }
}

/**
 * The schemas of a document. A name whose schema is not the same in both directions ends in `Input` where it is sent.
 * @param sent schemas of bodies; `parameters` are object schemas of queries and paths
 */
export function toComponents(
  sent: readonly v.GenericSchema[],
  parameters: readonly v.GenericSchema[],
  received: readonly v.GenericSchema[],
): Components {
  const plain: Rename = (name) => name
  const output = convert(received, [], 'output', plain)
  const twofold = differing(convert(sent, parameters, 'input', plain).named, output.named)
  const rename: Rename = (name) => (twofold.has(name) ? `${name}Input` : name)
  const input = convert(sent, parameters, 'input', rename)
  const named = Object.fromEntries(Object.entries(input.named).map(([name, schema]) => [rename(name), schema]))
  return {
    named: { ...named, ...withPackets(output.named) },
    sent: input.at,
    received: output.at,
    parameters: input.at,
  }
}
