import { Kysely } from 'kysely'
import { createStorage } from 'unstorage'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { IncomingFile } from '@inlay/agent'
import type { FileIndex, IndexedFile } from '@inlay/conversations'
import { createFiles, type FilesOptions, type SqlFiles } from '@inlay/conversations/internal/files/manage-files'
import { migrateConversations } from '@inlay/conversations/internal/migrations'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'

export { ana, ben, codeOf, eventually } from '../../agent/setting.ts'

/** Files over a database and a storage in memory, with what a test may want to look at. */
export interface FileSetting {
  readonly files: SqlFiles
  readonly db: Kysely<ConversationTables>
  readonly storage: ReturnType<typeof createStorage>
  readonly index: MemoryIndex
  readonly errors: unknown[]
  readonly clock: { time: number }
  /** The files again, as another process would make them. */
  again(options?: Partial<FilesOptions>): SqlFiles
}

/** An index that remembers what it was given. */
export interface MemoryIndex extends FileIndex {
  readonly held: Map<string, IndexedFile>
}

export function memoryIndex(): MemoryIndex {
  const held = new Map<string, IndexedFile>()
  return {
    held,
    put: async (file) => void held.set(file.id, file),
    remove: async (id) => void held.delete(id),
    search: async () => [],
  }
}

export async function newFiles(options: Partial<FilesOptions> = {}): Promise<FileSetting> {
  const db = new Kysely<ConversationTables>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateConversations(db as unknown as Kysely<unknown>)
  const storage = createStorage()
  const index = memoryIndex()
  const errors: unknown[] = []
  const clock = { time: Date.UTC(2026, 0, 12, 9, 30) }
  const again = (more: Partial<FilesOptions> = {}): SqlFiles =>
    createFiles({
      db,
      storage,
      index,
      now: () => clock.time,
      newId: () => crypto.randomUUID(),
      onError: (error) => void errors.push(error),
      maxBytes: 100_000_000,
      maxTokens: 200_000,
      waitMs: 60_000,
      checkProject: async () => {},
      personasWith: async () => [],
      ...options,
      ...more,
    })
  return { files: again(), db, storage, index, errors, clock, again }
}

/** Files as they arrive, in chunks of the given size. */
export async function* arriving(...files: readonly IncomingFile[]): AsyncGenerator<IncomingFile> {
  yield* files
}

export function incoming(
  name: string,
  content: string | Uint8Array,
  { mediaType = '', chunkBytes = 65_536 }: { mediaType?: string; chunkBytes?: number } = {},
): IncomingFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return { name, mediaType, bytes: chunksOf(bytes, chunkBytes) }
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size)
}

/** The smallest PNG there is. */
export const png: Uint8Array = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
}
