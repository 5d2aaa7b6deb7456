import descriptions from '#descriptions'
import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { isClosed, nameOf } from '../fields.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { packetSchemaName } from '../packets/packet-entry.ts'
import { packetTable, packetTypes } from '../packets/packet-table.ts'
import { withBounds } from './bounds.ts'
import { fieldWords } from './path-descriptions.ts'
import { namedBelow, type SchemaParts } from './named-schemas.ts'

export interface Components {
  /** Named schemas of both directions. */
  readonly named: JsonObject
  /** Schema for a request; a reference if the schema has a name. */
  sent(schema: v.GenericSchema): JsonObject
  /** Schema for a response; a reference if the schema has a name. */
  received(schema: v.GenericSchema): JsonObject
  /** The object schema itself, never a reference. */
  parameters(schema: v.GenericSchema): JsonObject
}

type Mode = 'input' | 'output'
type Rename = (name: string) => string

export const refTo = (name: string): string => `#/components/schemas/${name}`

/** Fields with a default: always present in responses, optional in requests. */
function alwaysPresent(entries: NonNullable<SchemaParts['entries']>): string[] {
  return Object.entries(entries)
    .filter(([, entry]) => {
      const { type = '', default: value } = entry as SchemaParts
      return !['optional', 'nullish', 'exact_optional'].includes(type) || value !== undefined
    })
    .map(([name]) => name)
}

/** An object schema with other fields; any other schema as it is. */
function withFields(json: JsonObject, change: (field: JsonObject, name: string) => JsonObject): JsonObject {
  if (!isJsonObject(json['properties'])) return json
  const fields = Object.entries(json['properties'])
  return {
    ...json,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, change(field as JsonObject, name)])),
  }
}

/** Adds descriptions to an object schema and its fields: the comments of the interface with its name, if any. */
function withWords(json: JsonObject, schema: v.GenericSchema): JsonObject {
  const words = descriptions[nameOf(schema) ?? ''] ?? { description: '', fields: fieldWords }
  if (!isJsonObject(json['properties'])) return json
  const described = withFields(json, (field, name) => ({
    ...(words.fields[name] && { description: words.fields[name] }),
    ...field,
  }))
  return { ...(words.description && { description: words.description }), ...described }
}

/**
 * Adds types that generators for Go and Java do not infer: the type of a constant, and some type for a field that is
 * always null. Without them the generated code does not compile.
 */
function withTypes(json: JsonObject): JsonObject {
  if ('const' in json && !('type' in json)) return { type: typeof json['const'], ...json }
  return withFields(json, (field) => (field['type'] === 'null' ? { ...field, type: ['string', 'null'] } : field))
}

/** Removes trivial defaults, since generators treat fields with a default as required or fail on them. */
function toSent(json: JsonObject): JsonObject {
  const { default: value, ...plain } = json
  const isNothing = value === null || (isJsonObject(value) && Object.keys(value).length === 0)
  return isNothing ? plain : json
}

function conversion(mode: Mode, rename: Rename): ConversionConfig {
  return {
    typeMode: mode,
    target: 'draft-2020-12',
    // Checks without a JSON Schema equivalent are omitted; the descriptions mention them.
    errorMode: 'ignore',
    // Identical for every integer, it would only hide the bounds that matter.
    ignoreActions: ['safe_integer'],
    overrideRef: ({ referenceId }) => refTo(rename(referenceId)),
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      const { entries } = valibotSchema as SchemaParts
      const json = withTypes(withWords(jsonSchema as JsonObject, valibotSchema as v.GenericSchema))
      if (mode === 'input') {
        const sent = entries ? withFields(json, (field, name) => withBounds(field, entries[name])) : toSent(json)
        return (isClosed(valibotSchema) ? { ...sent, additionalProperties: false } : sent) as typeof jsonSchema
      }
      // Defaults are applied before a response is sent, so readers do not need them.
      const { default: _, ...plain } = json
      return (entries ? { ...plain, required: alwaysPresent(entries) } : plain) as typeof jsonSchema
    },
  }
}

/** Converts schemas of one direction; those in `inline` are written out even if they have a name. */
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
      // Converted above: `unnamed` contains every schema without a name.
      return name ? { $ref: refTo(rename(name)) } : (definitions[keyOf(schema)] as JsonObject)
    },
  }
}

/** Names whose schemas differ by direction, directly or through a reference. */
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

/** Adds examples from the packet table, and `type` as the discriminator. */
function withPackets(named: Readonly<Record<string, JsonObject>>): JsonObject {
  if (!named['PacketBody']) return named
  const packets = packetTypes.map((type) => {
    const name = packetSchemaName(type)
    const { properties, ...plain } = named[name] as { properties: Readonly<Record<string, JsonObject>> }
    const kind = { ...properties['type'], description: `Always \`${type}\`.` }
    return [name, { ...plain, properties: { ...properties, type: kind }, examples: [packetTable[type].example] }]
  })
  const mapping = Object.fromEntries(packetTypes.map((type) => [type, refTo(packetSchemaName(type))]))
  const body = { ...named['PacketBody'], discriminator: { propertyName: 'type', mapping } }
  return { ...named, ...Object.fromEntries(packets), PacketBody: body }
}

/**
 * Builds the schemas of a document. If a named schema differs by direction, the request version ends in `Input`.
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
