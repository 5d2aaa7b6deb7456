import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type WireSchema } from '../fields.ts'

/** A memory about the caller for later conversations. */
export interface MemoryItem {
  /** Number of the memory. */
  readonly id: number
  /** Text of the memory. */
  readonly content: string
}

export const memoryItemSchema: WireSchema<MemoryItem> = model('MemoryItem', { id: integer, content: v.string() })

/** Personal information and preferences of the caller; part of `GET /me`. */
export interface PersonalizationDetail {
  /** Name of the person; "" when unknown. */
  readonly name: string
  /** Role or occupation; "" when unknown. */
  readonly role: string
  /** Whether memories are included in prompts. */
  readonly use_memories: boolean
  /** Whether the model can save memories. */
  readonly enable_memory_tool: boolean
  /** Newest first. */
  readonly memories: readonly MemoryItem[]
  /** How the assistant should answer; "" when not set. */
  readonly user_preferences: string
}

export const personalizationSchema: WireSchema<PersonalizationDetail> = model('PersonalizationDetail', {
  name: v.string(),
  role: v.string(),
  use_memories: boolean,
  enable_memory_tool: boolean,
  memories: v.array(memoryItemSchema),
  user_preferences: v.string(),
})

/** A memory in an update. */
export interface MemoryChange {
  /** Number of the memory to edit; null adds one. */
  readonly id: number | null
  /** Text of the memory. */
  readonly content: string
}

/** Body of `PATCH /user/personalization`. Absent and null fields stay unchanged. */
export interface PersonalizationUpdate {
  /** Name of the person. */
  readonly name: string | null
  /** Role or occupation. */
  readonly role: string | null
  /** Whether memories are included in prompts. */
  readonly use_memories: boolean | null
  /** Whether the model can save memories. */
  readonly enable_memory_tool: boolean | null
  /**
   * The complete list of memories: entries with a known id are edited, entries without an id are added, all others are
   * deleted.
   */
  readonly memories: readonly MemoryChange[] | null
  /** How the assistant should answer. */
  readonly user_preferences: string | null
}

export const personalizationUpdateSchema: WireSchema<PersonalizationUpdate> = model('PersonalizationUpdate', {
  name: orNull(text),
  role: orNull(text),
  use_memories: orNull(boolean),
  enable_memory_tool: orNull(boolean),
  memories: orNull(v.array(model('MemoryChange', { id: orNull(integer), content: text }))),
  user_preferences: orNull(text),
})

/** Body of the routes that create or change one memory. */
export interface MemoryText {
  /** Text of the memory. */
  readonly content: string
}

/** Schema of {@link MemoryText}. The memory store checks the length. */
export const memoryTextSchema: WireSchema<MemoryText, MemoryText> = model('MemoryText', { content: text })
