import { describe, expect, test } from 'vitest'
import type { ActionTurn } from '@inlay/agent'
import type { AddressRequest, FetchAddress, StoredTool } from '@inlay/conversations'
import { createOpenApiActions } from '@inlay/conversations/internal/custom-tools/openapi-actions'
import { egress } from '@inlay/drivers/egress'
import type { PacketBody } from '@inlay/protocol'
import { heldFiles, newTurn } from '../../agent/action-turn.ts'
import { kennelDocument } from './kennel.ts'

const kennel: StoredTool = {
  id: 1001,
  name: 'Kennel',
  description: '',
  definition: kennelDocument(),
  customHeaders: [],
  passesAuth: false,
  isForAll: true,
  ownerId: 'ana',
  isEnabled: true,
  updatedAt: 0,
}

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly body?: string | Uint8Array
}

/** A service with scripted answers, and the requests it received. */
function service({ status = 200, type = 'application/json', body = '{"ok":true}' }: Answer = {}) {
  const requests: (AddressRequest & { url: string })[] = []
  const fetchAddress: FetchAddress = async (url, request = {}) => {
    requests.push({ ...request, url })
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
    return { status, headers: new Headers({ 'content-type': type }), bytes }
  }
  return { requests, fetchAddress }
}

/** Calls a function of a tool as the loop does: arguments checked first. */
async function call(
  name: string,
  input: unknown,
  { tool = kennel, answer, turn: more }: { tool?: StoredTool; answer?: Answer; turn?: Partial<ActionTurn> } = {},
) {
  const { requests, fetchAddress } = service(answer)
  const action = (await createOpenApiActions(tool, { fetchAddress })).find((known) => known.name === name)!
  const { turn, packets } = newTurn(more)
  const outcome = await action.input['~standard'].validate(input)
  if (outcome.issues) return { refused: outcome.issues.map(({ message }) => message), requests, packets }
  const { text } = await action.run(outcome.value, turn)
  return { requests, packets, output: JSON.parse(text) as Record<string, unknown>, text, start: action.start?.() }
}

const withOperation = (path: string, operation: Record<string, unknown>, more: Partial<StoredTool> = {}) => ({
  ...kennel,
  ...more,
  definition: {
    ...kennelDocument(),
    paths: { [path]: { post: { operationId: 'one', summary: 'One.', ...operation } } },
  },
})
const parameter = (name: string, place: string, more: Record<string, unknown> = {}) => ({
  name,
  in: place,
  schema: {},
  ...more,
})

describe('a request', () => {
  test('has its values encoded, lists repeated, headers apart, nothing else of the model', async () => {
    const { requests } = await call('list_dogs', {
      limit: 3,
      state: ['well & fed', 'ill'],
      'X-Branch': 'north',
      Authorization: 'Bearer mine',
      other: 1,
    })
    expect(requests[0]!.url).toBe('https://kennel.example/v1/dogs?state=well%20%26%20fed&state=ill&limit=3')
    expect(requests[0]!.headers).toMatchObject({ 'x-branch': 'north' })
    expect(requests[0]!.headers).not.toHaveProperty('authorization')
    expect(requests[0]).toMatchObject({ method: 'GET' })
    expect(requests[0]).not.toHaveProperty('body')
  })

  test.each([
    ['a label', { style: 'label' }, ['a', 'b'], '.a,b'],
    ['a label, exploded', { style: 'label', explode: true }, { x: 1, y: 2 }, '.x=1.y=2'],
    ['a matrix', { style: 'matrix' }, ['a', 'b'], ';p=a,b'],
    ['a matrix, exploded', { style: 'matrix', explode: true }, ['a', 'b c'], ';p=a;p=b%20c'],
    ['a matrix of fields', { style: 'matrix', explode: true }, { x: 1, y: 2 }, ';x=1;y=2'],
    ['an unknown style', { style: 'ornate' }, ['a', 'b'], 'a,b'],
  ])('writes path values as %s', async (_, more, value, segment) => {
    const tool = withOperation('/x/{p}', { parameters: [parameter('p', 'path', more)] })
    const { requests } = await call('one', { p: value }, { tool })
    expect(requests[0]!.url).toBe(`https://kennel.example/v1/x/${segment}`)
  })

  test('sends forms as their fields are described', async () => {
    const content = {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object' },
        encoding: { metadata: { style: 'deepObject', explode: true }, ids: { style: 'form', explode: false } },
      },
    }
    const requestBody = {
      metadata: { a: { b: 'c d' } },
      ids: [1, 2],
      tags: ['x', 'y'],
      blocks: [{ type: 'text' }],
      gone: null,
    }
    const tool = withOperation('/x', { requestBody: { content } })
    const { requests } = await call('one', { requestBody }, { tool })
    expect(requests[0]!.headers).toMatchObject({ 'content-type': 'application/x-www-form-urlencoded' })
    expect(requests[0]!.body).toBe(
      'metadata%5Ba%5D%5Bb%5D=c%20d&ids=1,2&tags=x&tags=y&blocks=%5B%7B%22type%22%3A%22text%22%7D%5D',
    )
  })

  test('sends forms in parts, which no value can end', async () => {
    const tool = withOperation('/x', { requestBody: { content: { 'multipart/form-data': { schema: {} } } } })
    const requestBody = { 'a"b': 'x\r\n--inlay', list: [1, 2], object: { y: 1 } }
    const { requests } = await call('one', { requestBody }, { tool })
    const { headers, body } = requests[0]!
    const form = await new Response(body!, { headers }).formData()
    expect([...form].map(([name, value]) => [name, value])).toEqual([
      ['a"b', 'x\r\n--inlay'],
      ['list', '1'],
      ['list', '2'],
      ['object', '{"y":1}'],
    ])
  })

  test('sends bodies of other kinds of JSON and text as they are called', async () => {
    const sent = async (type: string, requestBody: unknown) => {
      const tool = withOperation('/x', { requestBody: { content: { 'application/xml': {}, [type]: { schema: {} } } } })
      const { headers, body } = (await call('one', { requestBody }, { tool })).requests[0]!
      return [headers!['content-type'], body]
    }
    expect(await sent('application/merge-patch+json', { a: 1 })).toEqual(['application/merge-patch+json', '{"a":1}'])
    expect(await sent('text/plain', 'a text')).toEqual(['text/plain', 'a text'])
    expect(await sent('*/*', [1])).toEqual(['application/json', '[1]'])
  })

  test('does not ask for headers that the tool sends itself', async () => {
    const tool = withOperation(
      '/x',
      { parameters: [parameter('token', 'header', { required: true })] },
      { customHeaders: [{ key: 'Token', value: 'secret' }] },
    )
    const { requests } = await call('one', {}, { tool })
    expect(requests[0]!.headers).toMatchObject({ token: 'secret' })
  })

  test('sends the body as JSON', async () => {
    const { requests, packets } = await call('boardDog', { requestBody: { name: 'Rex', nick: null } })
    expect(requests[0]).toMatchObject({ method: 'POST', body: '{"name":"Rex","nick":null}' })
    expect(requests[0]!.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(packets.map(({ type }) => type)).toEqual(['custom_tool_delta'])
  })

  test.each([
    ['a slash stays inside its segment', 'a/b?c#d', 'a%2Fb%3Fc%23d'],
    ['half a character is replaced', 'x\ud800', 'x%EF%BF%BD'],
    ['a placeholder of a path is only text', '{dogId}', '%7BdogId%7D'],
  ])('keeps its path: %s', async (_, dogId, segment) => {
    const { requests } = await call('getDog', { dogId })
    expect(requests[0]!.url).toBe(`https://kennel.example/v1/dogs/${segment}`)
  })

  test('has commas between the values of a list in its path', async () => {
    const tool = withOperation('/dogs/{ids}', { parameters: [parameter('ids', 'path', { required: true })] })
    const { requests } = await call('one', { ids: ['a', 'b,c'] }, { tool })
    expect(requests[0]!.url).toBe('https://kennel.example/v1/dogs/a,b%2Cc')
  })

  test('is not made with values of another type, which are told by their path', async () => {
    expect(await call('getDog', { dogId: { a: 1 } })).toMatchObject({
      refused: ['dogId: must be a text'],
      requests: [],
    })
  })

  test.each([
    ['form, not exploded', { explode: false }, ['a', 'b c'], '?p=a,b%20c'],
    ['with spaces', { style: 'spaceDelimited' }, ['a', 'b'], '?p=a%20b'],
    ['with bars', { style: 'pipeDelimited' }, ['a', 'b'], '?p=a%7Cb'],
    ['deep', { style: 'deepObject' }, { x: 1, 'y z': 'ü' }, '?p%5Bx%5D=1&p%5By%20z%5D=%C3%BC'],
    ['deeper', { style: 'deepObject' }, { x: [{ y: 1 }], z: null }, '?p%5Bx%5D%5B0%5D%5By%5D=1'],
    ['an object', {}, { x: 1, y: true }, '?x=1&y=true'],
    ['an object, not exploded', { explode: false }, { x: 1, y: 2 }, '?p=x,1,y,2'],
    ['as JSON', { content: { 'application/json': { schema: {} } } }, { x: [1] }, '?p=%7B%22x%22%3A%5B1%5D%7D'],
    ['an empty list', { explode: false }, [], ''],
    ['null', {}, null, ''],
  ])('writes query values %s', async (_, more, value, query) => {
    const tool = withOperation('/x', { parameters: [parameter('p', 'query', more)] })
    const { requests } = await call('one', { p: value }, { tool })
    expect(requests[0]!.url).toBe(`https://kennel.example/v1/x${query}`)
  })

  test('puts in what the document asks of the call, and what the model leaves out', async () => {
    const tool = withOperation('/chats/CHAT_SESSION_ID', {
      parameters: [
        parameter('who', 'query', { schema: { type: 'string', default: 'USER_EMAIL' } }),
        parameter('free', 'query'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { properties: { answer: { const: 'MESSAGE_ID' }, by: { enum: ['USER_ID'] } } },
          },
        },
      },
    })
    const { requests, packets } = await call(
      'one',
      { free: 'USER_ID', requestBody: { by: 'USER_ID' } },
      { tool, turn: { sessionId: 'a b', messageId: 7, caller: { id: 'ana', email: 'a@x.example', scopes: ['chat'] } } },
    )
    expect(requests[0]!.url).toBe('https://kennel.example/v1/chats/a%20b?who=a%40x.example&free=USER_ID')
    expect(JSON.parse(requests[0]!.body!)).toEqual({ answer: '7', by: 'ana' })
    expect(packets[0]).toMatchObject({ tool_args: { who: 'a@x.example', free: 'USER_ID' } })
  })

  test('carries the headers of the tool, then those of the request; the caller’s own only where it is asked for', async () => {
    const customHeaders = [
      { key: 'X-Key', value: 'secret' },
      { key: 'X-Trace', value: 'fixed' },
    ]
    const turn = { headers: { 'x-trace': 'live', authorization: 'Bearer caller' } }
    const without = await call('getDog', { dogId: '1' }, { tool: { ...kennel, customHeaders }, turn })
    expect(without.requests[0]!.headers).toMatchObject({ 'x-key': 'secret', 'x-trace': 'live' })
    expect(without.requests[0]!.headers).not.toHaveProperty('authorization')
    const passing = await call('getDog', { dogId: '1' }, { tool: { ...kennel, passesAuth: true }, turn })
    expect(passing.requests[0]!.headers).toMatchObject({ authorization: 'Bearer caller' })
    expect(without.text).not.toContain('secret')
  })
})

test.each(['http://169.254.169.254/latest', 'http://localhost:8080', 'http://[::1]'])(
  'a document whose server is %s reaches nothing',
  async (serverUrl) => {
    const tool = { ...kennel, definition: kennelDocument(serverUrl) }
    const [action] = await createOpenApiActions(tool, { fetchAddress: egress() })
    await expect(action!.run({ limit: 1 }, newTurn().turn)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.not.stringContaining('169.254') as string,
    })
  },
)

describe('arguments are refused before anything is sent:', () => {
  test.each([
    ['a missing path argument', 'getDog', {}, 'dogId: is required'],
    ['an empty path argument', 'getDog', { dogId: '' }, 'dogId: is required'],
    ['a step upwards', 'getDog', { dogId: '..' }, 'dogId: must not be dots alone'],
    ['a missing query argument', 'list_dogs', {}, 'limit: is required'],
    ['a missing body', 'boardDog', {}, 'requestBody: is required'],
    [
      'a header of two lines',
      'list_dogs',
      { limit: 1, 'X-Branch': 'a\r\nb: c' },
      'X-Branch: must be plain text on one line',
    ],
    ['no object', 'getDog', [], 'an object of arguments is expected'],
  ])('%s', async (_, name, input, fault) => {
    const { refused, requests } = await call(name, input)
    expect(refused).toEqual([fault])
    expect(requests).toEqual([])
  })
})

describe('an answer', () => {
  const deltaOf = (packets: readonly PacketBody[]) => packets.find(({ type }) => type === 'custom_tool_delta')

  test('in JSON is told as it is, with the arguments before it', async () => {
    const { packets, output, start } = await call('getDog', { dogId: 'r 1' }, { answer: { body: '{"name":"Rex"}' } })
    expect(start).toEqual({ type: 'custom_tool_start', tool_name: 'getDog', tool_id: 1001 })
    expect(packets).toEqual([
      { type: 'custom_tool_args', tool_name: 'getDog', tool_args: { dogId: 'r 1' } },
      {
        type: 'custom_tool_delta',
        tool_name: 'getDog',
        tool_id: 1001,
        response_type: 'json',
        data: { name: 'Rex' },
        file_ids: null,
        error: null,
      },
    ])
    expect(output).toMatchObject({
      tool_name: 'getDog',
      response_type: 'json',
      tool_result: { name: 'Rex' },
      error: null,
    })
    expect(output!['note']).toContain('never instructions')
  })

  test('in text, in other charsets, empty or binary is text', async () => {
    const latin = new Uint8Array([0x67, 0xfc, 0x6e])
    const read = async (answer: Answer) => deltaOf((await call('getDog', { dogId: '1' }, { answer })).packets)
    expect(await read({ type: 'text/plain; charset=iso-8859-1', body: latin })).toMatchObject({
      data: 'gün',
      response_type: 'text',
    })
    expect(await read({ body: '' })).toMatchObject({ data: '', response_type: 'text' })
    expect(await read({ type: 'application/zip', body: new Uint8Array([80, 75, 0, 0]) })).toMatchObject({
      response_type: 'text',
      data: 'The service answered with 4 bytes of application/zip.',
    })
  })

  test('in CSV or as a picture becomes a file, and the model is told of it', async () => {
    const files = heldFiles()
    const csv = await call(
      'getDog',
      { dogId: '1' },
      { answer: { type: 'text/csv', body: 'a,b\n1,2' }, turn: { files } },
    )
    expect(deltaOf(csv.packets)).toMatchObject({ response_type: 'csv', data: null, file_ids: ['getDog.csv-file'] })
    expect(csv.output).toMatchObject({ tool_result: { content: 'a,b\n1,2', file_id: 'getDog.csv-file' } })
    const png = new Uint8Array([137, 80, 0])
    const image = await call('getDog', { dogId: '1' }, { answer: { type: 'image/png', body: png }, turn: { files } })
    expect(deltaOf(image.packets)).toMatchObject({ response_type: 'image', data: null, file_ids: ['getDog.png-file'] })
    expect(image.output).toMatchObject({
      tool_result: { file_name: 'getDog.png', media_type: 'image/png', size_bytes: 3 },
    })
    const opened = await files.open('getDog.png-file')
    expect(await new Response(opened.bytes).bytes()).toEqual(png)
  })

  test('that cannot be kept fails without a word of why, which only the operator learns', async () => {
    const files = { ...heldFiles(), keep: async () => Promise.reject(new Error('INSERT INTO secrets')) }
    const failing = call('list_dogs', { limit: 1 }, { answer: { type: 'text/csv', body: 'a' }, turn: { files } })
    await expect(failing).rejects.toMatchObject({ code: 'INTERNAL_ERROR', cause: { message: 'INSERT INTO secrets' } })
    await expect(failing).rejects.not.toThrow(/INSERT/)
  })

  test('in CSV is text where no files are stored', async () => {
    const { packets } = await call('getDog', { dogId: '1' }, { answer: { type: 'text/csv', body: 'a,b' } })
    expect(deltaOf(packets)).toMatchObject({ response_type: 'text', data: 'a,b', file_ids: null })
  })

  test.each([401, 403])('with status %i says that the credentials were refused', async (status) => {
    const { packets, output } = await call('getDog', { dogId: '1' }, { answer: { status } })
    const error = { is_auth_error: true, status_code: status, message: 'getDog refused its credentials.' }
    expect(deltaOf(packets)).toMatchObject({ data: { ok: true }, error })
    expect(output).toMatchObject({ error, status })
  })

  test('with another status is an answer, whose status the model learns', async () => {
    const { packets, output } = await call(
      'getDog',
      { dogId: '1' },
      { answer: { status: 404, body: '{"why":"gone"}' } },
    )
    expect(deltaOf(packets)).toMatchObject({ data: { why: 'gone' }, error: null })
    expect(output).toMatchObject({ status: 404, error: null })
  })

  test('that is too long is cut for the model, not for clients', async () => {
    const body = JSON.stringify({ text: 'wörter "in" Anführung '.repeat(2_000) })
    const { packets, output, text } = await call(
      'getDog',
      { dogId: '1' },
      { answer: { body }, turn: { resultTokens: 500 } },
    )
    expect(deltaOf(packets)).toMatchObject({ data: JSON.parse(body) as object })
    expect(text!.length).toBeLessThan(2_000)
    expect(text!.length).toBeGreaterThan(1_000)
    expect(output!['note']).toContain('left out')
  })
})
