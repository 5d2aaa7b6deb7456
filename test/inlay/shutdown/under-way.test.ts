import { createInlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { memoryIndex } from '../../knowledge/memory-index.ts'
import { temporaryFolder } from '../../life/process.ts'

test('closing waits for an upload that waits for the storage, keeps its file, and reports nothing', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const [stores, released, closes] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const errors: unknown[] = []
  const blobs = new Map<string, Uint8Array>()
  const index = memoryIndex()
  const inlay = createInlay({
    dataFolder: folder.path,
    apiKey: 'the-key-of-the-test',
    onError: (error) => void errors.push(error),
    // Closed just before the database.
    index: { ...index, close: () => index.close().then(closes!.resolve) },
    files: {
      setItemRaw: async (key, value) => {
        stores!.resolve()
        await released!.promise
        blobs.set(key, value)
      },
      getItemRaw: async (key) => blobs.get(key) ?? null,
      removeItem: async (key) => void blobs.delete(key),
    },
  })
  const body = new FormData()
  body.append('files', new Blob(['Herons stand on one leg.']), 'note.txt')
  const headers = { authorization: 'Bearer the-key-of-the-test' }
  const uploading = inlay.fetch(
    new Request('http://host.example/api/user/projects/file/upload', { method: 'POST', headers, body }),
  )
  await stores!.promise
  const closed = inlay.close()
  await closes!.promise
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  released!.resolve()
  await closed
  expect({ status: (await uploading).status, files: blobs.size, errors }).toEqual({ status: 200, files: 1, errors: [] })
})
