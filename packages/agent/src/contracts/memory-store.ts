import type { Principal } from '@inlay/protocol'

/** A fact about a person, for later conversations. */
export interface Memory {
  readonly id: number
  /** One line, 1 to 500 characters. */
  readonly content: string
  /** Milliseconds since 1970 UTC, as `updatedAt`. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Facts about the caller, for the model. */
export interface Person {
  /** Name to call the person by; "" when unknown, as with the next two. At most 200 characters. */
  readonly name: string
  /** Role or occupation. At most 200 characters. */
  readonly role: string
  /** How they want answers. At most 2000 characters. */
  readonly preferences: string
  /** Newest first. */
  readonly memories: readonly Memory[]
}

export interface KeptMemory {
  readonly memory: Memory
  readonly operation: 'add' | 'update'
  /** Index of the replaced memory, from 0, newest first; null for a new one. */
  readonly index: number | null
}

export const memoryChars = 500

/** Memories about callers; each caller can access only their own. */
export interface MemoryStore {
  /** Whether `keep` works at all; without it, `add_memory` is not offered. */
  readonly canKeep: boolean
  /** Facts about a caller, for the model. */
  person(caller: Principal): Promise<Person>
  /** Whether the model may store memories of a caller. */
  mayKeep(caller: Principal): Promise<boolean>
  /**
   * Stores a memory for the model.
   * @param replaces id of the memory to replace; null adds one, unless its content is there already
   * @throws INVALID_INPUT for a text that is blank or too long, NOT_FOUND for an id of another caller
   */
  keep(content: string, replaces: number | null, caller: Principal): Promise<KeptMemory>
}
