import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ana, eventually } from '../../agent/setting.ts'
import { call, find, introduced, lookUp, newClient, saying, standIn, usual } from './client-fixture.ts'

const events = { 'content-type': 'text/event-stream' }
const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const changed = event({ method: 'notifications/tools/list_changed' })
const listening = { ...introduced, capabilities: { tools: { listChanged: true } } }

describe('a list of tools that changes is fetched for the next message', () => {
  test('when the server says so on its own stream', async () => {
    let stream: ServerResponse | undefined
    const tools = [lookUp]
    const { server } = await standIn(
      usual({
        initialize: () => listening,
        'tools/list': () => ({ tools }),
        GET: (_, response) => {
          stream = response.writeHead(200, events)
          stream.write(': open\n\n')
        },
      }),
    )
    const { client } = newClient([server])
    const names = async () => (await client.list({ caller: ana })).map(({ name }) => name)
    expect(await names()).toEqual(['look_up'])
    await eventually(() => stream !== undefined)
    tools.push({ ...lookUp, name: 'write' })
    expect(await names()).toEqual(['look_up'])
    stream!.write(changed)
    await expect.poll(names).toEqual(['look_up', 'write'])
  })

  test('when the server says so while it answers a call', async () => {
    const tools = [lookUp]
    const { server } = await standIn(
      usual({
        'tools/list': () => ({ tools }),
        'tools/call': ({ id }, response) => {
          tools.push({ ...lookUp, name: 'write' })
          response.writeHead(200, events).end(changed + event({ id, result: saying('done') }))
        },
      }),
    )
    const { client } = newClient([server])
    await call(await find(client, 'look_up'), {})
    expect((await client.list({ caller: ana })).map(({ name }) => name)).toEqual(['look_up', 'write'])
  })
})

test('progress of a call is a running line, which its result replaces', async () => {
  const { server, seen } = await standIn(
    usual({
      'tools/call': ({ id, params }, response) => {
        const { _meta } = params as { _meta: { progressToken: unknown } }
        const progress = (more: object) =>
          event({ method: 'notifications/progress', params: { ..._meta, total: 3, ...more } })
        const steps = progress({ progress: 1, message: 'reading' }).repeat(2) + progress({ progress: 2 })
        response.writeHead(200, events).end(steps + event({ id, result: saying('done') }))
      },
    }),
  )
  const { client } = newClient([server])
  const { packets } = await call(await find(client, 'look_up'), {})
  expect(packets.map((packet) => 'data' in packet && packet.data)).toEqual([
    { progress: '1 of 3: reading' },
    { progress: '2 of 3' },
    { tool_result: 'done' },
  ])
  expect(seen.some(({ method }) => method === 'tools/call')).toBe(true)
})

test.each(['elicitation/create', 'sampling/createMessage', 'roots/list'])(
  '%s of a server is refused in words, and the call goes on',
  async (method) => {
    const answers: unknown[] = []
    const { server } = await standIn((message, response) => {
      if (message.method === undefined) return void answers.push(message)
      if (message.method !== 'tools/call') return usual()(message, response)
      response.writeHead(200, events).write(event({ id: 'q1', method, params: {} }))
      void eventually(() => answers.length > 0).then(() =>
        response.end(event({ id: message.id, result: saying('without') })),
      )
    })
    const { client } = newClient([server])
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ tool_result: 'without' })
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 'q1', error: { code: -32_601, message: expect.stringContaining('nobody can be asked') } },
    ])
  },
)
