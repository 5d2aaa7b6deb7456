import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type Wire } from '../fields.ts'

export const memoryItemSchema = model('MemoryItem', {
  /** Number of the memory. */
  id: integer,
  /** Text of the memory. */
  content: v.string(),
})

/** A memory about the caller for later conversations. */
export type MemoryItem = Wire<typeof memoryItemSchema>

export const personalizationSchema = model('PersonalizationDetail', {
  /** Name of the person; "" when unknown. */
  name: v.string(),
  /** Role or occupation; "" when unknown. */
  role: v.string(),
  /** Whether memories are included in prompts. */
  use_memories: boolean,
  /** Whether the model can save memories. */
  enable_memory_tool: boolean,
  /** Newest first. */
  memories: v.array(memoryItemSchema),
  /** How the assistant should answer; "" when not set. */
  user_preferences: v.string(),
})

/** Personal information and preferences of the caller; part of `GET /me`. */
export type PersonalizationDetail = Wire<typeof personalizationSchema>

/** A memory in an update. */
const memoryChangeSchema = model('MemoryChange', {
  /** Number of the memory to edit; null adds one. */
  id: orNull(integer),
  /** Text of the memory. */
  content: text,
})

export const personalizationUpdateSchema = model('PersonalizationUpdate', {
  /** Name of the person. */
  name: orNull(text),
  /** Role or occupation. */
  role: orNull(text),
  /** Whether memories are included in prompts. */
  use_memories: orNull(boolean),
  /** Whether the model can save memories. */
  enable_memory_tool: orNull(boolean),
  /**
   * The complete list of memories: entries with a known id are edited, entries without an id are added, all others are
   * deleted.
   */
  memories: orNull(v.array(memoryChangeSchema)),
  /** How the assistant should answer. */
  user_preferences: orNull(text),
})

/** Body of `PATCH /user/personalization`. Absent and null fields stay unchanged. */
export type PersonalizationUpdate = Wire<typeof personalizationUpdateSchema>

/** Schema of {@link MemoryText}. The memory store checks the length. */
export const memoryTextSchema = model('MemoryText', {
  /** Text of the memory. */
  content: text,
})

/** Body of the routes that create or change one memory. */
export type MemoryText = Wire<typeof memoryTextSchema>
