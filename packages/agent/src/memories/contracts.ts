import type { Principal } from '@inlay/protocol'

/** Something to remember about a person in later conversations. */
export interface Memory {
  readonly id: number
  /** One line, 1 to 500 characters. */
  readonly content: string
  /** Milliseconds since 1970 UTC, as `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** What a person wants the assistant to know and to do. */
export interface Personalization {
  /** How the person is called; "" when not told, as the next two. At most 200 characters. */
  readonly name: string
  /** What they do. At most 200 characters. */
  readonly role: string
  /** How they wish to be answered. At most 2000 characters. */
  readonly preferences: string
  /** Whether the model is told the memories. Default: it is. */
  readonly usesMemories: boolean
  /** Whether the model may keep memories. Default: it may. */
  readonly keepsMemories: boolean
  /** Oldest first. */
  readonly memories: readonly Memory[]
}

/** What to change; what is absent stays. */
export interface PersonalizationChanges extends Partial<Omit<Personalization, 'memories'>> {
  /** All memories there shall be: those with a known id are edited, those without are added, all others go. */
  readonly memories?: readonly { readonly id: number | null; readonly content: string }[]
}

/** What became of a memory that a model wants kept. */
export interface KeptMemory {
  readonly memory: Memory
  readonly operation: 'add' | 'update'
  /** Place of the memory that was replaced, from 0, oldest first; null for a new one. */
  readonly index: number | null
}

/**
 * What is remembered about callers, each alone with theirs. Content that is blank or too long, and a memory beyond the
 * hundredth, reject with INVALID_INPUT; a memory that is unknown or somebody else's with NOT_FOUND; where the host
 * switched memories off, adding and changing them with DEPLOYMENT_UNSUPPORTED.
 */
export interface Memories {
  get(caller: Principal): Promise<Personalization>
  update(changes: PersonalizationChanges, caller: Principal): Promise<Personalization>
  add(content: string, caller: Principal): Promise<Memory>
  edit(id: number, content: string, caller: Principal): Promise<Memory>
  remove(id: number, caller: Principal): Promise<void>
  /** Forgets all memories; the other settings stay. */
  clear(caller: Principal): Promise<void>
}
