import type { AnswerPackets } from './answer-packets.ts'
import type { PacketBodyOf } from './packet-entry.ts'
import type { ResearchPackets } from './research-packets.ts'
import type { SearchPackets } from './search-packets.ts'
import type { ToolPackets } from './tool-packets.ts'

export type { Usage } from './answer-packets.ts'
export type { CustomToolError } from './tool-packets.ts'

/** Position of a packet in its answer. */
export interface Placement {
  /** Position of the block in the answer, from 0. Never decreases within a branch and may skip values. */
  readonly turn_index: number
  /** Distinguishes parallel calls (or research agents) of one turn. */
  readonly tab_index: number
  /** Step inside a research or coding agent; null at the top level. */
  readonly sub_turn_index: number | null
  /** Model that sent the packet when several answer; null for heartbeats, cancel stops and replayed packets. */
  readonly model_index: number | null
}

/** The fields of every packet type besides `type`. */
export interface PacketFields extends AnswerPackets, SearchPackets, ToolPackets, ResearchPackets {}

/** The values of a packet's `type`. */
export type PacketType = keyof PacketFields

/** The body (`obj`) of one packet type. */
export type PacketOf<Type extends PacketType> = PacketBodyOf<PacketFields, Type>

/** Any packet body, distinguished by `type`. */
export type PacketBody = { [Type in PacketType]: PacketOf<Type> }[PacketType]

/** One packet of the stream. */
export interface Packet {
  /** Position of the packet in its answer. */
  readonly placement: Placement
  /** The packet body, distinguished by `type`. */
  readonly obj: PacketBody
}
