import { expect, onTestFinished, test, vi } from 'vitest'
import { useDocuments } from '../../../packages/page/src/documents/use-documents.ts'
import type { Counts } from '../../../packages/page/src/service/counts.ts'
import { runHook } from '../hook.ts'

const wait = { timeout: 10_000 }

test('a key that may not ask for counts keeps those of the whole list while it is narrowed', async () => {
  const removeEventListener = vi.fn()
  vi.stubGlobal('document', { hidden: false, addEventListener() {}, removeEventListener })
  const reported: (Counts | undefined)[] = []
  const service = {
    counts: () => Promise.resolve(null),
    documents: () => Promise.resolve({ documents: [{ document_id: 'a', state: 'indexed' }], next: null }),
  } as never
  const { latest, stop } = runHook(() => useDocuments(service, undefined, (counts) => reported.push(counts)))
  onTestFinished(async () => {
    stop()
    await vi.waitUntil(() => removeEventListener.mock.calls.length > 0, wait)
    vi.unstubAllGlobals()
  })
  await expect.poll(() => reported, wait).toEqual([{ indexed: 1, indexing: 0, pending: 0, failed: 0 }])
  latest().narrow({ state: 'indexed' })
  await expect.poll(() => latest().rowFilter.state, wait).toBe('indexed')
  expect(reported).toHaveLength(1)
})
