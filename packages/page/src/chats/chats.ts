import { isInlayError } from '@inlay/protocol'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import type { ListedChat, Service } from '../service/service.ts'
import { announceChange, onAnyChange } from '../service/tabs.ts'

/** How long a person may go on typing before the search begins, in milliseconds. */
const typingMs = 250

export type Chats = ReturnType<typeof useChats>

/**
 * The conversations of the person, pinned ones first, then the newest; or those that hold some words.
 * @param onRemoved called for each removed conversation
 */
export function useChats(service: Service, onRemoved: (sessionId: string) => void) {
  const [all, setAll] = useState<readonly ListedChat[] | undefined>(undefined)
  const [next, setNext] = useState<string | null>(null)
  const [words, setWords] = useState('')
  const [readFailure, setReadFailure] = useState<Failure | null>(null)
  // Reading again does not mend it.
  const [failure, setFailure] = useState<Failure | null>(null)
  const [removed, setRemoved] = useState<readonly ListedChat[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const round = useRef(0)
  const underWay = useRef<Parameters<typeof read> | null>(null)
  const isOwnChange = useRef(false)
  const currentWords = useRef('')
  currentWords.current = words

  const read = useCallback(
    async (wanted: string, before: string | null): Promise<void> => {
      const mine = ++round.current
      underWay.current = [wanted, before]
      try {
        const page = await service.chats(wanted, before)
        // A slower answer to what was asked before.
        if (mine !== round.current) return
        setAll((known) => (before === null ? page.chats : withMore(known ?? [], page.chats)))
        setNext(page.next)
        setReadFailure(null)
      } catch (error) {
        if (mine === round.current) setReadFailure(toFailure(error))
      } finally {
        if (mine === round.current) underWay.current = null
      }
    },
    [service],
  )
  const readAgain = (): Promise<void> => read(currentWords.current.trim(), null)
  const announce = (sessionId: string): void => {
    isOwnChange.current = true
    announceChange({ kind: 'chat', sessionId })
    isOwnChange.current = false
  }
  /** Repeats a running request: after a change, its result may be outdated. */
  const readAnew = (): void => {
    if (underWay.current !== null) void read(...underWay.current)
  }
  useEffect(() => {
    void read('', null)
    const unsubscribe = onAnyChange(({ kind }) => {
      if (kind === 'chat' && !isOwnChange.current) void readAgain()
    })
    return () => {
      unsubscribe()
      clearTimeout(timer.current)
      round.current++
    }
  }, [read])

  const change = (
    sessionId: string,
    work: Promise<unknown>,
    update: (chats: readonly ListedChat[]) => readonly ListedChat[],
  ): void => {
    const settle = (): void => {
      setFailure(null)
      setAll((known) => known && update(known))
      readAnew()
      announce(sessionId)
    }
    work.then(settle, (error: unknown) => setFailure(toFailure(error)))
  }
  return {
    /** Undefined until they were read for the first time. */
    all,
    hasMore: next !== null,
    failure: failure ?? readFailure,
    words,
    search: (wanted: string) => {
      setWords(wanted)
      setFailure(null)
      // The next page, and a page that is being loaded, belong to the previous query.
      setNext(null)
      round.current++
      underWay.current = null
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void read(wanted.trim(), null), typingMs)
    },
    showMore: () => void read(words.trim(), next),
    rename: (id: string, name: string) =>
      change(id, service.rename(id, name), (chats) => chats.map((chat) => (chat.id === id ? { ...chat, name } : chat))),
    pin: (id: string, isPinned: boolean) =>
      change(id, service.setPinned(id, isPinned), (chats) => withPin(chats, id, isPinned, words.trim() === '')),
    remove: (chats: readonly ListedChat[]) => {
      void removeEach(chats, service).then(({ gone, error }) => {
        const ids = new Set(gone.map(({ id }) => id))
        setAll((known) => known?.filter(({ id }) => !ids.has(id)))
        setRemoved(gone)
        setFailure(error === undefined ? null : toFailure(error))
        readAnew()
        for (const id of ids) {
          onRemoved(id)
          announce(id)
        }
      })
    },
    /** Chats that were just removed and can be restored. */
    removed,
    undo: () => {
      setRemoved([])
      void restoreEach(removed, service).then(async ({ left, error }) => {
        for (const { id } of removed) announce(id)
        await readAgain()
        setFailure(error === undefined ? null : toFailure(error))
        setRemoved((known) => [...known, ...left])
      })
    },
    /** Tells why something about a conversation failed. */
    failed: (error: unknown) => setFailure(toFailure(error)),
    /** Ends the offer to bring them back. */
    forget: () => setRemoved([]),
  }
}

/**
 * Removes conversations one by one until one fails; that one and the following ones are kept. One that is
 * gone already counts as removed.
 */
export async function removeEach(
  chats: readonly ListedChat[],
  service: Pick<Service, 'removeChat'>,
): Promise<{ readonly gone: readonly ListedChat[]; readonly error?: unknown }> {
  const gone: ListedChat[] = []
  for (const chat of chats) {
    try {
      await service.removeChat(chat.id)
    } catch (error) {
      if (!isInlayError(error) || error.code !== 'SESSION_NOT_FOUND') return { gone, error }
    }
    gone.push(chat)
  }
  return { gone }
}

/** Restores conversations. @returns those that failed, and the error of the first */
export async function restoreEach(
  chats: readonly ListedChat[],
  service: Pick<Service, 'restoreChat'>,
): Promise<{ readonly left: readonly ListedChat[]; readonly error?: unknown }> {
  const outcomes = await Promise.allSettled(chats.map(({ id }) => service.restoreChat(id)))
  const left = chats.filter((_, at) => outcomes[at]?.status === 'rejected')
  return { left, error: outcomes.find((outcome) => outcome.status === 'rejected')?.reason }
}

/** A listing with its next page, whose pinned conversations were shown first already. */
function withMore(known: readonly ListedChat[], more: readonly ListedChat[]): readonly ListedChat[] {
  const ids = new Set(known.map(({ id }) => id))
  return [...known, ...more.filter(({ id }) => !ids.has(id))]
}

/** A listing after a conversation was pinned or unpinned. @param isOrdered whether pinned ones are listed first */
export function withPin(
  chats: readonly ListedChat[],
  id: string,
  isPinned: boolean,
  isOrdered: boolean,
): readonly ListedChat[] {
  const changed = chats.map((chat) => (chat.id === id ? { ...chat, isPinned } : chat))
  if (!isOrdered) return changed
  const pinned = changed.filter((chat) => chat.isPinned)
  return [
    ...pinned.filter((chat) => chat.id === id),
    ...pinned.filter((chat) => chat.id !== id),
    ...changed.filter((chat) => !chat.isPinned).sort((left, right) => Date.parse(right.time) - Date.parse(left.time)),
  ]
}
