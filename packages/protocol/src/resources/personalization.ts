import * as v from 'valibot'
import { boolean, integer, model, orNull, text, type WireSchema } from '../fields.ts'

/** Something remembered about the caller for later conversations. */
export interface MemoryItem {
  /** Number of the memory. */
  readonly id: number
  /** What is remembered. */
  readonly content: string
}

export const memoryItemSchema: WireSchema<MemoryItem> = model('MemoryItem', { id: integer, content: v.string() })

/** What the caller wants the assistant to know and to do; a part of `GET /me`. */
export interface PersonalizationDetail {
  /** How the person is called; "" when not told. */
  readonly name: string
  /** What they do; "" when not told. */
  readonly role: string
  /** Whether the model is told the memories. */
  readonly use_memories: boolean
  /** Whether the model may keep memories. */
  readonly enable_memory_tool: boolean
  /** Newest first. */
  readonly memories: readonly MemoryItem[]
  /** How they wish to be answered; "" when not told. */
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

/** A memory as an update names it. */
export interface MemoryChange {
  /** Number of the memory to edit; null adds one. */
  readonly id: number | null
  /** What is remembered. */
  readonly content: string
}

/** Body of `PATCH /user/personalization`: what is absent or null stays. */
export interface PersonalizationUpdate {
  /** How the person is called. */
  readonly name: string | null
  /** What they do. */
  readonly role: string | null
  /** Whether the model is told the memories. */
  readonly use_memories: boolean | null
  /** Whether the model may keep memories. */
  readonly enable_memory_tool: boolean | null
  /** All memories there shall be: those with a known id are edited, those without are added, all others go. */
  readonly memories: readonly MemoryChange[] | null
  /** How they wish to be answered. */
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

/** Body of the addresses that keep or change one memory. */
export interface MemoryText {
  /** What is to be remembered. */
  readonly content: string
}

/** Schema of {@link MemoryText}; how long it may be is checked where memories are kept. */
export const memoryTextSchema: WireSchema<MemoryText, MemoryText> = model('MemoryText', { content: text })
