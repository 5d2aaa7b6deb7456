import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mcpClient, type McpServer, type McpServers } from '@inlay/drivers/mcp-client'
import { heldFiles, newTurn } from '../../agent/action-turn.ts'
import { ana, eventually } from '../../agent/setting.ts'
import { startEverything, type Everything } from '../../stand-in/mcp-everything.ts'
import { call, find, newClient, newNumbers, saying, standIn, usual, lookUp } from './client-fixture.ts'

describe.each(['http', 'sse'] as const)('the reference server over %s', (transport) => {
  let everything: Everything
  beforeAll(async () => {
    everything = await startEverything(transport)
  })
  afterAll(() => everything.close())
  const server = (): McpServer => ({ name: 'everything', url: everything.url, transport, allowPrivate: true })

  test('has its tools listed as actions with ids that stay', async () => {
    const { client, errors } = newClient([server()])
    const actions = await client.list({ caller: ana })
    const echo = actions.find(({ name }) => name === 'echo')!
    expect(echo).toMatchObject({ builtIn: null, mcpServerId: 1001, description: 'Echoes back the input string' })
    expect(echo.id).toBeGreaterThan(1001)
    expect(await client.holds(echo.id)).toBe(true)
    expect(await client.holds(1001)).toBe(false)
    expect(echo.input['~standard'].jsonSchema.input({ target: 'draft-07' })).toMatchObject({
      type: 'object',
      properties: { message: { type: 'string' } },
      required: ['message'],
    })
    expect((await find(client, 'echo')).id).toBe(echo.id)
    expect(errors).toEqual([])
  })

  test('is called, and its answer is told', async () => {
    const { client } = newClient([server()])
    const echo = await find(client, 'echo')
    expect(echo.start?.()).toEqual({ type: 'custom_tool_start', tool_name: 'echo', tool_id: null })
    const { packets, toModel } = await call(echo, { message: 'Grüße' })
    expect(packets).toEqual([
      {
        type: 'custom_tool_delta',
        tool_name: 'echo',
        tool_id: null,
        response_type: 'json',
        data: { tool_result: 'Echo: Grüße' },
        file_ids: null,
        error: null,
      },
    ])
    expect(toModel).toMatchObject({ tool_name: 'echo', tool_result: 'Echo: Grüße', error: null })
  })

  test('answers calls side by side, each its own', async () => {
    const { client } = newClient([server()])
    const sum = await find(client, 'get-sum')
    const answers = await Promise.all([1, 2, 3, 4].map((a) => call(sum, { a, b: 10 })))
    expect(answers.map(({ toModel }) => toModel['tool_result'])).toEqual(
      [11, 12, 13, 14].map((total, index) => `The sum of ${index + 1} and 10 is ${total}.`),
    )
  })

  test('may send pictures, which are kept', async () => {
    const { client } = newClient([server()])
    const files = heldFiles()
    const { delta, toModel } = await call(await find(client, 'get-tiny-image'), {}, { files })
    expect(delta?.file_ids).toEqual(['get-tiny-image.png-file'])
    expect(toModel['tool_result']).toContain('shown to the user as file get-tiny-image.png-file')
    const { bytes } = await files.open('get-tiny-image.png-file')
    expect(new TextDecoder('latin1').decode((await new Response(bytes).bytes()).slice(1, 4))).toBe('PNG')
  })

  test('refuses wrong arguments in words the model can read', async () => {
    const { client, errors } = newClient([server()])
    const { delta } = await call(await find(client, 'get-sum'), { a: 'one', b: 2 })
    expect(delta).toMatchObject({
      response_type: 'json',
      error: null,
      data: { error: expect.stringContaining('get-sum failed') },
    })
    const { message: missing } = (await (await find(client, 'echo')).input['~standard'].validate({})).issues![0]!
    expect(missing).toBe('message: is required')
    expect(errors).toEqual([])
  })
})

describe('headers', () => {
  test('of the request come first, stored ones win whatever their case, and none is of the connection', async () => {
    const { server, seen } = await standIn(usual())
    const { client } = newClient([{ ...server, token: 'stored', headers: { 'X-Team': 'ours' } }])
    const mcpHeaders = {
      AUTHORIZATION: 'Bearer theirs',
      'x-team': 'theirs',
      'X-Own': 'kept',
      Host: 'evil.example',
      'Mcp-Session-Id': 'stolen',
      'X-Bad': 'a\r\nb: c',
    }
    await call(await find(client, 'look_up', mcpHeaders), {})
    const { headers } = seen.find(({ method }) => method === 'tools/call')!
    expect(headers).toMatchObject({
      authorization: 'Bearer stored',
      'x-team': 'ours',
      'x-own': 'kept',
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-06-18',
    })
    expect(headers.host).toMatch(/^127\.0\.0\.1:/)
    expect(headers).not.toHaveProperty('x-bad')
  })

  test('of the caller’s own authority go along only where the operator says so', async () => {
    const { server, seen } = await standIn(usual())
    const headers = { authorization: 'Bearer caller' }
    const authorityOf = async (given: McpServer): Promise<unknown> => {
      const { client } = newClient([given])
      await call(await find(client, 'look_up'), {}, { headers })
      return seen.findLast(({ method }) => method === 'tools/call')!.headers.authorization
    }
    expect(await authorityOf({ ...server, passAuthorization: true, token: 'stored' })).toBe('Bearer caller')
    expect(await authorityOf({ ...server, token: 'stored' })).toBe('Bearer stored')
    expect(await authorityOf(server)).toBeUndefined()
  })

  test('that calls cannot do without are asked for', async () => {
    const { server, seen } = await standIn(usual())
    const { client } = newClient([{ ...server, neededHeaders: ['X-User-Key'] }])
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ error: 'Wiki! needs values for its connection: X-User-Key, in mcp_headers.' })
    expect(seen.some(({ method }) => method === 'tools/call')).toBe(false)
    const given = await call(await find(client, 'look_up', { 'x-user-key': 'k' }), {})
    expect(given.delta?.data).toEqual({ tool_result: 'found' })
  })
})

describe('a server that', () => {
  test('cannot be reached is left out, told to the operator, and not asked again for a while', async () => {
    const gone = { name: 'gone', url: 'http://127.0.0.1:1/mcp', allowPrivate: true }
    const { server } = await standIn(usual())
    const clock = { time: 0 }
    const { client, errors } = newClient([gone, server], { now: () => clock.time })
    expect((await client.list({ caller: ana })).map(({ name }) => name)).toEqual(['look_up'])
    await client.list({ caller: ana })
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('gone could not be listed') })])
    clock.time += 30_000
    await client.list({ caller: ana })
    expect(errors).toHaveLength(2)
  })

  test('does not answer is told to the operator in words', async () => {
    const { server } = await standIn((message, response) => void (message.method === 'GET' || response.flushHeaders()))
    const { client, errors } = newClient([server], { timeoutMs: 50 })
    expect(await client.list({ caller: ana })).toEqual([])
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('did not answer in time') })])
  })

  test('is in a private network is reached only when the operator says so', async () => {
    const { server, seen } = await standIn(usual())
    const { client, errors } = newClient([{ ...server, allowPrivate: false }])
    expect(await client.list({ caller: ana })).toEqual([])
    expect(errors).toHaveLength(1)
    expect(seen).toEqual([])
  })

  test('lists page by page is listed once for a while', async () => {
    const tools = (names: string[]) => names.map((name) => ({ name, title: `The ${name}` }))
    const { server, seen } = await standIn(
      usual({
        'tools/list': ({ params }) =>
          (params as { cursor?: string }).cursor === 'p2'
            ? { tools: tools(['c']) }
            : { tools: tools(['a', 'b']), nextCursor: 'p2' },
      }),
    )
    const clock = { time: 0 }
    const { client } = newClient([server], { now: () => clock.time })
    const names = async () =>
      (await client.list({ caller: ana })).map(({ name, displayName }) => `${name}: ${displayName}`)
    expect(await names()).toEqual(['a: The a', 'b: The b', 'c: The c'])
    await names()
    const pages = () => seen.filter(({ method }) => method === 'tools/list').length
    expect(pages()).toBe(2)
    clock.time += 300_000
    await names()
    await eventually(() => pages() === 4)
  })

  test('tells more of its tools than a prompt can hold is cut', async () => {
    const long = { name: 'long', description: 'x'.repeat(10_000) }
    const huge = { name: 'huge', inputSchema: { type: 'object', description: 'x'.repeat(50_000) } }
    const many = Array.from({ length: 300 }, (_, at) => ({ name: `tool ${at}` }))
    const { server } = await standIn(
      usual({ 'tools/list': () => ({ tools: [long, huge, {}, { name: '' }, ...many] }) }),
    )
    const { client } = newClient([server])
    const actions = await client.list({ caller: ana })
    expect(actions).toHaveLength(200)
    expect(actions.slice(0, 2).map(({ name, description }) => [name, description.length])).toEqual([
      ['long', 4_000],
      ['tool_0', 6],
    ])
  })

  test('has a tool of the same name as another gives both the name of their server', async () => {
    const [first, second] = [await standIn(usual()), await standIn(usual())]
    const { client } = newClient([
      { ...first.server, name: 'north wing' },
      { ...second.server, name: 'south' },
    ])
    expect((await client.list({ caller: ana })).map(({ name }) => name)).toEqual([
      'mcp_north_wing_look_up',
      'mcp_south_look_up',
    ])
  })

  test('keeps a session finds one chat in it, and another chat in another', async () => {
    const { server, seen } = await standIn(usual())
    const { client } = newClient([server])
    const action = await find(client, 'look_up')
    const before = seen.filter(({ method }) => method === 'initialize').length
    await call(action, {}, { sessionId: 'one' })
    await call(action, {}, { sessionId: 'one' })
    await call(action, {}, { sessionId: 'two' })
    expect(seen.filter(({ method }) => method === 'initialize').length - before).toBe(2)
    await client.close()
    expect(seen.filter(({ method }) => method === 'DELETE').length).toBeGreaterThanOrEqual(2)
  })

  test('forgot the session is introduced to again', async () => {
    let forgotten = true
    const { server } = await standIn(
      usual({
        'tools/call': (_, response) => {
          if (!forgotten) return saying('again')
          forgotten = false
          return response.writeHead(404).end()
        },
      }),
    )
    const { client, errors } = newClient([server])
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ tool_result: 'again' })
    expect(errors).toEqual([])
  })

  test('is being asked when the call is given up is told so', async () => {
    const stopping = new AbortController()
    const { server, seen } = await standIn(
      usual({
        'tools/call': (_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n')
          stopping.abort(new Error('stopped'))
        },
      }),
    )
    const { client, errors } = newClient([server])
    const { turn, packets } = newTurn({ signal: stopping.signal })
    await expect((await find(client, 'look_up')).run({}, turn)).rejects.toThrow('stopped')
    await eventually(() => seen.some(({ method }) => method === 'notifications/cancelled'))
    expect([packets, errors]).toEqual([[], []])
  })

  test.each([
    [
      'refuses the credentials',
      (response: ServerResponse) => response.writeHead(401).end(),
      'look_up refused its credentials.',
    ],
    [
      'fails',
      (response: ServerResponse) => response.writeHead(500).end('stack trace'),
      'look_up failed: The MCP server answered with status 500.',
    ],
    [
      'says nothing sensible',
      (response: ServerResponse) => response.writeHead(200).end('<html>'),
      'look_up failed: The MCP server sent something that is no message.',
    ],
    [
      'breaks off',
      (response: ServerResponse) => response.writeHead(200).end('[]'),
      'look_up failed: The connection to the MCP server was lost.',
    ],
  ])('%s is told to the model', async (_, answer, error) => {
    const { server } = await standIn(usual({ 'tools/call': (_message, response) => answer(response) }))
    const { client } = newClient([server])
    const { delta, toModel } = await call(await find(client, 'look_up'), {})
    expect(delta).toMatchObject({ response_type: 'json', data: { error }, error: null, tool_id: null })
    expect(toModel).toMatchObject({ tool_result: null, error })
  })

  test.each([
    ['a sentence alone', 'Returned 2 items.', 'Returned 2 items.\n{"items":[1,2]}'],
    ['the same as JSON', '{\n  "items": [1, 2]\n}', '{\n  "items": [1, 2]\n}'],
    ['nothing', '', '{"items":[1,2]}'],
  ])('with structured content beside %s is read whole by the model', async (_, text, expected) => {
    const answer = { content: text === '' ? [] : [{ type: 'text', text }], structuredContent: { items: [1, 2] } }
    const { server } = await standIn(usual({ 'tools/call': () => answer }))
    const { client } = newClient([server])
    const { toModel } = await call(await find(client, 'look_up'), {})
    expect(toModel).toMatchObject({ tool_result: expected })
  })

  test('speaks of authentication in its failure is understood so', async () => {
    const failing = { isError: true, content: [{ type: 'text', text: 'Upstream said 401 Unauthorized' }] }
    const { server } = await standIn(usual({ 'tools/call': () => failing }))
    const { client } = newClient([server])
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ error: 'look_up refused its credentials. Upstream said 401 Unauthorized' })
  })

  test('asks and tells in between, and lets a long answer be read on after a break', async () => {
    const { server, seen } = await standIn(
      usual({
        'tools/call': ({ id }, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(`retry: 1\nid: e1\ndata: {"jsonrpc":"2.0","id":"p","method":"ping"}\n\n`)
          response.write(`: a comment\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\n`)
          response.end(`id: e${id}\ndata:\n\n`)
        },
        GET: (_, response) => {
          const [, id] = /^e(\d+)$/.exec(seen.at(-1)!.headers['last-event-id'] as string)!
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: Number(id), result: saying('at last') })}\n\n`)
        },
      }),
    )
    const { client } = newClient([server])
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ tool_result: 'at last' })
  })
})

test('servers may come and go while the client runs', async () => {
  const { server } = await standIn(usual())
  const present: McpServer[] = []
  const { client } = newClient(async () => present)
  expect(await client.list({ caller: ana })).toEqual([])
  present.push(server)
  const { id } = await find(client, 'look_up')
  expect(await client.holds(id)).toBe(true)
  present.length = 0
  expect([await client.list({ caller: ana }), await client.holds(id)]).toEqual([[], false])
  present.push(server, server)
  await expect(client.list({ caller: ana })).rejects.toMatchObject({ code: 'DUPLICATE_RESOURCE' })
})

test('an answer that is too long is cut for the model', async () => {
  const { server } = await standIn(usual({ 'tools/call': () => saying('wörter '.repeat(20_000)) }))
  const { client } = newClient([server])
  const { turn, packets } = newTurn({ resultTokens: 500 })
  const { text } = await (await find(client, 'look_up')).run({}, turn)
  expect(text.length).toBeLessThan(2_000)
  expect(JSON.parse(text)).toMatchObject({ note: expect.stringContaining('left out') })
  expect(JSON.stringify(packets).length).toBeGreaterThan(100_000)
})

test('a list of servers that cannot be is refused at once', () => {
  const server = { name: 'a', url: 'https://a.example/mcp' }
  const clientOf = (servers: McpServers) => () => mcpClient({ servers, numbers: newNumbers() })
  expect(clientOf([server, server])).toThrow(expect.objectContaining({ code: 'DUPLICATE_RESOURCE' }))
  const oauth = { clientId: 'robot', clientSecret: 'of the robot' }
  for (const wrong of [
    { ...server, url: 'a.example' },
    { ...server, oauth },
  ])
    expect(clientOf([wrong])).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})

describe('a server that asks more than a client has to answer', () => {
  const pings = (count: number, message: { id?: number }): object[] => [
    ...Array.from({ length: count }, (_, at) => ({ jsonrpc: '2.0', id: `p${at}`, method: 'ping' })),
    { jsonrpc: '2.0', id: message.id, result: saying('found') },
  ]
  const answered = (seen: readonly { method: string }[]): number =>
    seen.filter(({ method }) => method === undefined).length

  test.each([
    ['at once', 'application/json', (text: object[]) => JSON.stringify(text)],
    [
      'event by event',
      'text/event-stream',
      (text: object[]) => text.map((each, at) => `id: ${at}\ndata: ${JSON.stringify(each)}\n\n`).join(''),
    ],
  ])('%s is given up', async (_, type, write) => {
    const handle = usual({
      'tools/call': (message, response) => {
        response.writeHead(200, { 'content-type': type }).end(write(pings(2_000, message)))
      },
    })
    const { server, seen } = await standIn(handle)
    const { client } = newClient([server])
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ error: expect.stringContaining('more than') })
    expect(answered(seen)).toBeLessThan(100)
  })

  test('is answered a few times', async () => {
    const handle = usual({
      'tools/call': (message, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(pings(3, message)))
      },
    })
    const { server } = await standIn(handle)
    const { client } = newClient([server])
    expect((await call(await find(client, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
  })
})

test('a title that is long or hides something is shown as what it is', async () => {
  const title = `Read\u202e a page\u0000${' '.repeat(300)}and delete it`
  const { server } = await standIn(usual({ 'tools/list': () => ({ tools: [{ ...lookUp, title }] }) }))
  const { client } = newClient([server])
  const { displayName } = await find(client, 'look_up')
  expect(displayName).toMatch(/^Read\\u\{202e\} a page\\u\{0\}/)
  expect(displayName.length).toBe(200)
})
