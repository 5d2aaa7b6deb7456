import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call, find, lookUp, newClient, saying, standIn, usual, type Handle } from './client-fixture.ts'

type Respond = (message: { id?: number }, response: ServerResponse) => unknown

const json =
  (status: number, body: unknown): Respond =>
  ({ id }, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body).replace('"<id>"', String(id)))
const error = (status: number, code: number, message: string, id: unknown = '<id>'): Respond =>
  json(status, { jsonrpc: '2.0', id, error: { code, message } })
const endedStream: Respond = (_, response) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': working\n\n')
const reset: Respond = (_, response) => response.socket?.resetAndDestroy()

/** A server whose first calls fail in some way; `calls` counts all. */
async function failing(respond: Respond, times = 1, annotations = {}) {
  const count = { calls: 0 }
  const handle: Handle = (message, response) => {
    count.calls++
    if (count.calls > times) return saying('found')
    respond(message, response)
    // Told that the response is written, also where it never will be.
    if (!response.headersSent) Object.defineProperty(response, 'headersSent', { value: true })
    return undefined
  }
  const tool = { ...lookUp, annotations }
  const { server, seen } = await standIn(usual({ 'tools/call': handle, 'tools/list': () => ({ tools: [tool] }) }))
  const { client } = newClient([server])
  const action = await find(client, 'look_up')
  const opened = (): number => seen.filter(({ method }) => method === 'initialize').length
  return { action, count, opened, before: opened() }
}

describe('a session that the server forgot is opened anew once, and the call repeated, when it says so by', () => {
  test.each([
    ['200 and "Session not found"', error(200, -32_001, 'Session not found')],
    ['200 and an expired session', error(200, -32_000, 'Session 5f1c expired')],
    ['400 and "No valid session ID provided"', error(400, -32_000, 'Bad Request: No valid session ID provided', null)],
    ['400 and an id of its own', error(400, -32_600, 'Bad Request: Invalid session ID', 'server-error')],
    ['400 and "Server not initialized"', error(400, -32_000, 'Bad Request: Server not initialized', null)],
    ['404 and a terminated session', error(404, -32_600, 'Session has been terminated', null)],
    ['404 and text', (_: unknown, response: ServerResponse) => response.writeHead(404).end('gone')],
    ['400 and a page', (_: unknown, response: ServerResponse) => response.writeHead(400).end('<html>')],
  ])('%s', async (_, respond) => {
    const { action, count, opened, before } = await failing(respond)
    const { delta } = await call(action, {})
    expect(delta?.data).toEqual({ tool_result: 'found' })
    expect([count.calls, opened() - before]).toEqual([2, 2])
  })
})

test('a session that is lost again and again is opened anew once for each call', async () => {
  const { action, count, opened, before } = await failing(error(200, -32_001, 'Session not found'), 99)
  const { delta } = await call(action, {})
  expect(delta?.data).toEqual({ error: 'look_up failed: The MCP server does not know the session any more.' })
  expect([count.calls, opened() - before]).toEqual([2, 2])
})

describe.each([
  ['a stream that ends', endedStream],
  ['a connection that breaks', reset],
  ['an error inside', error(200, -32_603, 'Session closed unexpectedly')],
])('a call that may have run, at %s,', (_, respond) => {
  test('is not repeated, is told to the model, and the next one has a session of its own', async () => {
    const { action, count, opened, before } = await failing(respond)
    const first = await call(action, {})
    expect(first.delta?.data).toEqual({ error: 'look_up failed: The connection to the MCP server was lost.' })
    expect(count.calls).toBe(1)
    const second = await call(action, {})
    expect(second.delta?.data).toEqual({ tool_result: 'found' })
    expect([count.calls, opened() - before]).toEqual([2, 2])
  })

  test.each([{ readOnlyHint: true }, { idempotentHint: true }])('is repeated once where %o', async (annotations) => {
    const { action, count } = await failing(respond, 1, annotations)
    const { delta } = await call(action, {})
    expect(delta?.data).toEqual({ tool_result: 'found' })
    expect(count.calls).toBe(2)
    const stubborn = await failing(respond, 99, annotations)
    await call(stubborn.action, {})
    expect(stubborn.count.calls).toBe(2)
  })
})

describe('what a refusal says is read by the model', () => {
  test.each([
    ['400', error(400, -32_602, 'q must not be empty'), 'q must not be empty'],
    ['400 about an argument of that name', error(400, -32_602, 'session_id is invalid'), 'session_id is invalid'],
    ['422', error(422, -32_602, 'q must not be empty', null), 'q must not be empty'],
    ['500', error(500, -32_603, 'The disk is full', null), 'The disk is full'],
    ['404', error(404, -32_601, 'No such tool'), 'No such tool'],
  ])('%s', async (_, respond, reason) => {
    const { action, count } = await failing(respond)
    const { delta } = await call(action, {})
    expect(delta?.data).toEqual({ error: `look_up failed: ${reason}` })
    expect(count.calls).toBe(1)
  })
})

describe('an answer is found among', () => {
  const answer = (id: unknown): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: saying('here') })}\n\n`
  test.each([
    ['events of other kinds', (id: number) => `event: ping\ndata: keepalive\n\n: comment\n\n${answer(id)}`],
    ['signs of life', (id: number) => `data: keepalive\n\ndata: {}\n\n${answer(id)}`],
    ['answers to other requests', (id: number) => answer(9_999) + answer(id)],
    ['messages with ids as text', (id: number) => answer(String(id))],
  ])('%s', async (_, body) => {
    const { action } = await failing(({ id }, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body(id!)),
    )
    const { delta } = await call(action, {})
    expect(delta?.data).toEqual({ tool_result: 'here' })
  })
})
