import { v5 } from 'uuid'
import { asUuid } from './fields.ts'
import type { Principal } from './resources/principal.ts'

/** UUID namespace for ids that are not UUIDs; must never change. */
const namespace = '5b2f8a8e-3c1d-4f5e-9a67-0d6c1e2b7f40'
// Cached because a search compares its caller with every private pair.
const derived = new Map<string, string>()
const maxDerived = 1000

/**
 * The id of a person or key on the wire: always a lower-case UUID. A UUID stays; any other id becomes its version 5
 * UUID, the same in every installation.
 */
export function toUserId(id: string): string {
  const known = derived.get(id) ?? asUuid(id)
  if (known !== undefined) return known
  if (derived.size >= maxDerived) derived.clear()
  const userId = v5(id, namespace)
  derived.set(id, userId)
  return userId
}

/** Whether a list of ids and e-mail addresses contains a caller, whose id may appear in its own or its wire form. */
export function isNamed(names: ReadonlySet<string>, caller: Pick<Principal, 'id' | 'email'>): boolean {
  if (names.size === 0) return false
  if (names.has(caller.id) || (caller.email !== undefined && names.has(caller.email))) return true
  return names.has(toUserId(caller.id))
}

/** Converts a list of ids and e-mail addresses to wire form: addresses stay, ids become UUIDs. */
export function toUserNames(names: readonly string[]): string[] {
  return names.map((name) => (name.includes('@') ? name : toUserId(name)))
}
