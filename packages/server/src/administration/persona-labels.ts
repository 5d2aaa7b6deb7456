import { InlayError, type PersonaLabel } from '@inlay/protocol'
import { workspaceOf, type WorkspaceParts } from './workspace-of.ts'

/** All labels, by id. */
export async function listLabels({ workspace }: WorkspaceParts): Promise<PersonaLabel[]> {
  return ((await workspace?.list('label')) ?? []).map(({ id, value }) => ({ id, name: value.name }))
}

export async function readPersonaLabels(parts: WorkspaceParts): Promise<(personaId: number) => PersonaLabel[]> {
  const labels = await listLabels(parts)
  if (labels.length === 0) return () => []
  const given = new Map((await parts.workspace?.list('persona_labels'))?.map(({ id, value }) => [id, value]))
  return (personaId) => labels.filter(({ id }) => given.get(personaId)?.includes(id))
}

/** @throws VALIDATION_ERROR for a label that does not exist */
export async function checkLabels(ids: readonly number[] | null | undefined, parts: WorkspaceParts): Promise<void> {
  if (!ids || ids.length === 0) return
  const known = new Set((await listLabels(parts)).map(({ id }) => id))
  if (ids.every((id) => known.has(id))) return
  throw new InlayError('VALIDATION_ERROR', { message: 'label_ids contains an unknown label: see GET /persona/labels.' })
}

/** Replaces the labels of an agent; undefined keeps them. Call `checkLabels` first. */
export async function setLabels(
  personaId: number,
  ids: readonly number[] | null | undefined,
  parts: WorkspaceParts,
): Promise<void> {
  if (!ids || (ids.length === 0 && !parts.workspace)) return
  await workspaceOf(parts).put('persona_labels', personaId, [...new Set(ids)])
}
