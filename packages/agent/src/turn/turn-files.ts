import { InlayError } from '@inlay/protocol'
import type { Principal } from '@inlay/protocol'
import type { TurnFiles } from '../contracts/action.ts'
import type { FileStore, StoredFile } from '../contracts/file-store.ts'

export interface TurnFilesOptions {
  readonly store: Pick<FileStore, 'byIds' | 'sections' | 'lend' | 'keep'>
  /** Ids of the files that came with messages of the branch, checked when they were sent; repeats count once. */
  readonly attachedIds: readonly string[]
  /** Files of the project or agent, checked. */
  readonly held: readonly StoredFile[]
  /** Files that actions made earlier in the conversation, as far as they are the caller's; asked for once, if at all. */
  readonly generatedBefore: () => Promise<readonly StoredFile[]>
  readonly caller: Principal
}

/** The files that the actions of a turn may read, and where they keep new ones. */
export function createTurnFiles(options: TurnFilesOptions): TurnFiles {
  const { store, attachedIds, held, generatedBefore, caller } = options
  const generated: StoredFile[] = []
  let inputs: Promise<(readonly StoredFile[])[]> | undefined
  const list = async (): Promise<readonly StoredFile[]> => {
    inputs ??= Promise.all([store.byIds([...new Set(attachedIds)]), generatedBefore()])
    const [attached = [], earlier = []] = await inputs
    const all = [...attached, ...held, ...earlier, ...generated]
    return [...new Map(all.map((file) => [file.id, file])).values()]
  }
  const listed = async (id: string): Promise<StoredFile> => {
    const file = (await list()).find((candidate) => candidate.id === id || candidate.fileId === id)
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
      generated.push(kept)
      return kept
    },
  }
}
