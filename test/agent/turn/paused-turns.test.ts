import { createCitableDocuments } from '@inlay/agent/internal/citations/citable-documents'
import { createClientTurns } from '@inlay/agent/internal/turn/client-turn'
import { createPausedTurns, type PausedTurn } from '@inlay/agent/internal/turn/paused-turns'
import { expect, test } from 'vitest'

const paused = (more: Partial<PausedTurn>, ids = ['a']): PausedTurn => ({
  callerId: 'ana',
  model: 'm',
  messages: [],
  content: [],
  calls: ids.map((clientId) => ({ id: clientId, name: 'x', input: '{}', result: '', clientId })),
  citable: createCitableDocuments(),
  documents: null,
  ...more,
})

test('pictures, thoughts and texts of files count towards the memory of paused turns', () => {
  const big = 'x'.repeat(20 * 2 ** 20)
  const data = { type: 'data' as const, data: new Uint8Array(20 * 2 ** 20) }
  const citable = createCitableDocuments()
  citable.addUnnumbered([big])
  for (const more of [
    { citable },
    { content: [{ type: 'reasoning' as const, text: big }] },
    { messages: [{ role: 'user' as const, content: [{ type: 'file' as const, mediaType: 'image/png', data }] }] },
  ]) {
    const turns = createPausedTurns(() => 0)
    turns.add(paused(more))
    turns.add(paused(more, ['b', 'c']))
    expect([turns.get('a', 'ana'), turns.get('c', 'ana')]).toEqual([undefined, expect.anything()])
  }
})

test('a run that is not stored is dropped once it has ended', async () => {
  const { runs } = createClientTurns({ now: () => 0, resumableMs: 600_000, maxRunBytes: 1e6, maxFinishedBytes: 1e6 })
  const run = runs.open({ sessionId: 's', messageId: -1 })
  run.end()
  await run.ended
  expect(runs.newest('s')).toBeUndefined()
})
