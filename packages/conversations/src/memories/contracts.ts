import type { Memory, Person } from '@inlay/agent'
import type { Principal } from '@inlay/protocol'

/** Personal information and preferences for the assistant. */
export interface Personalization extends Person {
  /** Whether memories are part of prompts. Default true. */
  readonly usesMemories: boolean
  /** Whether the model may add memories. Default true. */
  readonly keepsMemories: boolean
}

/** Changes to the personalization; absent fields stay unchanged. */
export interface PersonalizationChanges extends Partial<Omit<Personalization, 'memories'>> {
  /** The complete list of memories: known ids are edited, entries without an id are added, all others are deleted. */
  readonly memories?: readonly { readonly id: number | null; readonly content: string }[]
}

/**
 * Memories about callers; each caller can access only their own. Blank or too long content, and more than a hundred
 * memories, reject with INVALID_INPUT; unknown memories and those of others with NOT_FOUND; where the host disabled
 * memories, additions and changes with DEPLOYMENT_UNSUPPORTED.
 */
export interface Memories {
  get(caller: Principal): Promise<Personalization>
  update(changes: PersonalizationChanges, caller: Principal): Promise<Personalization>
  add(content: string, caller: Principal): Promise<Memory>
  edit(id: number, content: string, caller: Principal): Promise<Memory>
  remove(id: number, caller: Principal): Promise<void>
  /** Deletes all memories; the other settings stay. */
  clear(caller: Principal): Promise<void>
}
