import { expect, test } from 'vitest'
import type { McpProgram } from '@inlay/drivers/mcp-client'
import { ana, eventually } from '../../agent/setting.ts'
import { call, find, newClient } from './client-fixture.ts'

/** A program that counts its calls, prints logs between its messages, and ends when it is told to. */
const program = `
  let calls = 0
  const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const answers = {
    initialize: () => ({ protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'count', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ arguments: given }) => {
      if (given.end) process.exit(1)
      const values = [++calls, process.env.GIVEN, process.env.SECRET, process.argv[1], process.pid]
      return { content: [{ type: 'text', text: JSON.stringify(values) }] }
    },
  }
  console.log('Starting …')
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id !== undefined) say({ id, result: answers[method](params) })
  })`

const server = (): McpProgram => ({
  name: 'counter',
  command: process.execPath,
  args: ['-e', program, 'a b; $HOME'],
  env: { GIVEN: 'yes' },
})

test('a program serves by its standard input and output, in an environment of its own', async () => {
  process.env['SECRET'] = 'of the host'
  const { client, errors } = newClient([server()])
  const action = await find(client, 'count')
  const values = async (sessionId: string): Promise<unknown[]> => {
    const { toModel } = await call(action, {}, { sessionId })
    return JSON.parse(String(toModel['tool_result'])) as unknown[]
  }
  const first = await values('one')
  expect(first.slice(0, 4)).toEqual([1, 'yes', null, 'a b; $HOME'])
  expect((await values('two')).slice(0, 1)).toEqual([2])
  await client.close()
  await eventually(() => !isRunning(first[4] as number))
  expect(errors).toEqual([])
})

test('a program that ends is told to the model, and started again for the next call', async () => {
  const { client } = newClient([server()])
  const action = await find(client, 'count')
  const { delta } = await call(action, { end: true })
  expect(delta?.data).toEqual({ error: 'count failed: The connection to the MCP server was lost.' })
  for (const calls of [1, 2]) {
    const { toModel } = await call(action, {})
    expect((JSON.parse(String(toModel['tool_result'])) as number[])[0]).toBe(calls)
  }
})

test('a program that ended between two calls is started again, and the call repeated', async () => {
  const { client } = newClient([server()])
  const action = await find(client, 'count')
  const { toModel } = await call(action, {})
  const pid = (JSON.parse(String(toModel['tool_result'])) as number[])[4]!
  process.kill(pid)
  await eventually(() => !isRunning(pid))
  expect((await call(action, {})).toModel['error']).toBeNull()
})

test('a program that is not there is left out and told to the operator', async () => {
  const { client, errors } = newClient([{ name: 'gone', command: 'no-such-program' }])
  expect(await client.list({ caller: ana })).toEqual([])
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('no-such-program') })])
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a call to a program that stopped reading ends with the message', async () => {
  const deaf = program.replace('if (id', "if (method === 'tools/list') process.stdin.pause(); if (id")
  const { client } = newClient([{ ...server(), args: ['-e', deaf] }])
  const stop = new AbortController()
  const action = await find(client, 'count')
  const called = call(action, { text: 'x'.repeat(4_000_000) }, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  await expect(called).rejects.toThrow('stopped')
})

test('a program that asks more than a client has to answer is given up', async () => {
  const ping = "say({ id: 'p' + calls, method: 'ping' })"
  const asking = program
    .replace('if (id', 'if (method && id')
    .replace('if (given.end)', `for (let at = 0; at < 2_000; at++) ${ping}\n      if (given.end)`)
  const { client } = newClient([{ ...server(), args: ['-e', asking] }])
  const { delta } = await call(await find(client, 'count'), {})
  expect(delta?.data).toEqual({ error: expect.stringContaining('more than') })
})
