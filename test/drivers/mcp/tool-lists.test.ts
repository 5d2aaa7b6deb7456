import { expect, test } from 'vitest'
import type { RemoteTool } from '@inlay/drivers/internal/mcp/session'
import { createToolLists } from '@inlay/drivers/internal/mcp/tool-lists'

const toolsOf = (...names: string[]): RemoteTool[] =>
  names.map((name) => ({ name, title: '', description: '', inputSchema: {}, isReadOnly: false, isRepeatable: false }))

function newLists(patienceMs = 2_000) {
  const clock = { time: 0 }
  const lists = createToolLists({ now: () => clock.time, patienceMs })
  const names = async (fetch: () => Promise<RemoteTool[]>) => (await lists.of('key', fetch)).map(({ name }) => name)
  return { clock, names }
}
const never = (): Promise<RemoteTool[]> => new Promise(() => {})
const fails = (): Promise<RemoteTool[]> => Promise.reject(new Error('down'))

test('a fresh list is not fetched again, and those who ask at once share one', async () => {
  const { names } = newLists()
  let count = 0
  const fetch = async () => toolsOf(`list ${++count}`)
  expect(await Promise.all([names(fetch), names(fetch)])).toEqual([['list 1'], ['list 1']])
  expect(await names(fetch)).toEqual(['list 1'])
})

test('an old list is given at once while a new one is fetched', async () => {
  const { clock, names } = newLists()
  await names(async () => toolsOf('old'))
  clock.time = 300_000
  const { promise, resolve } = Promise.withResolvers<RemoteTool[]>()
  expect(await names(() => promise)).toEqual(['old'])
  expect(await names(never)).toEqual(['old'])
  resolve(toolsOf('new'))
  await promise
  expect(await names(never)).toEqual(['new'])
})

test('a server that fails has no tools, is left alone for a while, and then tried with little patience', async () => {
  const { clock, names } = newLists(1)
  expect(await names(fails)).toEqual([])
  expect(await names(async () => toolsOf('too soon'))).toEqual([])
  clock.time = 30_000
  expect(await names(async () => toolsOf('back'))).toEqual(['back'])
  clock.time = 330_000
  await names(fails)
  clock.time = 360_000
  expect(await names(never)).toEqual([])
})
