import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { toFailure, type Failure } from '../service/failure.ts'
import type { ListedChat, Service } from '../service/service.ts'
import { announceChange, onChangeElsewhere } from '../service/tabs.ts'

/** The conversations of the person, newest first, or those that hold some words. */
export interface Chats {
  /** Undefined until they were read for the first time. */
  readonly all: readonly ListedChat[] | undefined
  readonly hasMore: boolean
  readonly failure: Failure | null
  readonly words: string
  readonly search: (words: string) => void
  readonly showMore: () => void
  readonly rename: (id: string, name: string) => void
  readonly remove: (id: string) => void
}

/** How long a person may go on typing before the search begins, in milliseconds. */
const typingMs = 250

type Update = (chats: readonly ListedChat[]) => readonly ListedChat[]

/** Reads the conversations; again with each change of the words. */
export function useChats(service: Service): Chats {
  const [all, setAll] = useState<readonly ListedChat[] | undefined>(undefined)
  const [next, setNext] = useState<string | null>(null)
  const [words, setWords] = useState('')
  const [failure, setFailure] = useState<Failure | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const round = useRef(0)
  const currentWords = useRef('')
  currentWords.current = words

  const read = useCallback(
    async (wanted: string, before: string | null): Promise<void> => {
      const mine = ++round.current
      try {
        const page = await service.chats(wanted, before)
        // A slower answer to what was asked before.
        if (mine !== round.current) return
        setAll((known) => (before === null ? page.chats : [...(known ?? []), ...page.chats]))
        setNext(page.next)
        setFailure(null)
      } catch (error) {
        if (mine === round.current) setFailure(toFailure(error))
      }
    },
    [service],
  )
  useEffect(() => {
    void read('', null)
    const unsubscribe = onChangeElsewhere(({ kind }) => kind === 'chat' && void read(currentWords.current.trim(), null))
    return () => {
      unsubscribe()
      clearTimeout(timer.current)
      round.current++
    }
  }, [read])

  const change = (sessionId: string, work: Promise<unknown>, update: Update): void => {
    const settle = (): void => {
      setAll((known) => known && update(known))
      announceChange({ kind: 'chat', sessionId })
    }
    work.then(settle, (error: unknown) => setFailure(toFailure(error)))
  }
  return {
    all,
    hasMore: next !== null,
    failure,
    words,
    search: (wanted) => {
      setWords(wanted)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void read(wanted.trim(), null), typingMs)
    },
    showMore: () => void read(words.trim(), next),
    rename: (id, name) =>
      change(id, service.rename(id, name), (chats) => chats.map((chat) => (chat.id === id ? { ...chat, name } : chat))),
    remove: (id) => change(id, service.removeChat(id), (chats) => chats.filter((chat) => chat.id !== id)),
  }
}
