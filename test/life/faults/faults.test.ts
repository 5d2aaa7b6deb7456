import { describe, expect, test } from 'vitest'
import type { Mishap } from '../../stand-in/embeddings.ts'
import { openHarness, testFolder } from '../harness.ts'
import { breakIndex, breakRecords } from './broken.ts'
import { expectFound, failed, markerOf, openWithEmbedder, postAll } from './fixture.ts'

describe('records that fail', () => {
  test('at the commit leave no half of a document, nor a transaction that hangs', async () => {
    const harness = openHarness({ dataFolder: testFolder() })
    await expectFound(harness, await postAll(harness, ['first']))
    const broken = breakRecords('io', /^commit/)
    broken.break()
    expect((await harness.post('first', 'another version')).status).toBe(503)
    expect(await harness.remove('first')).toBe(503)
    await failed(broken, 2)
    broken.mend()
    await expectFound(harness, ['first', ...(await postAll(harness, ['second']))])
  })
})

describe('an index that fails', () => {
  const io = 'lance error: LanceError(IO): Input/output error (os error 5), /secret/path/chunks.lance, src/io.rs:12'

  test('at searching says so, and answers again when it is over', async () => {
    const harness = openHarness({ dataFolder: testFolder() })
    await expectFound(harness, await postAll(harness, ['first']))
    const broken = breakIndex('query', io)
    broken.break()
    await expect(harness.find(markerOf('first'))).rejects.toThrow(/answered 5\d\d: .*"error_code"/)
    await expect(harness.find(markerOf('first'))).rejects.not.toThrow(/secret/)
    broken.mend()
    expect(await harness.find(markerOf('first'))).toEqual(['first'])
  })
})

describe('an embedding service', () => {
  const shortened: Mishap = {
    change: (reply) => ({ ...reply, data: reply.data.map((item) => ({ ...item, embedding: [1, 2, 3] })) }),
  }

  test('whose vectors have another length fails a document visibly; put back into the queue, it is indexed', async () => {
    const { harness, service } = await openWithEmbedder()
    service.mishaps.push(...Array.from({ length: 1000 }, () => shortened))
    expect(await postAll(harness, ['odd'])).toEqual(['odd'])
    expect(await harness.until('odd', 'failed')).toMatchObject({
      reason: expect.stringMatching(/dimensions/),
      attempts: 5,
    })
    service.mishaps.length = 0
    expect(await harness.find(markerOf('first'))).toEqual(['first'])
    expect(await harness.requeue()).toBe(1)
    await expectFound(harness, ['odd'])
  })
})
