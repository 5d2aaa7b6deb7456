import { expect, test } from 'vitest'
import { cpuMs } from '../../cpu-time.ts'
import { request, section, startKnowledge } from '../setup.ts'

const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, `value ${at}`]))

test('large metadata is shown whole and kept once, not with each row', async () => {
  const { knowledge, index } = await startKnowledge()
  const metadata = entries(300)
  const sections = Array.from({ length: 40 }, (_, at) => section(`heron number ${at}`, `https://zoo/${at}`))
  await knowledge.accept(request({ id: 'birds', metadata, sections }), { waitMs: 60_000 })
  expect(index.store.rows).toHaveLength(40)
  expect(Math.max(...index.store.rows.map((row) => row.chunkMetadata.length))).toBeLessThan(300)
  const [passage] = await knowledge.search({ text: 'heron', limit: 5 })
  expect(passage?.document.metadata).toEqual(metadata)
  expect((await knowledge.byLink({ link: 'https://zoo/0' }))?.document.metadata).toEqual(metadata)
})

test('metadata that became small again is shown as it is now', async () => {
  const { knowledge, db } = await startKnowledge()
  await knowledge.accept(request({ id: 'birds', text: 'heron', metadata: entries(300) }), { waitMs: 60_000 })
  await knowledge.accept(request({ id: 'birds', text: 'heron', metadata: { a: 'b' } }), { waitMs: 60_000 })
  const [passage] = await knowledge.search({ text: 'heron', limit: 5 })
  expect(passage?.document.metadata).toEqual({ a: 'b' })
  expect(await db.selectFrom('inlay_document_metadata').selectAll().execute()).toEqual([])
  await knowledge.accept(request({ id: 'birds', text: 'heron', metadata: entries(300) }), { waitMs: 60_000 })
  await knowledge.remove('birds')
  expect(await db.selectFrom('inlay_document_metadata').selectAll().execute()).toEqual([])
})

test('many sections with much metadata cost what each of them costs', async () => {
  const { knowledge, index } = await startKnowledge()
  const sections = Array.from({ length: 20_000 }, (_, at) => section(`s${at}`))
  const began = cpuMs()
  await knowledge.accept(request({ id: 'wide', metadata: entries(5_000), sections }), { waitMs: 60_000 })
  // A minute and 288 MB before; two seconds on a slow machine.
  expect(cpuMs() - began).toBeLessThan(15_000)
  expect(await knowledge.status('wide')).toMatchObject({ phase: 'indexed', chunkCount: 20_000 })
  const tags = new Set(index.store.rows.map((row) => row.tags.length))
  expect([...tags]).toEqual([50])
})
