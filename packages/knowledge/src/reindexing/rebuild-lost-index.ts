import { InlayError, isInlayError } from '@inlay/protocol'
import type { RebuildReason } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import {
  type IndexSpace,
  type OpenedIndex,
  type ReplacedSpace,
  confirmIdentity,
  holdsDocuments,
  proposeIdentity,
} from './index-space.ts'

/** A thorough look reads the whole index. */
const [thorough, inspectEveryMs] = [{ thorough: true }, 30_000]

/** The spaces that are looked at. */
export interface CheckedSpaces {
  readonly isClosed: boolean
  /** The space that documents are brought into. */
  latest(): Promise<IndexSpace>
  spaces(): Promise<readonly IndexSpace[]>
  indexOf(space: IndexSpace): OpenedIndex
  /** Makes a new space in place of one. */
  replace(replaced: ReplacedSpace): Promise<void>
}

interface LostIndexOptions {
  /** Whether an index that turns out to be lost is left to other processes. */
  readonly isReadOnly?: boolean
  readonly db: Records
  readonly now: () => number
  readonly onError?: (error: unknown) => void
}

/** Errors that waiting does not resolve: the operator has to change something. */
const lasting: ReadonlySet<string> = new Set(['INDEX_MISMATCH', 'UNSUPPORTED', 'INVALID_INPUT'])

/**
 * Tells indexes that are not what the records believe: lost, damaged, outdated, or another's. Such a one is replaced by a
 * new one, into which its documents are then moved.
 */
export class LostIndexCheck {
  readonly #directory: CheckedSpaces
  readonly #options: LostIndexOptions
  #inspecting: Promise<boolean> | undefined
  #inspectedAt = -Infinity
  /** Whether the index is still to be verified by its next use. */
  isUnverified: boolean
  #verifying: Promise<unknown> | undefined

  constructor(directory: CheckedSpaces, options: LostIndexOptions) {
    this.#directory = directory
    this.#options = options
    this.isUnverified = options.isReadOnly === true
  }

  /**
   * Looks whether the index of each space is the one that its documents were brought into; replaces the space if not.
   * An index that cannot be reached is told to the operator, and verified by its next use.
   */
  async verify(): Promise<void> {
    await this.#inspectAll({ thorough: false }).catch((error: unknown) => {
      if (isInlayError(error) && lasting.has(error.code)) throw error
      this.isUnverified = true
      this.#options.onError?.(unreachable(error))
    })
  }

  /**
   * Verifies an index that could not be reached before.
   * @throws SERVICE_UNAVAILABLE while it cannot be reached
   */
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
   * Judges a failure of the index of a space; without a number, of any.
   * @returns whether the index turned out to be lost: its space was replaced, and the work can be done again
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

  /** Resolves once no look is under way. */
  async settled(): Promise<void> {
    await this.#inspecting
  }

  /** Looks at the own space, and at those that documents are being moved from. */
  async #inspectAll(how: { thorough: boolean }): Promise<boolean> {
    const own = (await this.#directory.latest()).number
    const others = (await this.#directory.spaces()).filter((space) => space.isReadable && space.number !== own)
    let isLost = false
    for (const number of [own, ...others.map((space) => space.number)])
      isLost = (await this.#inspect(number, how)) || isLost
    return isLost
  }

  /** @returns whether the space cannot be read any more, by now or since before */
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
    // Records that were put back from an earlier day may give it a place where something lies already.
    await this.#inspect((await this.#directory.latest()).number, { thorough: false })
    return true
  }

  /** Why the index of a space is not the one that its documents were brought into; undefined when it is. */
  async #faultOf(space: IndexSpace, how: { thorough: boolean }): Promise<RebuildReason | undefined> {
    const { db } = this.#options
    const index = this.#directory.indexOf(space)
    if (!index.inspect || !index.mark) return undefined
    const { state: condition, identity, predatesMarks } = await index.inspect(how)
    if (condition === 'damaged' || condition === 'outdated') return condition
    const isMarked = space.identity !== null && !space.isAdopting
    if (condition === 'present' && identity !== undefined && isMarked)
      return identity === space.identity ? undefined : 'foreign'
    if (!(await holdsDocuments(db, space.number))) return undefined
    if (condition === 'missing') return 'lost'
    if (isMarked && !predatesMarks) return 'foreign'
    if (this.#options.isReadOnly) return undefined
    const mark = await proposeIdentity(db, space.number, identity ?? crypto.randomUUID())
    if (mark !== identity) await index.mark(mark)
    await confirmIdentity(db, space.number, mark)
    return undefined
  }
}

function unreachable(cause: unknown): InlayError {
  const message = 'The index cannot be reached. It is tried again with each use; until then this process is not ready.'
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: true })
}

/** Failures that say nothing about the index. */
function isRefusal(error: unknown): boolean {
  return isInlayError(error) && ['CLOSED', 'INVALID_INPUT', 'VALIDATION_FAILED', 'UNSUPPORTED'].includes(error.code)
}

const sentences: Readonly<Record<RebuildReason, string>> = {
  requested: 'The index is built anew.',
  lost: 'The index is lost.',
  damaged: 'The index is damaged.',
  foreign: 'The index is not the one that these documents were brought into.',
  outdated: 'The index was made by another version.',
}
const remedyElsewhere = 'It is made anew by inlay serve, or by inlay reindex.'
const remedy = 'Its documents are being indexed again from the records; search goes on with those that are.'
