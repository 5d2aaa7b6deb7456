import { expect, test } from 'vitest'
import { newToolSetting, toolsOf } from './tool-setting.ts'

const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }
const hasResult = (body: object): boolean => JSON.stringify(body).includes('"role":"tool"')

test('a tool of an MCP server gets its arguments in the types that it declares', async () => {
  const { ask, called } = await newToolSetting(() => undefined, {
    tools: [{ name: 'add', description: 'Adds.', inputSchema: numbers }],
    answer: (body) =>
      hasResult(body) ? [{ text: '5' }] : [{ calls: [{ id: 'c1', name: 'add', input: { a: '2', b: '3' } }] }],
  })
  expect((await ask('What is 2 + 3?')).tool_calls).toMatchObject([{ tool_arguments: { a: 2, b: 3 } }])
  expect(called).toMatchObject([{ name: 'add', arguments: { a: 2, b: 3 } }])
})

test('a tool whose arguments cannot be understood says so by their path, and the server is not called', async () => {
  const { ask, called, requests } = await newToolSetting(() => undefined, {
    tools: [{ name: 'add', description: 'Adds.', inputSchema: numbers }],
    answer: (body) =>
      hasResult(body) ? [{ text: 'No.' }] : [{ calls: [{ id: 'c1', name: 'add', input: { a: 'two' } }] }],
  })
  await ask('What is 2 + 3?')
  expect(called).toEqual([])
  const lastRequest = JSON.stringify(requests.at(-1)?.body)
  expect(lastRequest).toContain('b: is required; a: must be a number')
  expect(toolsOf(requests[0]?.body ?? {}).map(({ name }) => name)).toContain('lookup')
})
