import * as v from 'valibot'
import { integer, model, named, orNull, type WireSchema } from '../fields.ts'
import { answerPackets } from './answer-packets.ts'
import type { PacketFamily } from './packet-entry.ts'
import type { Packet, PacketBody, PacketFields, PacketType, Placement } from './packet-types.ts'
import { researchPackets } from './research-packets.ts'
import { searchPackets } from './search-packets.ts'
import { toolPackets } from './tool-packets.ts'

/** All packet types. Everything else about packets is derived from this table. */
export type PacketTable = PacketFamily<PacketFields>

export const packetTable: PacketTable = { ...answerPackets, ...searchPackets, ...toolPackets, ...researchPackets }

/** Names of all packet types, in the order of the table. */
// The keys of a mapped type over PacketType are exactly its members.
export const packetTypes: readonly PacketType[] = Object.keys(packetTable) as PacketType[]

export const placementSchema: WireSchema<Placement> = model('Placement', {
  turn_index: integer,
  tab_index: v.optional(integer, 0),
  sub_turn_index: orNull(integer),
  model_index: orNull(integer),
})

// `variant` needs each option type inferred; the table already ties each schema to its type.
const bodyOptions = packetTypes.map((type) => packetTable[type].schema) as unknown as [
  v.ObjectSchema<{ type: v.LiteralSchema<string, undefined> }, undefined>,
]

/** Schema of a packet's `obj`, by its `type`. */
export const packetBodySchema: WireSchema<PacketBody> = named(
  'PacketBody',
  v.variant('type', bodyOptions) as unknown as WireSchema<PacketBody>,
)

export const packetSchema: WireSchema<Packet> = model('Packet', { placement: placementSchema, obj: packetBodySchema })
