import { hasScope, isNamed, type Principal } from '@inlay/protocol'
import type { StoredPersona } from './contracts.ts'

/** Whether a caller may use an agent. */
export function maySeePersona(persona: StoredPersona, caller: Principal): boolean {
  if (persona.isPublic || mayChangePersona(persona, caller)) return true
  if (isNamed(new Set(persona.users), caller)) return true
  return caller.groups?.some((group) => persona.groups.includes(group)) ?? false
}

/** Whether a caller may change and remove an agent; nobody can change the default one. */
export function mayChangePersona(persona: StoredPersona, caller: Principal): boolean {
  if (persona.ownerId === null) return false
  return persona.ownerId === caller.id || hasScope(caller, 'admin')
}
