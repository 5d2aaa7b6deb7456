import * as v from 'valibot'
import { model, type Wire, type WireSchema } from '../fields.ts'

export interface PacketEntry<Body> {
  readonly schema: WireSchema<Body>
  readonly example: Body
}

export type PacketBodyOf<Fields, Type extends keyof Fields> = { readonly type: Type } & Fields[Type]

export type PacketFamily<Fields> = { readonly [Type in keyof Fields]: PacketEntry<PacketBodyOf<Fields, Type>> }

/** The fields of each packet type of a family, besides `type`. */
export type PacketFieldsOf<Family> = Family extends PacketFamily<infer Fields> ? Fields : never

type FieldsOf<Entries extends v.ObjectEntries> = Wire<v.ObjectSchema<Entries, undefined>>

/** Schema name of a packet type: `message_delta` is `MessageDeltaPacket`. */
export function packetSchemaName(type: string): string {
  return `${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Packet`
}

const exampleValue: unique symbol = Symbol('example')

/** A field with its value in the example of its packet type. */
/* @__NO_SIDE_EFFECTS__ */
export function suchAs<Schema extends v.GenericSchema>(schema: Schema, example: Wire<Schema>): Schema {
  // Schemas are shared between fields, so the mark is on a copy.
  return { ...schema, [exampleValue]: example }
}

/**
 * Defines packet types by the schemas of their fields. Types and descriptions in the API document come from the fields and
 * the comments: that of a packet type says when it is sent and what it means.
 */
/* @__NO_SIDE_EFFECTS__ */
export function packetFamily<const Entries extends Readonly<Record<string, v.ObjectEntries>>>(
  definitions: Entries,
): PacketFamily<{ readonly [Type in keyof Entries]: FieldsOf<Entries[Type]> }> {
  const family = Object.entries(definitions).map(([type, fields]) => {
    const schema = model(packetSchemaName(type), { type: v.literal(type), ...fields })
    const examples = Object.entries(fields).flatMap(([name, field]) =>
      exampleValue in field ? [[name, field[exampleValue]]] : [],
    )
    return [type, { schema, example: { type, ...Object.fromEntries(examples) } }]
  })
  // `fromEntries` loses the names, of which each has its entry here.
  return Object.fromEntries(family) as PacketFamily<{ readonly [Type in keyof Entries]: FieldsOf<Entries[Type]> }>
}
