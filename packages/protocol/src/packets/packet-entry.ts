import * as v from 'valibot'
import { model, type WireSchema } from '../fields.ts'

/** Fields of a packet type that has only `type`. */
export type NoFields = Readonly<Record<never, never>>

/** Description of a packet type. */
export interface PacketEntry<Body> {
  readonly schema: WireSchema<Body>
  readonly example: Body
  /** When it is sent and what it means. */
  readonly sentence: string
}

/** The body of a packet type with the given fields. */
export type PacketBodyOf<Fields, Type extends keyof Fields> = { readonly type: Type } & Fields[Type]

/** A group of related packet types. */
export type PacketFamily<Fields> = { readonly [Type in keyof Fields]: PacketEntry<PacketBodyOf<Fields, Type>> }

type Entries<Fields> = { [Field in keyof Fields]-?: WireSchema<Fields[Field]> }

/** Schema name of a packet type: `message_delta` is `MessageDeltaPacket`. */
export function packetSchemaName(type: string): string {
  return `${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Packet`
}

/** Creates the entries of a family; schemas and examples are type-checked against its fields. */
export function entriesOf<Fields>(): <Type extends keyof Fields & string>(
  type: Type,
  fields: Entries<Fields[Type]>,
  example: Fields[Type],
  sentence: string,
) => PacketEntry<PacketBodyOf<Fields, Type>> {
  return <Type extends keyof Fields & string>(
    type: Type,
    fields: Entries<Fields[Type]>,
    example: Fields[Type],
    sentence: string,
  ) => {
    const entries = { type: v.literal(type), ...fields } as v.ObjectEntries
    // `Entries` checks the fields; valibot cannot infer an object with generic keys.
    const schema = model(packetSchemaName(type), entries) as unknown as WireSchema<PacketBodyOf<Fields, Type>>
    return { schema, example: { type, ...example } as PacketBodyOf<Fields, Type>, sentence }
  }
}
