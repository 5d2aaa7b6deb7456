import { readJson } from '@inlay/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { toFailure } from '../service/failure.ts'
import { keep, readKept } from '../kept.ts'
import type { Service } from '../service/service.ts'
import { documentIdOf, refusalOf, type HandedFile } from './files.ts'

export interface RefusedFile {
  readonly path: string
  readonly reason: string
}

export interface IntakeProgress {
  readonly done: number
  readonly total: number
  readonly startedAt: number
}

export type FileIntake = ReturnType<typeof useFileIntake>

const concurrency = 3

/** Sends files to become documents. @param change reads the list again after each */
export function useFileIntake(
  service: Pick<Service, 'ingestFile' | 'hasDocument'>,
  change: <Result>(work: Promise<Result>) => Promise<Result>,
) {
  const [progress, setProgress] = useState<IntakeProgress | null>(null)
  const [taken, setTaken] = useState(0)
  const [refusals, setRefusals] = useState(keptRefusals)
  useEffect(() => keep(storageName, JSON.stringify(refusals)), [refusals])
  const [doubles, setDoubles] = useState<readonly HandedFile[]>([])
  const total = useRef(0)
  const done = useRef(0)
  const startedAt = useRef(0)
  const ids = useMemo(() => createIds(service), [service])

  const refuse = (path: string, reason: string): void =>
    setRefusals((known) => [...known.filter((file) => file.path !== path), { path, reason }].slice(-maxKept))

  /** Sends files; `idOf` gives none for a file that has to wait for the person. */
  const send = useCallback(
    async (files: readonly HandedFile[], idOf: (file: HandedFile) => Promise<string | undefined>): Promise<void> => {
      if (done.current === total.current) {
        ;[done.current, total.current, startedAt.current] = [0, 0, Date.now()]
        setTaken(0)
      }
      total.current += files.length
      setProgress({ done: done.current, total: total.current, startedAt: startedAt.current })
      await inParallel(files, async (handed) => {
        try {
          const id = await idOf(handed)
          if (id === undefined) setDoubles((known) => [...known, handed])
          else {
            await change(service.ingestFile(handed.file, id)).finally(() => ids.release(id))
            setTaken((count) => count + 1)
          }
        } catch (error) {
          refuse(handed.path, toFailure(error).message)
        }
        setProgress({ done: ++done.current, total: total.current, startedAt: startedAt.current })
      })
      if (done.current === total.current) setProgress(null)
    },
    [service, change, ids],
  )

  return {
    /** Null when none is on its way. */
    progress,
    /** How many were taken in the last time. */
    taken,
    /** Files that were not accepted, at most 500; shown until the user dismisses them. */
    refusals,
    /** Files that share the name of a document that is there already: the person says what they are. */
    doubles,
    add: (files: readonly HandedFile[]) => {
      const readable = files.filter((file) => refusalOf(file) === undefined)
      void send(readable, ids.ownOf)
      for (const file of files) {
        const reason = refusalOf(file)
        if (reason !== undefined) refuse(file.path, reason)
      }
    },
    /** Takes the doubles in: over the documents of their names, or beside them. */
    settleDoubles: (how: 'replace' | 'keep both') => {
      setDoubles([])
      const replacing = how === 'replace' ? firstOfEachName(doubles) : new Set()
      void send(doubles, async (file) => (replacing.has(file) ? documentIdOf(file) : ids.freeOf(file)))
    },
    dropDoubles: () => setDoubles([]),
    forgetRefusals: () => setRefusals([]),
  }
}

/** Ids of files on their way, none of them twice: files of one name may be handed in together. */
function createIds(service: Pick<Service, 'hasDocument'>) {
  const reserved = new Set<string>()
  /** Whether no document and no other file on its way has the id. */
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
  return {
    /** The id of a file; none when it is not free. */
    ownOf: async (file: HandedFile) => ((await reserve(documentIdOf(file))) ? documentIdOf(file) : undefined),
    release: (id: string) => reserved.delete(id),
    freeOf: async (file: HandedFile): Promise<string> => {
      let copy = 2
      while (!(await reserve(documentIdOf(file, copy)))) copy++
      return documentIdOf(file, copy)
    },
  }
}

function firstOfEachName(files: readonly HandedFile[]): Set<unknown> {
  return new Set(new Map(files.toReversed().map((file) => [documentIdOf(file), file])).values())
}

async function inParallel(files: readonly HandedFile[], take: (file: HandedFile) => Promise<void>): Promise<void> {
  const queue = files.values()
  const work = async (): Promise<void> => {
    for (const file of queue) await take(file)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

const storageName = 'inlay-refused-files'
const maxKept = 500

function keptRefusals(): readonly RefusedFile[] {
  const kept = readJson(readKept(storageName) ?? '[]')
  if (!Array.isArray(kept)) return []
  return kept.filter((file) => typeof file?.path === 'string' && typeof file.reason === 'string')
}
