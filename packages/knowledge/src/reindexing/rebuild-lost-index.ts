import { InlayError, isInlayError } from '@inlay/protocol'
import type { RebuildReason } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import { type IndexSpace, type OpenedIndex, type ReplacedSpace, holdsDocuments } from './index-space.ts'

/** A thorough inspection reads the whole index. */
const [thorough, inspectEveryMs] = [{ thorough: true }, 30_000]

export interface CheckedSpaces {
  readonly isClosed: boolean
  /** The target space of indexing. */
  latest(): Promise<IndexSpace>
  spaces(): Promise<readonly IndexSpace[]>
  indexOf(space: IndexSpace): OpenedIndex
  /** Creates a new space that replaces another. */
  replace(replaced: ReplacedSpace): Promise<void>
}

export interface LostIndexOptions {
  /** Whether lost indexes are left to other processes. */
  readonly isReadOnly?: boolean
  readonly db: Records
  readonly now: () => number
  /** Receives problems that the operator should know about, such as a lost index. */
  readonly onError?: (error: unknown) => void
}

/** Errors that persist until the operator changes something. */
const lasting: ReadonlySet<string> = new Set(['INDEX_MISMATCH', 'UNSUPPORTED', 'INVALID_INPUT'])

/**
 * Detects an index that is lost, damaged, outdated or does not belong to these records. It is replaced by a new index,
 * into which its documents are moved.
 */
export class LostIndexCheck {
  readonly #directory: CheckedSpaces
  readonly #options: LostIndexOptions
  #inspecting: Promise<boolean> | undefined
  #inspectedAt = -Infinity
  /** Whether the index has to be verified on its next use. */
  isUnverified: boolean
  #verifying: Promise<unknown> | undefined

  constructor(directory: CheckedSpaces, options: LostIndexOptions) {
    this.#directory = directory
    this.#options = options
    this.isUnverified = options.isReadOnly === true
  }

  /**
   * Checks that the index of each space is the one its documents were indexed into; replaces the space if not. An index
   * that cannot be reached is reported, and verified on its next use.
   */
  async verify(): Promise<void> {
    await this.#inspectAll({ thorough: false }).catch((error: unknown) => {
      if (isInlayError(error) && lasting.has(error.code)) throw error
      this.isUnverified = true
      this.#options.onError?.(unreachable(error))
    })
  }

  /** Verifies an index that could not be reached before. @throws SERVICE_UNAVAILABLE while it cannot */
  async verified(): Promise<void> {
    const verify = async (): Promise<void> => {
      await this.#inspect((await this.#directory.latest()).number, { thorough: false })
      this.isUnverified = false
    }
    this.#verifying ??= verify().finally(() => (this.#verifying = undefined))
    await this.#verifying.catch((error: unknown) => {
      throw isInlayError(error) && lasting.has(error.code) ? error : unreachable(error)
    })
  }

  /**
   * Checks whether an index is lost after a failure of the index of a space; without a number, of any space.
   * @returns true if it is lost: its space was replaced, and the work can be retried
   */
  async isLostAfter(error: unknown, number: number | undefined): Promise<boolean> {
    const { now, onError, isReadOnly } = this.#options
    if (isReadOnly || this.#directory.isClosed || isRefusal(error)) return false
    const sinceMs = now() - this.#inspectedAt
    if (!this.#inspecting && sinceMs >= 0 && sinceMs < inspectEveryMs) return false
    // Calls that fail meanwhile share the same inspection.
    this.#inspecting ??= (number === undefined ? this.#inspectAll(thorough) : this.#inspect(number, thorough))
      .catch((failure: unknown) => {
        onError?.(failure)
        return false
      })
      .finally(() => {
        this.#inspecting = undefined
        this.#inspectedAt = now()
      })
    return this.#inspecting
  }

  async whenIdle(): Promise<void> {
    await this.#inspecting
  }

  /** Inspects the latest space, and those that documents are being moved from. */
  async #inspectAll(how: { thorough: boolean }): Promise<boolean> {
    const own = (await this.#directory.latest()).number
    const others = (await this.#directory.spaces()).filter((space) => space.isReadable && space.number !== own)
    let isLost = false
    for (const number of [own, ...others.map((space) => space.number)])
      isLost = (await this.#inspect(number, how)) || isLost
    return isLost
  }

  /** @returns whether the space can no longer be read */
  async #inspect(number: number, how: { thorough: boolean }): Promise<boolean> {
    const space = (await this.#directory.spaces()).find((candidate) => candidate.number === number)
    if (!space?.isReadable) return true
    const reason = await this.#faultOf(space, how)
    if (reason === undefined) return false
    if (this.#options.isReadOnly)
      throw new InlayError('INDEX_MISMATCH', { message: `${sentences[reason]} ${remedyElsewhere}`, retryable: true })
    await this.#directory.replace({ number, reason })
    const message = `${sentences[reason]} ${remedy}`
    this.#options.onError?.(new InlayError('INDEX_MISMATCH', { message, retryable: true }))
    // If the records were restored from an older backup, the new space may have the number of an index that already
    // exists.
    await this.#inspect((await this.#directory.latest()).number, { thorough: false })
    return true
  }

  /** Reason why the index of a space is not the one its documents were indexed into; undefined if it is. */
  async #faultOf(space: IndexSpace, how: { thorough: boolean }): Promise<RebuildReason | undefined> {
    const index = this.#directory.indexOf(space)
    if (!index.inspect || !index.mark) return undefined
    const { state: condition, identity } = await index.inspect(how)
    if (condition === 'damaged' || condition === 'outdated') return condition
    if (condition === 'present' && identity !== undefined) return identity === space.identity ? undefined : 'foreign'
    if (!(await holdsDocuments(this.#options.db, space.number))) return undefined
    return condition === 'missing' ? 'lost' : 'foreign'
  }
}

function unreachable(cause: unknown): InlayError {
  // What the operator has to change is told instead.
  if (isInlayError(cause) && cause.data['isForOperator'] === true) return cause
  const message = 'The index cannot be reached. Each use tries again; until then this process is not ready.'
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: true })
}

/** Errors that say nothing about the state of the index. */
function isRefusal(error: unknown): boolean {
  return isInlayError(error) && ['CLOSED', 'INVALID_INPUT', 'VALIDATION_FAILED', 'UNSUPPORTED'].includes(error.code)
}

const sentences: Readonly<Record<RebuildReason, string>> = {
  requested: 'The index is being rebuilt.',
  lost: 'The index is lost.',
  damaged: 'The index is damaged.',
  foreign: 'The index does not belong to these documents.',
  outdated: 'The index was created by another version.',
}
const remedyElsewhere = 'Run inlay serve or inlay reindex to rebuild it.'
const remedy = 'Its documents are being indexed again from the database; searches find those that already are.'
