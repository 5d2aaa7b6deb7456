import type { Memory, Person } from '@inlay/agent'
import type { Principal } from '@inlay/protocol'

/** What a person wants the assistant to know and to do. */
export interface Personalization extends Person {
  /** Whether the model is told the memories. Default: it is. */
  readonly usesMemories: boolean
  /** Whether the model may keep memories. Default: it may. */
  readonly keepsMemories: boolean
}

/** What to change; what is absent stays. */
export interface PersonalizationChanges extends Partial<Omit<Personalization, 'memories'>> {
  /** All memories there shall be: those with a known id are edited, those without are added, all others go. */
  readonly memories?: readonly { readonly id: number | null; readonly content: string }[]
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
