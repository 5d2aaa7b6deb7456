import type { Packet, PacketType, StreamLine, ToolSnapshot } from '@inlay/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { orderFaults } from '../../agent/packet-order.ts'
import { startKennel, type Kennel } from '../../stand-in/kennel.ts'
import { startEverything } from '../../stand-in/mcp-everything.ts'
import { calls, openActionHarness, says, type ActionHarness } from './action-harness.ts'

const callThenAnswer = [
  '1.0 custom_tool_start',
  '1.0 custom_tool_delta',
  '1.0 section_end',
  '2.0 message_start',
  '2.0 message_delta',
  '2.0 stop',
]

/** Packets as `turn.tab type`; the run has to keep the order of the stream. */
function record(lines: readonly StreamLine[]): string[] {
  expect(orderFaults(lines)).toEqual([])
  return packetsOf(lines).map(({ placement, obj }) => `${placement.turn_index}.${placement.tab_index} ${obj.type}`)
}

const packetsOf = (lines: readonly StreamLine[]): Packet[] => lines.filter((line): line is Packet => 'obj' in line)

const bodiesOf = <Type extends PacketType>(lines: readonly StreamLine[], type: Type) =>
  packetsOf(lines).flatMap(({ obj }) => (obj.type === type ? [obj as Extract<Packet['obj'], { type: Type }>] : []))

async function json(
  harness: ActionHarness,
  path: string,
  init: { method?: string; body?: unknown } = {},
): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const { body, method = body === undefined ? 'GET' : 'POST' } = init
  const response = await harness.fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect([path, response.status]).toEqual([path, 200])
  return response.json()
}

describe('a service described by an OpenAPI document', () => {
  async function withKennel(key = 'bone'): Promise<{ harness: ActionHarness; kennel: Kennel; tool: ToolSnapshot }> {
    const kennel = await startKennel()
    onTestFinished(() => kennel.close())
    const harness = await openActionHarness({ egress: { allowHosts: ['127.0.0.1'] }, passHeaders: ['X-Trace'] })
    const fields = { name: 'Kennel', description: '', passthrough_auth: false, default_enabled: true }
    const { methods } = (await json(harness, '/admin/tool/custom/validate', {
      body: { definition: kennel.document },
    })) as { methods: unknown[] }
    expect(methods).toHaveLength(4)
    const tool = (await json(harness, '/admin/tool/custom', {
      body: { ...fields, definition: kennel.document, custom_headers: [{ key: 'X-Kennel-Key', value: key }] },
    })) as ToolSnapshot
    return { harness, kennel, tool }
  }

  test('is used in a chat: several functions, in parallel and in turn', async () => {
    const { harness, kennel, tool } = await withKennel()
    const lines = await harness.ask('Which dogs are there? Board Bella.', [
      calls(['list_dogs', { limit: 5, state: ['well fed', 'ill'] }], ['getDog', { dogId: '7' }]),
      calls(['boardDog', { requestBody: { name: 'Bella & Söhne' } }]),
      says('Rex is there, and Bella is boarded.'),
    ])
    const packets = record(lines)
    expect(packets.slice(0, 3)).toEqual(['0.0 top_level_branching', '0.0 custom_tool_start', '0.1 custom_tool_start'])
    expect(packets.slice(9)).toEqual(callThenAnswer)
    expect(bodiesOf(lines, 'custom_tool_args').map(({ tool_args: args }) => args)).toEqual([
      { limit: 5, state: ['well fed', 'ill'] },
      { dogId: '7' },
    ])
    expect(bodiesOf(lines, 'custom_tool_delta').at(-1)).toMatchObject({
      tool_name: 'boardDog',
      tool_id: tool.id,
      response_type: 'json',
      data: { id: 8, name: 'Bella & Söhne' },
    })
    expect(kennel.requests.map(({ request }) => request).toSorted()).toEqual([
      'GET /v1/dogs/7',
      'GET /v1/dogs?state=well%20fed&state=ill&limit=5',
      'POST /v1/dogs',
    ])
    expect(JSON.stringify(harness.requests())).toContain('Bella & Söhne')
    expect(harness.errors).toEqual([])
  })

  test('gives tables and pictures, which are kept and can be fetched', async () => {
    const { harness } = await withKennel()
    const lines = await harness.ask('Show me the dogs.', [
      calls(['list_dogs', { limit: 1, state: ['csv'] }], ['list_dogs', { limit: 1, state: ['picture'] }]),
      says('Here they are.'),
    ])
    record(lines)
    const deltas = bodiesOf(lines, 'custom_tool_delta').toSorted((left, right) =>
      left.response_type < right.response_type ? -1 : 1,
    )
    expect(deltas).toMatchObject([
      { response_type: 'csv', data: null },
      { response_type: 'image', data: null },
    ])
    const [table, picture] = await Promise.all(
      deltas.map(({ file_ids: ids }) => harness.fetch(`/chat/file/${ids![0]}`)),
    )
    expect([table!.headers.get('content-type'), await table!.text()]).toEqual([
      expect.stringContaining('text/csv'),
      'id,name\n7,Rex\n',
    ])
    expect(picture!.headers.get('content-type')).toBe('image/png')
    expect((await picture!.bytes()).slice(1, 4)).toEqual(new TextEncoder().encode('PNG'))
    expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain('7,Rex')
  })

  test('that refuses its key, lacks an argument or finds nothing leaves the answer going on', async () => {
    const { harness, kennel, tool } = await withKennel('stick')
    const script = [calls(['getDog', {}]), calls(['getDog', { dogId: '7' }]), says('I could not ask.')]
    const lines = await harness.ask('Is Rex there?', script, { forced_tool_id: tool.id })
    expect(record(lines)).toEqual([
      '0.0 custom_tool_start',
      '0.0 section_end',
      '1.0 custom_tool_start',
      '1.0 custom_tool_args',
      '1.0 custom_tool_delta',
      '1.0 section_end',
      '2.0 message_start',
      '2.0 message_delta',
      '2.0 stop',
    ])
    expect(bodiesOf(lines, 'custom_tool_delta')).toMatchObject([
      { data: { message: 'Who are you?' }, error: { is_auth_error: true, status_code: 401 } },
    ])
    expect(kennel.requests).toHaveLength(1)
    for (const text of [JSON.stringify(lines), JSON.stringify(harness.requests())]) expect(text).not.toContain('stick')
  })

  test('is asked with the headers that the operator lets pass, with the key of the caller only where it is wanted', async () => {
    const kennel = await startKennel()
    onTestFinished(() => kennel.close())
    const harness = await openActionHarness({
      egress: { allowHosts: ['127.0.0.1'] },
      passHeaders: ['X-Trace', 'Authorization'],
    })
    const seen = async (passes: boolean): Promise<Record<string, unknown>> => {
      const fields = { name: 'Kennel', passthrough_auth: passes, default_enabled: true, definition: kennel.document }
      const { id } = (await json(harness, '/admin/tool/custom', { body: fields })) as ToolSnapshot
      // The second tool has the same functions: names that are taken get the id behind them.
      harness.script([calls([passes ? `getDog_${id}` : 'getDog', { dogId: '7' }]), says('Yes.')])
      const body = JSON.stringify({ message: 'Is Rex there?', stream: false, allowed_tool_ids: [id] })
      const headers = { 'content-type': 'application/json', 'x-trace': 't1', 'x-other': 'kept here' }
      expect((await harness.fetch('/chat/send-chat-message', { method: 'POST', headers, body })).status).toBe(200)
      return { ...kennel.requests.at(-1)!.headers }
    }
    const without = await seen(false)
    expect(without).toMatchObject({ 'x-trace': 't1' })
    expect(without).not.toHaveProperty('authorization')
    expect(without).not.toHaveProperty('x-other')
    expect(await seen(true)).toMatchObject({ 'x-trace': 't1', authorization: expect.stringMatching(/^Bearer /) })
  })

  test('is bound by allowed_tool_ids, and by being switched off', async () => {
    const { harness, kennel, tool } = await withKennel()
    const script = () => [calls(['getDog', { dogId: '7' }]), says('No.')]
    expect(record(await harness.ask('Is Rex there?', script(), { allowed_tool_ids: [] }))).toEqual([
      '1.0 message_start',
      '1.0 message_delta',
      '1.0 stop',
    ])
    await json(harness, '/admin/tool/status', { method: 'PATCH', body: { tool_ids: [tool.id], enabled: false } })
    record(await harness.ask('Is Rex there?', script()))
    expect(kennel.requests).toEqual([])
  })
})

describe('the reference server of MCP, in a process of its own', () => {
  test.each([true, false])('shows its pictures to a model, if that sees (%s)', async (takesImages) => {
    const everything = await startEverything('http')
    onTestFinished(() => everything.close())
    const mcpServers = [{ name: 'everything', url: everything.url, allowPrivate: true }]
    const harness = await openActionHarness({ takesImages, mcpServers })
    await harness.ask('What does it look like?', [calls(['get-tiny-image', {}]), says('A logo.')])
    const { messages } = harness.requests().at(-1)!.body as { messages: { role: string; content: unknown }[] }
    const pictures = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as { type: string }[]) : []))
    expect(pictures.filter(({ type }) => type === 'image_url')).toHaveLength(takesImages ? 1 : 0)
    // The next question has the words alone.
    await harness.ask('Thanks.', [says('You are welcome.')])
    expect(JSON.stringify(harness.requests().at(-1)!.body)).not.toContain('image_url')
  })

  test('is used in a chat', async () => {
    const everything = await startEverything('http')
    onTestFinished(() => everything.close())
    const harness = await openActionHarness({
      mcpServers: async () => [{ name: 'everything', url: everything.url, allowPrivate: true }],
    })
    const listed = (await json(harness, '/tool')) as ToolSnapshot[]
    const sum = listed.find(({ name }) => name === 'get-sum')!
    expect(sum).toMatchObject({ in_code_tool_id: null, mcp_server_id: expect.any(Number), definition: null })
    const lines = await harness.ask('What is 19 and 23?', [
      calls(['get-sum', { a: 19, b: 23 }], ['echo', { message: 'hello' }]),
      calls(['get-tiny-image', {}]),
      says('It is 42.'),
    ])
    const packets = record(lines)
    expect(packets.filter((packet) => packet.startsWith('0.0'))).toEqual([
      '0.0 top_level_branching',
      '0.0 custom_tool_start',
      '0.0 custom_tool_delta',
      '0.0 section_end',
    ])
    expect(packets.slice(-6)).toEqual(callThenAnswer)
    const received = new Map(bodiesOf(lines, 'custom_tool_delta').map((delta) => [delta.tool_name, delta]))
    expect(received.get('get-sum')).toMatchObject({
      tool_id: null,
      response_type: 'json',
      data: { tool_result: 'The sum of 19 and 23 is 42.' },
      error: null,
    })
    expect(received.get('echo')).toMatchObject({ data: { tool_result: 'Echo: hello' } })
    const [file] = received.get('get-tiny-image')!.file_ids!
    expect((await harness.fetch(`/chat/file/${file}`)).headers.get('content-type')).toBe('image/png')
    expect(harness.errors).toEqual([])

    // The id is what requests name it by, now and after the server was away.
    const forced = await harness.ask('And 1 and 2?', [calls(['get-sum', { a: 1, b: 2 }]), says('3.')], {
      forced_tool_id: sum.id,
    })
    record(forced)
    await everything.close()
    const failing = await harness.ask('And 2 and 3?', [calls(['get-sum', { a: 2, b: 3 }]), says('I cannot tell.')])
    expect(record(failing)).toContain('0.0 custom_tool_delta')
    expect(bodiesOf(failing, 'custom_tool_delta')).toMatchObject([
      { response_type: 'json', data: { error: expect.stringContaining('get-sum failed') }, error: null },
    ])
  })
})
