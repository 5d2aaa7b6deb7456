import { useCallback, useRef, useState } from 'preact/hooks'
import { toFailure } from '../service/failure.ts'
import type { Service, SentFile } from '../service/service.ts'

/** A file that goes with the next question. */
export interface Attachment {
  /** Counts the files of this page. */
  readonly id: number
  readonly name: string
  /** What the question names it by, once it is up. */
  readonly sent: SentFile | null
  /** Why it was not taken. */
  readonly refusal: string | null
}

/** The files beside the question, and what can be done with them. */
export interface Attachments {
  readonly all: readonly Attachment[]
  /** Whether some are still on their way. */
  readonly isBusy: boolean
  readonly add: (files: readonly File[]) => void
  readonly remove: (id: number) => void
  /** Takes out those that are up, for the question that is sent now; refused ones go too. */
  readonly take: () => readonly SentFile[]
}

/** Most files of one question. */
const most = 10

/** Uploads files as soon as they are chosen. */
export function useAttachments(service: Service): Attachments {
  const [all, setAll] = useState<readonly Attachment[]>([])
  const nextId = useRef(1)

  const add = useCallback(
    (files: readonly File[]): void => {
      for (const file of files.slice(0, most)) {
        const id = nextId.current++
        const settle = (change: Partial<Attachment>): void =>
          setAll((known) =>
            known.map((attachment) => (attachment.id === id ? { ...attachment, ...change } : attachment)),
          )
        setAll((known) => [...known, { id, name: file.name, sent: null, refusal: null }])
        service.upload(file).then(
          (answer) => settle('refusal' in answer ? answer : { sent: answer }),
          (error: unknown) => settle({ refusal: toFailure(error).message }),
        )
      }
    },
    [service],
  )
  return {
    all,
    isBusy: all.some(({ sent, refusal }) => sent === null && refusal === null),
    add,
    remove: (id) => setAll((known) => known.filter((attachment) => attachment.id !== id)),
    take: () => {
      setAll([])
      return all.flatMap(({ sent }) => (sent === null ? [] : [sent]))
    },
  }
}
