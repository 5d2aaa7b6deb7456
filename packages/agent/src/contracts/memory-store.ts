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

/** Information about the caller for the model. */
export interface Person {
  /** How the person is called; "" when not told, as the next two. At most 200 characters. */
  readonly name: string
  /** Role or occupation. At most 200 characters. */
  readonly role: string
  /** How they wish to be answered. At most 2000 characters. */
  readonly preferences: string
  /** Newest first. */
  readonly memories: readonly Memory[]
}

/** Outcome of saving a memory for a model. */
export interface KeptMemory {
  readonly memory: Memory
  readonly operation: 'add' | 'update'
  /** Place of the memory that was replaced, from 0, newest first; null for a new one. */
  readonly index: number | null
}

/** Most characters of a memory. */
export const memoryChars = 500

/** Memories about callers; each caller can access only their own. */
export interface MemoryStore {
  /** Whether `keep` takes anything at all. The action `add_memory` exists only then. */
  readonly canKeep: boolean
  /** Information about a caller for the model. */
  person(caller: Principal): Promise<Person>
  /** Whether the model may keep memories of a caller. */
  mayKeep(caller: Principal): Promise<boolean>
  /**
   * Keeps what the model wants kept.
   * @param replaces id of the memory it takes the place of; null adds one, unless it says the same as one that is there
   * @throws INVALID_INPUT for a text that is blank or too long, NOT_FOUND for an id that is not the caller's
   */
  keep(content: string, replaces: number | null, caller: Principal): Promise<KeptMemory>
}
