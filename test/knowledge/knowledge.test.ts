import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Embedder } from '@inlay/knowledge'
import type { KyselyPlugin } from 'kysely'
import { InlayError, isInlayError } from '@inlay/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { newGate } from '../gate.ts'
import { fakeEmbedder } from './fake-embedder.ts'
import { memoryIndex } from './memory-index.ts'
import { makeKnowledge, makeRecords, request, section, startKnowledge } from './setup.ts'

test('an accepted document becomes searchable, its next version replaces it, and removal hides it at once', async () => {
  const { knowledge, errors, index } = await startKnowledge()
  const accepted = await knowledge.accept(request({ text: 'The heron waits.' }))
  expect(accepted).toEqual({ documentId: 'document', alreadyExisted: false, isUnchanged: false })
  await knowledge.whenIdle()
  expect(await knowledge.search({ text: 'heron', limit: 5 })).toMatchObject([{ content: 'The heron waits.' }])
  await knowledge.accept(request({ text: 'The stork waits.' }), { waitMs: 60_000 })
  expect(await knowledge.search({ text: 'heron', limit: 5 })).toEqual([])
  expect(await knowledge.search({ text: 'stork', limit: 5 })).toHaveLength(1)
  await knowledge.remove('document')
  expect(await knowledge.search({ text: 'stork', limit: 5 })).toEqual([])
  await vi.waitFor(() => expect(index.store.rows).toEqual([]), { timeout: 60_000 })
  expect(errors).toEqual([])
})

test('a document that is stored is acknowledged as new, whatever fails after its commit', async () => {
  let releases = 0
  const failing: KyselyPlugin = {
    transformQuery: ({ node }) => {
      const text = JSON.stringify(node)
      const isRelease = node.kind === 'UpdateQueryNode' && text.includes('inlay_large_contents')
      if (isRelease && ++releases === 2) throw new Error('released twice')
      if (/SelectQueryNode.*"state".*"revision".*"visible_revision"/.test(text)) throw new Error('read')
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const { knowledge, errors } = await makeKnowledge({ db: (await makeRecords()).withPlugin(failing) })
  const text = 'The heron waits. '.repeat(70_000)
  const accepted = await knowledge.accept(request({ text }), { waitMs: 60_000 })
  expect(accepted).toEqual({ documentId: 'document', alreadyExisted: false, isUnchanged: false })
  expect(errors.map(String)).toEqual(['Error: released twice', 'Error: read'])
})

test('what was accepted before a start is indexed after it', async () => {
  const db = await makeRecords()
  const { knowledge } = await makeKnowledge({ db })
  await knowledge.accept(request())
  const later = await startKnowledge({ db })
  await later.knowledge.whenIdle()
  expect(await later.knowledge.status('document')).toMatchObject({ phase: 'indexed' })
})

test('a document that did not change is told as such', async () => {
  const { knowledge } = await makeKnowledge()
  const reply = async (text: string): Promise<boolean> => (await knowledge.accept(request({ text }))).isUnchanged
  expect([await reply('one'), await reply('one'), await reply('two'), await reply('one')]).toEqual([
    false,
    true,
    false,
    false,
  ])
})

test('documents without any text are indexed with no chunks, and found by their title', async () => {
  const { knowledge } = await startKnowledge()
  await knowledge.accept(request({ id: 'titled', semantic_identifier: 'Quarterly herons', text: ' \n ' }))
  await knowledge.accept(request({ id: 'untitled', semantic_identifier: 'Shown only', title: '', text: '' }))
  await knowledge.accept(request({ id: 'empty', sections: [] }))
  await knowledge.whenIdle()
  for (const id of ['titled', 'untitled', 'empty'])
    expect(await knowledge.status(id)).toMatchObject({ phase: 'indexed', chunkCount: 0 })
  expect(await knowledge.search({ text: 'quarterly', limit: 5 })).toMatchObject([
    { document: { document_id: 'titled', blurb: 'Quarterly herons' } },
  ])
  expect(await knowledge.search({ text: 'shown', limit: 5 })).toEqual([])
})

test('a document of a hundred thousand sections is one document', async () => {
  const { knowledge } = await startKnowledge()
  const sections = Array.from({ length: 100_000 }, (_, at) => section(`section ${at}`))
  await knowledge.accept(request({ sections }), { waitMs: 60_000 })
  expect(await knowledge.status('document')).toMatchObject({ phase: 'indexed', chunkCount: 100_000 })
})

describe('waiting for a document', () => {
  test('ends when it is searchable', async () => {
    const { knowledge } = await startKnowledge()
    await knowledge.accept(request(), { waitMs: 60_000 })
    expect(await knowledge.search({ text: 'some', limit: 1 })).toHaveLength(1)
  })

  test('ends when it has failed', async () => {
    const { knowledge } = await startKnowledge({
      embedder: fakeEmbedder({ answer: () => Promise.reject(new Error('no')) }),
      worker: { maxAttempts: 1 },
    })
    await knowledge.accept(request(), { waitMs: 60_000 })
    expect(await knowledge.status('document')).toMatchObject({ phase: 'failed' })
  })

  test('ends when another process has indexed it', async () => {
    const db = await makeRecords()
    const { knowledge } = await makeKnowledge({ db })
    await startKnowledge({ db })
    await knowledge.accept(request(), { waitMs: 60_000 })
    expect(await knowledge.status('document')).toMatchObject({ phase: 'indexed' })
  })

  test('ends when the time is up, when it is removed, and when the caller leaves', async () => {
    const { knowledge } = await makeKnowledge()
    expect(await knowledge.accept(request(), { waitMs: 5 })).toMatchObject({ alreadyExisted: false })
    const waiting = knowledge.accept(request({ id: 'other' }), { waitMs: 60_000 })
    await vi.waitFor(() => knowledge.remove('other'), { timeout: 60_000 })
    await waiting
    const leaving = new AbortController()
    const left = knowledge.accept(request(), { waitMs: 60_000, signal: leaving.signal })
    leaving.abort()
    await left
  })

  test('is short for an identical document that is searchable already', async () => {
    const { knowledge } = await startKnowledge()
    await knowledge.accept(request(), { waitMs: 60_000 })
    await knowledge.accept(request(), { waitMs: 1e9 })
  })
})

describe('a full queue', () => {
  test('refuses documents and says when to come back, then takes them again', async () => {
    const { knowledge } = await makeKnowledge({ maxQueued: 3 })
    for (const id of ['a', 'b', 'c']) await knowledge.accept(request({ id }))
    const refused = await knowledge.accept(request({ id: 'd' })).catch((error: unknown) => error)
    expect(isInlayError(refused) && refused).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
    expect(isInlayError(refused) && refused.data.retryAfterSeconds).toBeGreaterThan(0)
    await knowledge.start()
    await vi.waitFor(() => knowledge.accept(request({ id: 'd' })), { timeout: 60_000, interval: 50 })
  })
})

describe('figures, listing and requeueing', () => {
  test('figures tell what stands where, and how long the oldest has waited', async () => {
    const clock = { now: 1000 }
    const { knowledge } = await makeKnowledge({ now: () => clock.now })
    expect(await knowledge.hasDocuments()).toBe(false)
    await knowledge.accept(request({ id: 'a' }))
    clock.now = 5000
    await knowledge.accept(request({ id: 'b' }))
    expect(await knowledge.figures()).toMatchObject({
      documents: { pending: 2, indexing: 0, indexed: 0, failed: 0 },
      oldestWaitingMs: 4000,
    })
    expect(await knowledge.hasDocuments()).toBe(true)
  })

  test('pages of a listing hold each document once', async () => {
    const { knowledge } = await makeKnowledge()
    const ids = Array.from({ length: 25 }, (_, at) => `document ${String(at).padStart(2, '0')}`)
    await Promise.all(ids.map((id) => knowledge.accept(request({ id, source: id.endsWith('3') ? 'web' : 'file' }))))
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await knowledge.list({ limit: 10, after })
      seen.push(...page.documents.map(({ documentId }) => documentId))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(ids)
    const web = await knowledge.list({ source: 'web' })
    expect(web).toMatchObject({ documents: [{ documentId: 'document 03' }, {}, {}], next: null })
    expect((await knowledge.list({ phase: 'failed' })).documents).toEqual([])
    expect((await knowledge.list({ pairId: 2 })).documents).toEqual([])
    expect((await knowledge.list({ documentId: ids[7] })).documents).toMatchObject([{ documentId: ids[7] }])
    expect((await knowledge.list({ documentId: 'document' })).documents).toEqual([])
    expect((await knowledge.list({ pairId: 1, phase: 'pending', limit: 1 })).next).toBe(ids[0])
  })

  test('failed documents are tried again when told to, one or all', async () => {
    let isBroken = true
    const { knowledge } = await startKnowledge({
      embedder: fakeEmbedder({ answer: () => (isBroken ? Promise.reject(new Error('no')) : undefined) }),
      worker: { maxAttempts: 1 },
    })
    for (const id of ['a', 'b', 'c']) await knowledge.accept(request({ id }))
    await knowledge.whenIdle()
    isBroken = false
    expect(await knowledge.requeue({ documentId: 'nobody' })).toBe(0)
    expect(await knowledge.requeue({ documentId: 'a' })).toBe(1)
    expect(await knowledge.requeue()).toBe(2)
    await knowledge.whenIdle()
    expect((await knowledge.figures()).documents).toMatchObject({ failed: 0, indexed: 3 })
  })
})

describe('closing', () => {
  test('refuses what comes after, and can be done twice', async () => {
    const { knowledge } = await startKnowledge()
    await Promise.all([knowledge.close(), knowledge.close()])
    await expect(knowledge.accept(request())).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(knowledge.remove('x')).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(knowledge.search({ text: 'x', limit: 1 })).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(knowledge.start()).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('does not report work that it aborted', async () => {
    const gate = newGate()
    const afterDocument = async (): Promise<never> => {
      await gate.pass()
      throw new InlayError('CLOSED', { retryable: true })
    }
    const { knowledge, errors } = await startKnowledge({ hooks: { afterDocument } })
    await knowledge.accept(request())
    await gate.reached
    const closed = knowledge.close()
    gate.open()
    await closed
    expect(errors).toEqual([])
  })

  test('waits for a search that is under way, which finds what it would have found', async () => {
    const gate = newGate()
    const embedder = fakeEmbedder()
    const embed: Embedder['embed'] = async (...given) => {
      await gate.pass()
      return embedder.embed(...given)
    }
    const { knowledge, errors } = await makeKnowledge({ embedder: { ...embedder, embed } })
    const search = knowledge.search({ text: 'x', limit: 1 })
    await gate.reached
    const closed = knowledge.close()
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    gate.open()
    expect(await search).toEqual([])
    await closed
    expect(errors).toEqual([])
  })

  test('does not silence a lost lease, which is reported while the process runs', async () => {
    const afterDocument = (): Promise<never> => Promise.reject(new InlayError('CLOSED', { retryable: true }))
    const { knowledge, errors } = await startKnowledge({ hooks: { afterDocument } })
    await knowledge.accept(request())
    await vi.waitFor(() => expect(errors).not.toEqual([]), { timeout: 30_000 })
    await knowledge.close()
  })

  test('loses nothing that was accepted before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inlay-close-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
    const index = memoryIndex()
    const file = join(folder, 'records.db')
    const first = await startKnowledge({ db: await makeRecords(file), index: memoryIndex(index.store) })
    const accepts = Array.from({ length: 50 }, (_, at) => first.knowledge.accept(request({ id: `${at}` })))
    const answers = Promise.allSettled(accepts)
    await accepts[0]
    await first.knowledge.close()
    const accepted = (await answers).filter(({ status }) => status === 'fulfilled').length
    const second = await startKnowledge({ db: await makeRecords(file), index: memoryIndex(index.store) })
    await second.knowledge.whenIdle()
    expect((await second.knowledge.figures()).documents).toMatchObject({ indexed: accepted, pending: 0 })
  })
})

test('an idle knowledge that has nothing to do never opens its index', async () => {
  const index = memoryIndex()
  const open = vi.spyOn(index, 'open')
  const { knowledge } = await startKnowledge({ index })
  await knowledge.whenIdle()
  await knowledge.close()
  expect(open).not.toHaveBeenCalled()
})
