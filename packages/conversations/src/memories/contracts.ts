import type { Memory, Person } from '@inlay/agent'
import type { Principal } from '@inlay/protocol'

/** Personal information and preferences for the assistant. */
export interface Personalization extends Person {
  /** Whether the model is told the memories. Default: it is. */
  readonly usesMemories: boolean
  /** Whether the model may keep memories. Default: it may. */
  readonly keepsMemories: boolean
}

/** Changes to the personalization; absent fields stay unchanged. */
export interface PersonalizationChanges extends Partial<Omit<Personalization, 'memories'>> {
  /** All memories there shall be: those with a known id are edited, those without are added, all others go. */
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
  /** Forgets all memories; the other settings stay. */
  clear(caller: Principal): Promise<void>
}
