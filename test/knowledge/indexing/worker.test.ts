import { InlayError } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import { describe, expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { memoryIndex } from '../memory-index.ts'
import { makeWorker, request, section } from '../setup.ts'

const named = (...ids: string[]): ReturnType<typeof request>[] =>
  ids.map((id) => request({ id, text: `text of ${id}` }))

describe('a worker', () => {
  test('indexes many documents in one commit, oldest first', async () => {
    const { worker, index, accept, status, shown } = await makeWorker()
    await accept(...named('a', 'b', 'c'))
    expect(await worker.runOnce()).toBe(3)
    expect(index.store.commits).toBe(1)
    expect(await shown()).toEqual(['text of a', 'text of b', 'text of c'])
    expect(await status('b')).toMatchObject({ phase: 'indexed', attempts: 1, reason: null, nextTryAt: null })
  })

  test('takes no more than it may at once, and says that nothing was due', async () => {
    const { worker, accept } = await makeWorker({ worker: { maxClaimDocuments: 2 } })
    await accept(...named('a', 'b', 'c'))
    expect(await worker.runOnce()).toBe(2)
    expect(await worker.runOnce()).toBe(1)
    expect(await worker.runOnce()).toBe(0)
  })

  test('takes none while it is paused, and all of them afterwards', async () => {
    let isPaused = true
    const { worker, accept, status } = await makeWorker({ isPaused: async () => isPaused })
    await accept(...named('a', 'b'))
    expect(await worker.runOnce()).toBe(0)
    expect(await status('a')).toMatchObject({ phase: 'pending', attempts: 0 })
    isPaused = false
    expect(await worker.runOnce()).toBe(2)
  })

  test('does not wait for more documents when it is closed', async () => {
    const { worker, accept } = await makeWorker({ worker: { lingerMs: 600_000 } })
    await accept(request())
    worker.start()
    // It gathers documents now.
    for (let turn = 0; turn < 20; turn++) await yieldToEventLoop()
    await worker.close()
  })

  test('finishes what is in flight when it is closed', async () => {
    const gate = Promise.withResolvers<void>()
    const { worker, accept, status } = await makeWorker({
      at: (step) => (step === 'append' ? gate.promise : undefined),
      worker: { lingerMs: 0 },
    })
    await accept(request())
    worker.start()
    await expect.poll(async () => (await status('document')).phase).toBe('indexing')
    const closed = worker.close()
    gate.resolve()
    await closed
    expect((await status('document')).phase).toBe('indexed')
  })

  test('stops when another process has taken over its documents, and writes nothing more', async () => {
    const reasons: unknown[] = []
    const hangs = fakeEmbedder({
      answer: (_texts, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
        }),
    })
    const { worker, index, db, accept, status, errors } = await makeWorker({ embedder: hangs, worker: { leaseMs: 30 } })
    await accept(request())
    const run = worker.runOnce()
    await expect.poll(() => hangs.calls.length).toBe(1)
    // As the sweep of another process does, which then claims the document; the lease may be renewed in between.
    await db.updateTable('inlay_documents').set({ claim: 'of another' }).execute()
    await db.deleteFrom('inlay_claims').execute()
    await run
    expect(reasons).toEqual([expect.objectContaining({ code: 'CLOSED' })])
    expect(index.store.commits).toBe(0)
    expect(await status('document')).toMatchObject({ phase: 'indexing', attempts: 1 })
    expect(errors).toEqual([])
  })

  test('puts what it cannot finish in time back into the queue', async () => {
    const { worker, accept, status, shown } = await makeWorker({
      embedder: fakeEmbedder({ answer: () => new Promise(() => {}) }),
      worker: { lingerMs: 0, closeTimeoutMs: 0 },
    })
    await accept(request())
    worker.start()
    await expect.poll(async () => (await status('document')).phase).toBe('indexing')
    await worker.close()
    expect(await status('document')).toMatchObject({ phase: 'pending', attempts: 0, reason: null })
    expect(await shown()).toEqual([])
  })

  test('goes on after the records failed', async () => {
    let isBroken = true
    const { worker, accept, status, errors } = await makeWorker({
      at: (step) => {
        if (step === 'settle' && isBroken) throw new Error('the database is away')
      },
    })
    await accept(request())
    await worker.runOnce()
    expect(errors).toHaveLength(1)
    isBroken = false
    await worker.runOnce()
    expect(await status('document')).toMatchObject({ phase: 'indexed' })
  })
})

describe('documents of several callers', () => {
  test('are taken in turns while more wait than can be taken at once', async () => {
    const { worker, index, acceptFrom, clock } = await makeWorker({ worker: { maxClaimDocuments: 2 } })
    await acceptFrom('flooder', ...named('f1', 'f2', 'f3', 'f4', 'f5', 'f6'))
    clock.now += 100
    await worker.runOnce()
    clock.now += 100
    await acceptFrom('another', ...named('other'))
    await worker.runOnce()
    expect(index.store.rows.map(({ documentId }) => documentId)).toEqual(['f1', 'f2', 'f3', 'other'])
  })

  test('keep the order they came in where each caller sends few', async () => {
    const { worker, index, acceptFrom, clock } = await makeWorker({ worker: { maxClaimDocuments: 2 } })
    for (const id of ['a', 'b', 'c', 'd']) {
      await acceptFrom(`caller of ${id}`, ...named(id))
      clock.now += 10
    }
    while ((await worker.runOnce()) > 0);
    expect(index.store.rows.map(({ documentId }) => documentId)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('are found while large ones take all the time there is', async () => {
    const gate = Promise.withResolvers<void>()
    const stored = memoryIndex()
    const { worker, index, accept, status } = await makeWorker({
      worker: { lingerMs: 0 },
      index: {
        ...stored,
        append: async (rows) => {
          if (rows.length > 1) await gate.promise
          await stored.append(rows)
        },
      },
    })
    const large = ['first', 'second', 'third'].map((id) => request({ id, text: 'many words '.repeat(30_000) }))
    await accept(...large)
    worker.start()
    await expect.poll(async () => (await status('second')).phase).toBe('indexing')
    await accept(...named('small'))
    worker.notify()
    await expect.poll(async () => (await status('small')).phase).toBe('indexed')
    expect((await status('third')).phase).toBe('pending')
    gate.resolve()
    await expect.poll(async () => (await status('third')).phase).toBe('indexed')
    await worker.close()
    expect(index.store.rows.filter(({ documentId }) => documentId === 'small')).toHaveLength(1)
  })
})

describe('a document that cannot be indexed', () => {
  const poisonous = fakeEmbedder({
    answer: (texts) => {
      if (texts.some((text) => text.includes('poison'))) throw new Error('secret: sk-12345 in /home/user')
    },
  })

  test('holds up nobody', async () => {
    const { worker, accept, status } = await makeWorker({ embedder: poisonous })
    await accept(...named('a', 'b', 'poison', 'c'))
    await worker.runOnce()
    expect((await Promise.all(['a', 'b', 'c', 'poison'].map(status))).map(({ phase }) => phase)).toEqual([
      'indexed',
      'indexed',
      'indexed',
      'pending',
    ])
  })

  test('is tried again later and later, then given up, with a reason that tells no secrets', async () => {
    const { worker, accept, status, clock, errors } = await makeWorker({ embedder: poisonous })
    await accept(...named('poison'))
    const delays = []
    for (let tries = 1; tries < 5; tries++) {
      expect(await worker.runOnce()).toBe(1)
      const { phase, attempts, nextTryAt, reason } = await status('poison')
      expect({ phase, attempts }).toEqual({ phase: 'pending', attempts: tries })
      expect(reason).toMatch(/embedding model/i)
      delays.push(nextTryAt! - clock.now)
      expect(await worker.runOnce()).toBe(0)
      clock.now = nextTryAt!
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000])
    await worker.runOnce()
    const given = await status('poison')
    expect(given).toMatchObject({ phase: 'failed', attempts: 5, nextTryAt: null })
    expect(given.reason).not.toMatch(/sk-12345|\/home/)
    // The operator gets to see all of it.
    expect(errors[0]).toMatchObject({ cause: { message: 'secret: sk-12345 in /home/user' } })
    clock.now += 1e9
    expect(await worker.runOnce()).toBe(0)
  })

  test('is tried anew when it is posted anew, identical or not', async () => {
    const { worker, accept, status, clock } = await makeWorker({ embedder: poisonous, worker: { maxAttempts: 1 } })
    await accept(...named('poison'))
    await worker.runOnce()
    expect((await status('poison')).phase).toBe('failed')
    await accept(...named('poison'))
    expect(await status('poison')).toMatchObject({ phase: 'pending', attempts: 0, reason: null })
    await worker.runOnce()
    await accept(request({ id: 'poison', text: 'cured' }))
    await worker.runOnce()
    expect((await status('poison')).phase).toBe('indexed')
    expect(clock.now).toBe(1_000_000)
  })

  test('leaves its earlier version searchable', async () => {
    const { worker, accept, shown } = await makeWorker({ embedder: poisonous, worker: { maxAttempts: 1 } })
    await accept(request({ text: 'good' }))
    await worker.runOnce()
    await accept(request({ text: 'poison' }))
    await worker.runOnce()
    expect(await shown()).toEqual(['good'])
  })

  test('is told apart from its neighbours when the index refuses it', async () => {
    const index = memoryIndex()
    const { append } = index
    const { worker, accept, status, shown } = await makeWorker({
      index: {
        ...index,
        append: async (rows) => {
          if (rows.some((row) => row.documentId === 'bad')) throw new Error('cannot take it')
          await append(rows)
        },
      },
    })
    await accept(...named('a', 'bad', 'b', 'c'))
    await worker.runOnce()
    expect((await shown()).toSorted()).toEqual(['text of a', 'text of b', 'text of c'])
    expect(await status('bad')).toMatchObject({ phase: 'pending', reason: expect.stringMatching(/index/i) })
  })
})

describe('when something that all documents need is down', () => {
  const outage = (): never => {
    throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The embedding model cannot be reached.' })
  }

  test('documents wait, say why, and go on by themselves afterwards', async () => {
    let isDown = true
    const embedder = fakeEmbedder({ answer: () => (isDown ? outage() : undefined) })
    const { worker, accept, status, clock, errors } = await makeWorker({ embedder })
    await accept(...named('a', 'b', 'c'))
    for (let tries = 1; tries <= 12; tries++) {
      expect(await worker.runOnce()).toBe(3)
      expect(await status('a')).toMatchObject({
        phase: 'pending',
        attempts: tries,
        reason: 'The embedding model cannot be reached.',
      })
      clock.now = (await status('a')).nextTryAt!
    }
    // No bisecting of documents that are not to blame, and one report each time.
    expect(embedder.calls).toHaveLength(12)
    expect(errors).toHaveLength(12)
    isDown = false
    await worker.runOnce()
    expect(await status('a')).toMatchObject({ phase: 'indexed', reason: null })
  })

  test('waiting grows to five minutes, and ends after the set number of tries', async () => {
    const { worker, accept, status, clock } = await makeWorker({
      embedder: fakeEmbedder({ answer: outage }),
      worker: { maxOutageAttempts: 12 },
    })
    await accept(request())
    let longestWait = 0
    for (let tries = 1; tries < 12; tries++) {
      await worker.runOnce()
      const { nextTryAt } = await status('document')
      longestWait = Math.max(longestWait, nextTryAt! - clock.now)
      clock.now = nextTryAt!
    }
    expect(longestWait).toBe(300_000)
    await worker.runOnce()
    expect(await status('document')).toMatchObject({ phase: 'failed', attempts: 12 })
  })

  test('a call that hangs counts as an outage', async () => {
    const embedder = fakeEmbedder({ answer: () => new Promise(() => {}) })
    const { worker, accept, status } = await makeWorker({ embedder, worker: { embedTimeoutMs: 5 } })
    await accept(...named('a', 'b'))
    await worker.runOnce()
    expect(await status('a')).toMatchObject({ phase: 'pending', reason: expect.stringMatching(/in time/) })
    // Once more with half as many texts.
    expect(embedder.calls.map((texts) => texts.length)).toEqual([2, 1])
  })

  test('an index that takes no document at all is to blame, not the documents', async () => {
    const full = { ...memoryIndex(), append: () => Promise.reject(new Error('no space left on device')) }
    const { worker, accept, status, clock } = await makeWorker({ index: full, worker: { maxAttempts: 2 } })
    await accept(...named('a', 'b'))
    for (let tries = 1; tries <= 5; tries++) {
      await worker.runOnce()
      expect(await status('a')).toMatchObject({ phase: 'pending', attempts: tries })
      clock.now += 1e6
    }
  })
})

describe('an embedder that answers', () => {
  test.each([
    ['too few vectors', (texts: readonly string[]) => texts.slice(1).map(() => new Float32Array(8))],
    ['vectors that are too short', (texts: readonly string[]) => texts.map(() => new Float32Array(7))],
    ['vectors that are too long', (texts: readonly string[]) => texts.map(() => new Float32Array(9))],
    ['no numbers', (texts: readonly string[]) => texts.map(() => new Float32Array(8).fill(NaN))],
    ['infinity', (texts: readonly string[]) => texts.map(() => new Float32Array(8).fill(Infinity))],
  ])('%s is not believed', async (_, answer) => {
    const { worker, accept, status, index } = await makeWorker({
      embedder: fakeEmbedder({ answer }),
      worker: { maxAttempts: 1 },
    })
    await accept(request())
    await worker.runOnce()
    expect(await status('document')).toMatchObject({ phase: 'failed', reason: expect.stringMatching(/dimensions/) })
    expect(index.store.rows).toEqual([])
  })
})

describe('embedding', () => {
  const parts = (...texts: string[]): ReturnType<typeof request> =>
    request({ sections: texts.map((text) => section(text)) })

  test('is spared for chunks that did not change', async () => {
    const embedder = fakeEmbedder()
    const { worker, accept, index, db } = await makeWorker({ embedder })
    await accept(parts('one', 'two', 'three'))
    await worker.runOnce()
    await accept(parts('one', 'changed', 'three', 'four'))
    await worker.runOnce()
    expect(embedder.calls.map((texts) => texts.map((text) => text.split('\n').at(-1)))).toEqual([
      ['one', 'two', 'three'],
      ['changed', 'four'],
    ])
    const { visible_generation: shown } = await db.selectFrom('inlay_documents').selectAll().executeTakeFirstOrThrow()
    const rows = index.store.rows.filter((row) => row.generation === shown)
    expect(rows.map((row) => row.vector?.length)).toEqual([8, 8, 8, 8])
  })

  test('is spared altogether when only the pairs of a document change', async () => {
    const embedder = fakeEmbedder()
    const { worker, accept, db } = await makeWorker({ embedder })
    await db
      .insertInto('inlay_pairs')
      .values({ id: 2, name: '', is_public: 1, is_paused: 0, is_removed: 0, created_at: 0 })
      .execute()
    await accept(request())
    await worker.runOnce()
    await accept(request({}, 2))
    expect(await worker.runOnce()).toBe(1)
    expect(embedder.calls).toHaveLength(1)
  })

  test('asks once for equal texts, and never for more than the embedder takes', async () => {
    const embedder = fakeEmbedder({ batch: 2 })
    const { worker, accept } = await makeWorker({ embedder })
    await accept(parts('same', 'same', 'same', 'b', 'c', 'd', 'e'))
    await worker.runOnce()
    expect(embedder.calls.map((texts) => texts.length)).toEqual([2, 2, 1])
  })

  test('reads title, headings and metadata besides the text', async () => {
    const embedder = fakeEmbedder()
    const { worker, accept } = await makeWorker({ embedder })
    await accept(request({ title: 'A title', metadata: { team: ['red', 'blue'] }, text: '# Above\n\nBelow' }))
    await worker.runOnce()
    expect(embedder.calls).toEqual([['A title\n\n# Above\n\nBelow\n\nteam: red, blue']])
  })
})

describe('a commit whose outcome is not known', () => {
  test('is not shown twice when it had happened after all', async () => {
    const index = memoryIndex()
    let isFirst = true
    const { worker, accept, shown, clock } = await makeWorker({
      index: {
        ...index,
        append: async (rows) => {
          await index.append(rows)
          if (isFirst) {
            isFirst = false
            throw new Error('the answer was lost')
          }
        },
      },
    })
    await accept(...named('a', 'b'))
    await worker.runOnce()
    clock.now += 1e6
    await worker.runOnce()
    expect((await shown()).toSorted()).toEqual(['text of a', 'text of b'])
  })
})
