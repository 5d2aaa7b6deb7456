import { isInlayError } from '@inlay/protocol'
import { useRef, useState } from 'preact/hooks'
import { typingMs, useLoaded } from '../controls/use-loaded.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import type { ChatListing, ListedChat, Service } from '../service/service.ts'
import { announceChange, useChange } from '../service/tabs.ts'

export type Chats = ReturnType<typeof useChats>

/** The conversations of the person, pinned ones first, then the newest; or those that hold some words. */
export function useChats(service: Service, onRemoved: (sessionId: string) => void) {
  const [words, setWords] = useState('')
  const [pages, setPages] = useState(1)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [removed, setRemoved] = useState<readonly ListedChat[]>([])
  const wanted = words.trim()
  // Until they are read without: a listing that is read meanwhile may still have them.
  const hidden = useRef(new Set<string>())
  const list = useLoaded(
    async (signal) => {
      const listing = await readPages(service, wanted, pages, signal)
      const ids = listing.chats.map(({ id }) => id)
      if (!signal.aborted) hidden.current = new Set(ids.filter((id) => hidden.current.has(id)))
      return listing
    },
    [service, wanted, pages],
    { delayMs: wanted === '' ? 0 : typingMs },
  )
  useChange(['chat'], () => void list.reload())
  const announce = (sessionId: string): void => announceChange({ kind: 'chat', sessionId })
  const settle = (error: unknown): void => setFailure(error === undefined ? null : toFailure(error))
  const change = (sessionId: string, work: Promise<unknown>): void => {
    work.then(() => {
      setFailure(null)
      announce(sessionId)
    }, settle)
  }
  return {
    /** Undefined until they were read for the first time. */
    all: list.value?.chats.filter(({ id }) => !hidden.current.has(id)),
    hasMore: list.value !== undefined && list.value.next !== null,
    failure: failure ?? list.failure,
    words,
    search: (next: string) => {
      setWords(next)
      setPages(1)
      setFailure(null)
    },
    showMore: () => setPages(pages + 1),
    rename: (id: string, name: string) => change(id, service.rename(id, name)),
    pin: (id: string, isPinned: boolean) => change(id, service.setPinned(id, isPinned)),
    remove: (chats: readonly ListedChat[]) => {
      void removeEach(chats, service).then(({ gone, error }) => {
        setRemoved(gone)
        settle(error)
        for (const { id } of gone) {
          hidden.current.add(id)
          onRemoved(id)
          announce(id)
        }
      })
    },
    removed,
    undo: () => {
      setRemoved([])
      void restoreEach(removed, service).then(({ left, error }) => {
        for (const chat of removed) {
          if (!left.includes(chat)) hidden.current.delete(chat.id)
          announce(chat.id)
        }
        settle(error)
        setRemoved((known) => [...known, ...left])
      })
    },
    failed: settle,
    /** Ends the offer to bring them back. */
    forget: () => setRemoved([]),
  }
}

/** The first pages of a listing. Pinned conversations are on the first. */
export async function readPages(
  service: Pick<Service, 'chats'>,
  words: string,
  count: number,
  signal: AbortSignal,
): Promise<ChatListing> {
  let { chats, next } = await service.chats(words, null)
  for (let page = 1; page < count && next !== null && !signal.aborted; page++) {
    const more = await service.chats(words, next)
    const ids = new Set(chats.map(({ id }) => id))
    chats = [...chats, ...more.chats.filter(({ id }) => !ids.has(id))]
    next = more.next
  }
  return { chats, next }
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
