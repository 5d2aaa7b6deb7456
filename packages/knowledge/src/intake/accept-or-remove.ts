import { InlayError } from '@inlay/protocol'
import { forbidden, maySee, type GuardedPair } from '../access-and-filters/permissions.ts'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { Caller } from '../contracts/pairs.ts'
import { changedMeanwhile } from './change-metadata.ts'
import { takeRoom, type Room } from './quota.ts'
import type { Version } from './read-document.ts'

export type IntakeTask =
  | {
      readonly kind: 'accept'
      readonly id: string
      readonly version: Version
      readonly caller?: Caller
      /** Id of the caller whose queue share is used. Default: the caller's own. */
      readonly queuedFor?: string | undefined
      /** Revision that the version was made from; the task is refused if another one came meanwhile. */
      readonly ifRevision?: number
      /** The only pairs that the document is in from now on. Default: also those that it was in. */
      readonly pairIds?: readonly number[] | undefined
      /** Id of the hold on the files that the document uses; see `holdFiles`. */
      readonly hold?: string | undefined
    }
  | { readonly kind: 'remove'; readonly id: string; readonly caller?: Caller }
  /** Only what each task does: first, all that is in the inbox for its document takes effect. */
  | { readonly kind: 'take'; readonly id: string }

/** A task that takes effect when a transaction of the host is committed. */
export type LaterTask = Exclude<IntakeTask, { readonly kind: 'take' }>

export interface IntakeResult {
  readonly documentId: string
  readonly existed: boolean
  /** Current revision of the document; for a removed document, its last one. */
  readonly revision: number
  /** Whether that revision is already searchable. */
  readonly isIndexed: boolean
  /** Whether the task put the document into the queue. */
  readonly isQueued: boolean
}

export interface StoredState {
  readonly hash: string
  readonly state: DocumentPhase
  readonly revision: number
  readonly incarnation: number
  readonly dueAt: number
  readonly attempts: number
  readonly acceptedAt: number
  readonly characters: number
  readonly pairIds: readonly number[]
}

/** A document while the changes of a group are applied to it. */
export interface Draft {
  readonly id: string
  /** Undefined if the document is not recorded. */
  readonly stored: StoredState | undefined
  isPresent: boolean
  hash: string
  state: DocumentPhase
  incarnation: number
  revision: number
  pairIds: Set<number>
  /** Length of its content; undefined if nothing of it is stored. */
  characters: number | undefined
  /** The version to store; undefined if nothing has to be stored. */
  version: Version | undefined
  /** Id of the caller whose queue share is used; undefined for the host. */
  queuedFor: string | undefined
}

export interface DraftContext {
  readonly pairs: ReadonlyMap<number, GuardedPair>
  /** Never used before, and greater than that of any previous task. */
  readonly revision: number
  /** Absent: no limits apply. */
  readonly room?: Room | undefined
}

/** Applies a task to the draft of its document. @throws as `accept` and `remove` */
export function applyTask(draft: Draft, task: IntakeTask, context: DraftContext): IntakeResult {
  if (task.kind === 'accept') return accept(draft, task, context)
  if (task.kind === 'remove') return remove(draft, task, context)
  const { id, isPresent, revision, version } = draft
  return { documentId: id, existed: isPresent, revision, isIndexed: false, isQueued: version !== undefined }
}

/** @throws CONNECTOR_NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT, RATE_LIMITED */
function accept(
  draft: Draft,
  { version, caller, queuedFor = caller?.id, ifRevision, pairIds }: IntakeTask & { kind: 'accept' },
  { pairs, revision, room }: DraftContext,
): IntakeResult {
  const named = pairIds ?? [version.pairId]
  if (named.some((id) => pairs.get(id)?.isRemoved !== false)) throw new InlayError('CONNECTOR_NOT_FOUND')
  if (![...named, ...draft.pairIds].every((id) => maySee(pairs.get(id)!, caller)))
    throw forbidden('The document or its connector/credential pair belongs to others: use a pair that you can access.')
  const existed = draft.isPresent
  if (ifRevision !== undefined && (!existed || draft.revision !== ifRevision)) throw changedMeanwhile()
  const kept = new Set(pairIds ?? [...draft.pairIds, version.pairId])
  const isPlaced = kept.size === draft.pairIds.size && [...kept].every((id) => draft.pairIds.has(id))
  const isSame = existed && draft.hash === version.hash && isPlaced
  const isQueued = !isSame || draft.state === 'failed'
  if (isQueued) {
    if (room) takeRoom(room, [draft.characters === undefined ? 1 : 0, version.characters - (draft.characters ?? 0)])
    draft.characters = version.characters
    draft.revision = revision
    if (!existed) draft.incarnation = revision
    draft.isPresent = true
    draft.hash = version.hash
    draft.state = 'pending'
    draft.pairIds = kept
    draft.version = version
    draft.queuedFor = queuedFor
  }
  return { documentId: draft.id, existed, revision: draft.revision, isIndexed: draft.state === 'indexed', isQueued }
}

/** @throws DOCUMENT_NOT_FOUND, INSUFFICIENT_PERMISSIONS */
function remove(draft: Draft, { caller }: IntakeTask & { kind: 'remove' }, context: DraftContext): IntakeResult {
  const { pairs, room } = context
  const seen = [...draft.pairIds].filter((id) => maySee(pairs.get(id)!, caller))
  if (!draft.isPresent || seen.length === 0) throw new InlayError('DOCUMENT_NOT_FOUND')
  if (seen.length < draft.pairIds.size)
    throw forbidden('The document also belongs to connector/credential pairs of others, who would lose it.')
  if (room) takeRoom(room, [-1, -(draft.characters ?? 0)])
  draft.characters = undefined
  draft.isPresent = false
  draft.version = undefined
  draft.hash = ''
  draft.pairIds = new Set()
  return { documentId: draft.id, existed: true, revision: draft.revision, isIndexed: false, isQueued: false }
}
