import { useCallback, useRef, useState } from 'preact/hooks'
import { toFailure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { documentIdOf, refusalOf, type HandedFile } from './files.ts'

/** How far the files are that a person handed in. */
export interface FileIntake {
  /** Null when none is on its way. */
  readonly progress: { readonly done: number; readonly total: number } | null
  /** How many were taken in the last time. */
  readonly taken: number
  /** What became of files that were not taken, a sentence each. */
  readonly refusals: readonly string[]
  /** Files that share the name of a document that is there already: the person says what they are. */
  readonly doubles: readonly HandedFile[]
  readonly add: (files: readonly HandedFile[]) => void
  /** Takes the doubles in: over the documents of their names, or beside them. */
  readonly settleDoubles: (how: 'replace' | 'keep both') => void
  readonly dropDoubles: () => void
}

/** Files sent at the same time. */
const concurrency = 3

/** Sends files to become documents. @param change reads the list again after each */
export function useFileIntake(
  service: Pick<Service, 'ingestFile' | 'hasDocument'>,
  change: <Result>(work: Promise<Result>) => Promise<Result>,
): FileIntake {
  const [progress, setProgress] = useState<FileIntake['progress']>(null)
  const [taken, setTaken] = useState(0)
  const [refusals, setRefusals] = useState<readonly string[]>([])
  const [doubles, setDoubles] = useState<readonly HandedFile[]>([])
  const total = useRef(0)
  const done = useRef(0)
  /** Ids of files on their way: two files of one name may be handed in together. */
  const reserved = useRef(new Set<string>()).current

  const refuse = (sentence: string): void => setRefusals((known) => [...known, sentence])

  /** Sends files; `idOf` gives none for a file that has to wait for the person. */
  const send = useCallback(
    async (files: readonly HandedFile[], idOf: (file: HandedFile) => Promise<string | undefined>): Promise<void> => {
      if (done.current === total.current) {
        ;[done.current, total.current] = [0, 0]
        setTaken(0)
        setRefusals([])
      }
      total.current += files.length
      setProgress({ done: done.current, total: total.current })
      await inParallel(files, async (handed) => {
        try {
          const id = await idOf(handed)
          if (id === undefined) setDoubles((known) => [...known, handed])
          else {
            await change(service.ingestFile(handed.file, id)).finally(() => reserved.delete(id))
            setTaken((count) => count + 1)
          }
        } catch (error) {
          refuse(`${handed.path}: ${toFailure(error).message}`)
        }
        setProgress({ done: ++done.current, total: total.current })
      })
      if (done.current === total.current) setProgress(null)
    },
    [service, change],
  )

  /** Reserves an id, unless a document or a file on its way has it. */
  const reserve = async (id: string): Promise<boolean> => {
    if (reserved.has(id)) return false
    reserved.add(id)
    let isFree = false
    try {
      isFree = !(await service.hasDocument(id))
    } finally {
      if (!isFree) reserved.delete(id)
    }
    return isFree
  }

  /** The first id of a file, counting its copies, that is free. */
  const freeId = async (file: HandedFile): Promise<string> => {
    for (let copy = 2; ; copy++) {
      const id = documentIdOf(file, copy)
      if (await reserve(id)) return id
    }
  }

  return {
    progress,
    taken,
    refusals,
    doubles,
    add: (files) => {
      void send(
        files.filter((file) => refusalOf(file) === undefined),
        async (file) => ((await reserve(documentIdOf(file))) ? documentIdOf(file) : undefined),
      )
      for (const sentence of files.map(refusalOf)) if (sentence !== undefined) refuse(sentence)
    },
    settleDoubles: (how) => {
      setDoubles([])
      const firsts = new Map(doubles.toReversed().map((file) => [documentIdOf(file), file]))
      void send(doubles, async (file) => {
        const id = documentIdOf(file)
        return how === 'replace' && firsts.get(id) === file ? id : freeId(file)
      })
    },
    dropDoubles: () => setDoubles([]),
  }
}

async function inParallel(files: readonly HandedFile[], take: (file: HandedFile) => Promise<void>): Promise<void> {
  const queue = files.values()
  const work = async (): Promise<void> => {
    for (const file of queue) await take(file)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}
