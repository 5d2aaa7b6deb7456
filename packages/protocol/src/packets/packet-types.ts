import type { AnswerPackets } from './answer-packets.ts'
import type { PacketBodyOf } from './packet-entry.ts'
import type { ResearchPackets } from './research-packets.ts'
import type { SearchPackets } from './search-packets.ts'
import type { ToolPackets } from './tool-packets.ts'

export type { Usage } from './answer-packets.ts'
export type { CustomToolError } from './tool-packets.ts'

/** Where a packet belongs in its answer. */
export interface Placement {
  /** Position of the block within the answer, from 0; never falls within one branch, may skip values. */
  readonly turn_index: number
  /** Tells parallel calls (or research agents) of one turn apart. */
  readonly tab_index: number
  /** Counts steps nested inside a research or coding agent; null at the top level. */
  readonly sub_turn_index: number | null
  /** Which model speaks when several answer side by side; null on heartbeats, cancel stops and replayed packets. */
  readonly model_index: number | null
}

/** The fields of every packet type besides `type`. */
export interface PacketFields extends AnswerPackets, SearchPackets, ToolPackets, ResearchPackets {}

/** The 44 values of a packet's `type`. */
export type PacketType = keyof PacketFields

/** The body (`obj`) of one packet type. */
export type PacketOf<Type extends PacketType> = PacketBodyOf<PacketFields, Type>

/** Any packet body, told apart by `type`. */
export type PacketBody = { [Type in PacketType]: PacketOf<Type> }[PacketType]

/** One packet of the stream. */
export interface Packet {
  /** Where the packet belongs in its answer. */
  readonly placement: Placement
  /** The packet itself, told apart by its `type`. */
  readonly obj: PacketBody
}
