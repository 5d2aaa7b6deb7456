import { InlayError, isInlayError } from '@inlay/protocol'
import type { Embedder, RebuildReason, VectorIndex } from '../contracts/vector-index.ts'
import type { Records } from '../schema/tables.ts'
import {
  type IndexSpace,
  type OpenedIndex,
  adoptIdentity,
  enterSpace,
  holdsDocuments,
  isReadable,
  openOnUse,
  readSpaces,
} from './index-space.ts'

export interface SpaceDirectoryOptions {
  readonly db: Records
  /** The index of the first space. */
  readonly index: VectorIndex
  readonly embedder?: Embedder
  readonly now: () => number
  /** Receives what an operator should know, such as a lost index. */
  readonly onError?: (error: unknown) => void
  /** Called when documents have to be brought into another space. */
  readonly onRebuild?: () => void
  /** Called when an index was opened: it may owe upkeep. */
  readonly onOpen?: () => void
}

/** The spaces that records know, each with its index; tells indexes that are not what the records believe. */
export interface SpaceDirectory {
  /** Number of the space of the configured embedder; it may have been replaced by now. */
  own(): Promise<number>
  /** All spaces, as they are now. */
  spaces(): Promise<readonly IndexSpace[]>
  /** All spaces, as they were a second ago at most. */
  recentSpaces(): Promise<readonly IndexSpace[]>
  indexOf(space: IndexSpace): OpenedIndex
  /** The index of a space, unless it is gone. */
  indexAt(number: number): Promise<OpenedIndex | undefined>
  /** Indexes that were used so far. */
  opened(): readonly OpenedIndex[]
  /** Looks whether the index of the own space is the one that its documents were brought into; replaces the space if not. */
  verify(): Promise<void>
  /**
   * Judges a failure of an index.
   * @returns whether the index turned out to be lost: its space was replaced, and the work can be done again
   */
  isLostAfter(error: unknown, number: number): Promise<boolean>
  /** Makes a new space in place of the own one; answers its number. */
  replace(reason: RebuildReason): Promise<number>
  drop(number: number): Promise<void>
  close(): Promise<void>
}

/** Other processes make and remove spaces, too. */
const spacesAgeMs = 1000
/** A thorough look reads the whole index. */
const inspectEveryMs = 30_000

interface State extends Required<SpaceDirectoryOptionsWithDefaults> {
  readonly handles: Map<number, OpenedIndex>
  /** Number of the own space, once it was asked for. */
  entering: Promise<number> | undefined
  known: readonly IndexSpace[]
  readAt: number
  inspectedAt: number
  inspecting: Promise<boolean> | undefined
  isClosed: boolean
}

type SpaceDirectoryOptionsWithDefaults = Omit<SpaceDirectoryOptions, 'embedder'> & {
  readonly embedder: Embedder | null
}

export function createSpaceDirectory(options: SpaceDirectoryOptions): SpaceDirectory {
  const { index } = options
  const state: State = {
    onError: () => {},
    onRebuild: () => {},
    onOpen: () => {},
    ...options,
    embedder: options.embedder ?? null,
    handles: new Map(),
    entering: undefined,
    known: [],
    readAt: -Infinity,
    inspectedAt: -Infinity,
    inspecting: undefined,
    isClosed: false,
  }
  return {
    own: () => enterOwn(state),
    spaces: () => readAll(state),
    recentSpaces: () => readRecent(state),
    indexOf: (space) => handleOf(state, space),
    indexAt: async (number) => {
      const readable = (list: readonly IndexSpace[]): IndexSpace | undefined =>
        list.find((space) => space.number === number && isReadable(space))
      const space = readable(await readRecent(state)) ?? readable(await readAll(state))
      return space && handleOf(state, space)
    },
    opened: () => [...state.handles.values()],
    verify: async () => void (await inspect(state, await enterOwn(state), { thorough: false })),
    isLostAfter: (error, number) => isLostAfter(state, error, number),
    replace: async (reason) => replace(state, { number: await enterOwn(state), reason }),
    drop: async (number) => {
      await forget(state, number)
      await (number === 0 ? index : index.beside?.(number))?.drop?.()
    },
    close: async () => {
      state.isClosed = true
      await state.inspecting
      for (const handle of state.handles.values()) await handle.close()
      if (!state.handles.has(0)) await index.close()
    },
  }
}

const enterOptions = ({ embedder, index }: State): { embedder: Embedder | undefined; isMovable: boolean } => ({
  embedder: embedder ?? undefined,
  isMovable: index.beside !== undefined,
})

function enterOwn(state: State): Promise<number> {
  state.entering ??= enterSpace(state.db, enterOptions(state)).catch((error: unknown) => {
    state.entering = undefined
    throw error
  })
  return state.entering
}

async function readAll(state: State): Promise<readonly IndexSpace[]> {
  const number = await enterOwn(state)
  const spaces = await readSpaces(state.db)
  state.known = spaces
  state.readAt = state.now()
  // Another process has replaced the space by one of the same embedder.
  const [own, latest] = [spaces.find((space) => space.number === number), spaces.at(-1)]
  if (latest && latest.number > number && isSameSpace(latest, own, state.embedder))
    state.entering = Promise.resolve(latest.number)
  return spaces
}

async function readRecent(state: State): Promise<readonly IndexSpace[]> {
  const { now, readAt, known } = state
  return readAt >= 0 && Math.abs(now() - readAt) < spacesAgeMs ? known : readAll(state)
}

function handleOf({ index, handles, isClosed, onOpen }: State, space: IndexSpace): OpenedIndex {
  if (isClosed) throw new InlayError('CLOSED')
  const existing = handles.get(space.number)
  if (existing) return existing
  const handle = openOnUse(space.number === 0 ? index : index.beside!(space.number), space, onOpen)
  handles.set(space.number, handle)
  return handle
}

/** Why the index of a space is not the one that its documents were brought into; undefined when it is. */
async function faultOf(state: State, space: IndexSpace, thorough: boolean): Promise<RebuildReason | undefined> {
  const handle = handleOf(state, space)
  if (!handle.inspect || !handle.mark) return undefined
  const { state: condition, identity } = await handle.inspect({ thorough })
  if (condition === 'damaged' || condition === 'outdated') return condition
  if (condition === 'present' && identity !== undefined && space.identity !== null)
    return identity === space.identity ? undefined : 'foreign'
  if (!(await holdsDocuments(state.db, space.number))) return undefined
  if (condition === 'missing') return 'lost'
  if (space.identity !== null) return 'foreign'
  const mark = identity ?? crypto.randomUUID()
  await handle.mark(mark)
  const adopted = await adoptIdentity(state.db, space.number, mark)
  if (adopted !== mark) await handle.mark(adopted)
  return undefined
}

async function replace(
  state: State,
  replaced: { readonly number: number; readonly reason: RebuildReason },
): Promise<number> {
  const number = await enterSpace(state.db, { ...enterOptions(state), replaced })
  state.entering = Promise.resolve(number)
  state.readAt = -Infinity
  if (replaced.reason !== 'requested') await forget(state, replaced.number).catch(state.onError)
  state.onRebuild()
  return number
}

async function forget({ handles }: State, number: number): Promise<void> {
  const handle = handles.get(number)
  handles.delete(number)
  await handle?.close()
}

/** @returns whether the space cannot be read any more, by now or since before */
async function inspect(state: State, number: number, { thorough }: { thorough: boolean }): Promise<boolean> {
  const space = (await readAll(state)).find((candidate) => candidate.number === number)
  if (!space || !isReadable(space)) return true
  const reason = await faultOf(state, space, thorough)
  if (reason === undefined) return false
  await replace(state, { number, reason })
  state.onError(new InlayError('INDEX_MISMATCH', { message: `${sentences[reason]} ${remedy}`, retryable: true }))
  return true
}

async function isLostAfter(state: State, error: unknown, number: number): Promise<boolean> {
  if (state.isClosed || isRefusal(error)) return false
  const sinceMs = state.now() - state.inspectedAt
  if (!state.inspecting && sinceMs >= 0 && sinceMs < inspectEveryMs) return false
  // Whoever fails meanwhile waits for the same look.
  state.inspecting ??= inspect(state, number, { thorough: true })
    .catch((failure: unknown) => {
      state.onError(failure)
      return false
    })
    .finally(() => {
      state.inspecting = undefined
      state.inspectedAt = state.now()
    })
  return state.inspecting
}

function isSameSpace(latest: IndexSpace, own: IndexSpace | undefined, embedder: Embedder | null): boolean {
  const id = own ? own.space?.id : embedder?.id
  const dimensions = own ? own.space?.dimensions : embedder?.dimensions
  return latest.space?.id === id && latest.space?.dimensions === dimensions && isReadable(latest)
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
const remedy = 'Its documents are being indexed again from the records; search goes on with those that are.'
