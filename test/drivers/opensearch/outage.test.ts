import type * as retryingModule from '@inlay/drivers/internal/http/retrying'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { createKnowledge } from '@inlay/knowledge'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeRecords } from '../../knowledge/setup.ts'
import { row } from '../lancedb/sample-rows.ts'

/** A clock that waits between two tries set forward, in milliseconds. */
const clock = { waited: 0, onWait: () => {} }

vi.mock('@inlay/drivers/internal/http/retrying', async (original) => {
  const { retrying } = await original<typeof retryingModule>()
  const sleep = async (delayMs: number): Promise<void> => {
    clock.waited += delayMs
    clock.onWait()
  }
  const counted: typeof retrying = (call, signal, options) => retrying(call, signal, { ...options, sleep })
  return { retrying: counted }
})

/** A cluster whose nodes refuse connections once it is down. */
function cluster() {
  let identity: unknown
  const state = { isDown: false }
  const send: typeof fetch = async (input, init) => {
    if (state.isDown) throw new TypeError('connection refused')
    const { pathname } = new URL(String(input))
    if (init?.method === 'PUT') identity = JSON.parse(String(init.body))._meta?.identity
    const mapping = { 'inlay-000001': { mappings: { _meta: { space: '', identity } } } }
    return Response.json(pathname.endsWith('/_mapping') ? mapping : { responses: [{ hits: { hits: [] } }] })
  }
  const nodes = ['http://search-1:9200', 'http://search-2:9200']
  return { state, index: opensearchIndex({ nodes, fetch: send }) }
}

test('tells a person within two seconds that no node can be reached, in a process that has searched or not', async () => {
  for (const hasSearched of [true, false]) {
    const { state, index } = cluster()
    const knowledge = createKnowledge({ db: await makeRecords(), index, onError: () => {} })
    onTestFinished(() => knowledge.close())
    if (hasSearched) expect(await knowledge.search({ text: 'heron' })).toEqual([])
    state.isDown = true
    clock.waited = 0
    await expect(knowledge.search({ text: 'heron' })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(clock.waited).toBeGreaterThan(0)
    expect(clock.waited).toBeLessThan(2_000)
  }
})

test('writes rows once a node answers again, for longer than a person would wait', async () => {
  const { state, index } = cluster()
  await index.open()
  state.isDown = true
  clock.waited = 0
  clock.onWait = () => {
    state.isDown = clock.waited < 2_500
  }
  await index.append([row('a', 'The heron waits.')])
  expect(clock.waited).toBeGreaterThan(2_500)
})
