import { InlayError } from '@inlay/protocol'
import type { Principal } from '@inlay/protocol'
import type { TurnFiles } from '../contracts.ts'
import type { StoredFile } from '../files/contracts.ts'
import type { FileStore } from '../files/files.ts'

/** What the files of a turn are taken from. */
export interface TurnFilesOptions {
  readonly store: Pick<FileStore, 'byIds' | 'sections' | 'lend' | 'keep'>
  /** Ids of the files that came with messages of the branch, checked when they were sent; repeats count once. */
  readonly attachedIds: readonly string[]
  /** Files of the project or agent, checked. */
  readonly held: readonly StoredFile[]
  /** Files that actions made earlier in the conversation, as far as they are the caller's; asked for once, if at all. */
  readonly madeBefore: () => Promise<readonly StoredFile[]>
  readonly caller: Principal
}

/** Makes what the actions of a turn may do with files. */
export function createTurnFiles(options: TurnFilesOptions): TurnFiles {
  const { store, attachedIds, held, madeBefore, caller } = options
  const made: StoredFile[] = []
  let given: Promise<(readonly StoredFile[])[]> | undefined
  const list = async (): Promise<readonly StoredFile[]> => {
    given ??= Promise.all([store.byIds([...new Set(attachedIds)]), madeBefore()])
    const [attached = [], earlier = []] = await given
    const all = [...attached, ...held, ...earlier, ...made]
    return [...new Map(all.map((file) => [file.id, file])).values()]
  }
  const listed = async (id: string): Promise<StoredFile> => {
    const file = (await list()).find((one) => one.id === id || one.fileId === id)
    if (file) return file
    throw new InlayError('NOT_FOUND', {
      message: 'This conversation has no such file: take an id of the files that were attached to it or made in it.',
    })
  }
  return {
    list,
    read: async (id, signal) => store.sections(await listed(id), signal),
    open: async (id) => store.lend((await listed(id)).fileId),
    keep: async (file) => {
      const kept = await store.keep(file, caller)
      made.push(kept)
      return kept
    },
  }
}
