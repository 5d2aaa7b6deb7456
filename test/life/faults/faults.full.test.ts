import { describe, expect, test } from 'vitest'
import type { Mishap } from '../../stand-in/embeddings.ts'
import { openHarness, testFolder } from '../harness.ts'
import { breakIndex, breakRecords, type sqliteErrors } from './broken.ts'
import { expectFound, failed, markerOf, named, openWithEmbedder, postAll } from './fixture.ts'

describe('records that fail', () => {
  const says: Record<keyof typeof sqliteErrors, RegExp> = { io: /check the disk/, full: /full/, busy: /locked/ }

  test.each(['io', 'full', 'busy'] as const)(
    'at accepting (%s) refuse with the reason, and then accept',
    async (kind) => {
      const harness = openHarness({ dataFolder: testFolder() })
      await expectFound(harness, await postAll(harness, named('before', 3)))
      const broken = breakRecords(kind, /^insert into "inlay_contents"/)
      broken.break()
      const refusal = await harness.post('refused', 'never seen')
      expect(refusal).toMatchObject({ status: 503, body: { error_code: 'SERVICE_UNAVAILABLE' } })
      expect(refusal.body.detail).toMatch(says[kind])
      expect(await postAll(harness, named('during', 4))).toEqual([])
      // A refused document leaves nothing behind, and existing ones are kept.
      expect(await harness.stateOf('refused')).toBeUndefined()
      expect(await harness.find(markerOf('beforea'))).toEqual(['beforea'])
      broken.mend()
      expect(await postAll(harness, [...named('during', 4), 'refused'])).toHaveLength(5)
      await expectFound(harness, [...named('during', 4), 'refused'])
    },
  )

  test.each([
    ['taking documents from the queue', /^insert into "inlay_claims"/],
    ['marking them as taken', /^update "inlay_documents" set "state" = .*"claim" = /],
    ['reading them', /inner join "inlay_contents"/],
    ['settling', /update inlay_documents set\s+visible_generation/],
    ['ending a claim', /^delete from "inlay_claims"/],
    ['noting what is to be removed', /^insert into "inlay_dead_generations"/],
    ['forgetting what was removed', /^delete from "inlay_dead_generations"/],
    ['renewing what this process does', /^insert into "inlay_job_leases"/],
  ])('at %s hold documents up and lose none', async (_, which) => {
    const harness = openHarness({ dataFolder: testFolder() })
    await expectFound(harness, await postAll(harness, ['before']))
    const broken = breakRecords('io', which)
    broken.break()
    const accepted = await postAll(harness, ['before', ...named('during', 3)])
    expect(accepted).toHaveLength(4)
    // A second version, so that there is something to be removed.
    expect((await harness.post('before', `a newer text with ${markerOf('before')} in it`)).status).toBe(200)
    await failed(broken, 1)
    broken.mend()
    await expectFound(harness, accepted)
    expect(JSON.stringify(harness.errors.map(String))).toMatch(/check the disk/)
    await expect.poll(async () => (await harness.figures()).index.rows, { timeout: 60_000 }).toBe(4)
  })
})

describe('an index that fails', () => {
  const io = 'lance error: LanceError(IO): Input/output error (os error 5), /secret/path/chunks.lance, src/io.rs:12'

  test.each(['before', 'after'] as const)(
    'at appending (%s it is done) holds documents up and shows each once',
    async (when) => {
      const harness = openHarness({ dataFolder: testFolder() })
      await expectFound(harness, await postAll(harness, ['first']))
      const broken = breakIndex('add', io, when)
      broken.break()
      const accepted = await postAll(harness, ['first', ...named('during', 4)])
      expect(accepted).toHaveLength(5)
      await failed(broken, 3)
      await expect.poll(async () => (await harness.stateOf('duringa'))?.reason, { timeout: 60_000 }).toMatch(/index/i)
      expect((await harness.stateOf('duringa'))!.reason).not.toMatch(/secret|lance/)
      expect(await harness.find(markerOf('first'))).toEqual(['first'])
      broken.mend()
      await expectFound(harness, accepted)
      await expect.poll(async () => (await harness.figures()).index.rows, { timeout: 60_000 }).toBe(5)
    },
  )

  test.each([
    ['removing rows', 'delete'],
    ['compaction', 'optimize'],
  ])('at %s goes on with everything else, and makes up for it', async (_, method) => {
    const harness = openHarness({ dataFolder: testFolder() })
    await expectFound(harness, await postAll(harness, named('first', 3)))
    const broken = breakIndex(method, io)
    broken.break()
    expect(await harness.remove('firsta')).toBe(200)
    expect(await harness.find(markerOf('firsta'))).toEqual([])
    await failed(broken, 1)
    await expectFound(harness, await postAll(harness, named('second', 2)))
    expect(await harness.find(markerOf('firsta'))).toEqual([])
    // Reported once a retry has failed; an engine that recovers earlier is not reported.
    await expect.poll(() => harness.errors, { timeout: 60_000 }).not.toEqual([])
    broken.mend()
    await expect.poll(async () => (await harness.figures()).index.rows, { timeout: 60_000 }).toBe(4)
  })

  test('a folder that does not let itself be written to is no fault of a document', async () => {
    const harness = openHarness({ dataFolder: testFolder() })
    await expectFound(harness, await postAll(harness, ['first']))
    const broken = breakIndex('add', 'lance error: IO error: Permission denied (os error 13)')
    broken.break()
    await postAll(harness, ['second'])
    await failed(broken, 8)
    // Between its tries it waits; at one it is `indexing`.
    await expect
      .poll(() => harness.stateOf('second'), { timeout: 60_000 })
      .toMatchObject({ state: 'pending', reason: expect.stringMatching(/writable/) })
    broken.mend()
    await expectFound(harness, ['second'])
  })
})

describe('an embedding service', () => {
  const outages: [string, Mishap, RegExp][] = [
    ['answers 500', { status: 500, body: '{"error":{"message":"secret"}}' }, /embedding/],
    ['answers 429', { status: 429, headers: { 'retry-after': '0' }, body: '{}' }, /embedding/],
    ['hangs', { hangs: true }, /time/],
    ['cuts the connection', { cut: 'at once' }, /embedding/],
    ['cuts its answer', { cut: 'midway' }, /embedding/],
    ['sends a web page', { body: '<html>login</html>' }, /embedding/],
    ['sends too few vectors', { change: (reply) => ({ ...reply, data: reply.data.slice(1) }) }, /vectors/],
  ]

  test.each(outages)('that %s lets documents wait, says why, and is asked again', async (_, mishap, reason) => {
    const { harness, service } = await openWithEmbedder(mishap.hangs ? { timeoutMs: 200 } : {})
    service.mishaps.push(...Array.from({ length: 1000 }, () => mishap))
    const accepted = await postAll(harness, ['first', ...named('during', 3)])
    expect(accepted).toHaveLength(4)
    await expect.poll(async () => (await harness.stateOf('duringa'))?.reason, { timeout: 60_000 }).toMatch(reason)
    expect(await harness.stateOf('duringa')).toMatchObject({ state: expect.stringMatching(/pending|indexing/) })
    expect((await harness.stateOf('duringa'))!.reason).not.toMatch(/secret|login|127\.0/)
    // Words are found without it.
    expect(await harness.find(markerOf('first'))).toEqual(['first'])
    service.mishaps.length = 0
    await expectFound(harness, accepted)
  })
})
