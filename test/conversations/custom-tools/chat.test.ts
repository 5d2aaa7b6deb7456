import { expect, test } from 'vitest'
import type { AddressAnswer, FetchAddress } from '@inlay/conversations'
import type { Script } from '@inlay/agent/testing'
import { parseWith, personaCreationSchema } from '@inlay/protocol'
import * as streams from '../../protocol/fixtures/streams.ts'
import { orderFaults } from '../../agent/packet-order.ts'
import { ana, codeOf, findsAlways, newSetting, readAll } from '../../agent/setting.ts'

const bookings = {
  openapi: '3.1.0',
  info: { title: 'Bookings', description: 'Nights at the telescopes.' },
  servers: [{ url: 'https://bookings.example' }],
  paths: {
    '/domes/{dome}': {
      get: {
        operationId: 'findBooking',
        summary: 'Tells whether a dome is free.',
        parameters: [{ name: 'dome', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
}

function answering(status: number, body: unknown): { fetchAddress: FetchAddress; requests: string[] } {
  const requests: string[] = []
  const fetchAddress = async (url: string): Promise<AddressAnswer> => {
    requests.push(url)
    return { status, headers: new Headers(), bytes: new TextEncoder().encode(JSON.stringify(body)) }
  }
  return { fetchAddress, requests }
}

/** Removes what differs between runs and from the examples: ids and durations. */
function comparable(lines: readonly unknown[]): unknown {
  return JSON.parse(
    JSON.stringify(lines)
      .replace(/"(user_message_id|reserved_assistant_message_id|tool_id)":\d+/g, '"$1":0')
      .replace(/"pre_answer_processing_seconds":[\d.]+/g, '"pre_answer_processing_seconds":0'),
  )
}

async function play(script: Script, fetchAddress: FetchAddress) {
  const setting = await newSetting(script, { fetchAddress })
  const fields = {
    name: 'Bookings',
    description: '',
    definition: bookings,
    customHeaders: [],
    passesAuth: false,
    isForAll: true,
  }
  const { id } = await setting.agent.tools.create(fields, ana)
  const session = await setting.agent.sessions.create({}, ana)
  const run = await setting.send({ chat_session_id: session.id, forced_tool_id: id })
  const lines = await readAll(run)
  expect(orderFaults(lines)).toEqual([])
  return { ...setting, lines, whole: await run.whole(), id }
}

const call = (input: unknown) => [{ call: { name: 'findBooking', input } }]

test('a service that refuses the credentials is told as such, and the answer goes on', async () => {
  const { fetchAddress } = answering(401, { reason: 'token expired' })
  const answer = ['The booking could not be read:', ' its credentials were refused.']
  const { lines, whole } = await play([call({ dome: 'north' }), answer], fetchAddress)
  expect(comparable(lines)).toEqual(comparable(streams.refusedAction))
  expect(JSON.parse(whole.tool_calls[0]!.tool_result)).toMatchObject({
    tool_name: 'findBooking',
    response_type: 'json',
    tool_result: { reason: 'token expired' },
    error: { status_code: 401 },
  })
})

test('a call without its path argument asks nothing, and may be tried again', async () => {
  const { fetchAddress, requests } = answering(200, { free: true })
  const script = [call({}), call({ dome: 'north' }), ['The north dome is free.']]
  const { lines, model } = await play(script, fetchAddress)
  expect(comparable(lines)).toEqual(comparable(streams.repeatedAction))
  expect(requests).toEqual(['https://bookings.example/domes/north'])
  expect(JSON.stringify(model.requests[1]!.prompt.at(-1))).toContain('dome: is required')
})

test('an agent that uses a custom action keeps it from being removed', async () => {
  const { fetchAddress } = answering(200, {})
  const { agent, id } = await play([['Hello.']], fetchAddress)
  const texts = { name: 'Booker', description: '', system_prompt: '', task_prompt: '' }
  const given = { ...texts, document_set_ids: [], tool_ids: [id], datetime_aware: true }
  const persona = await agent.personas.create(parseWith(personaCreationSchema, given, 'body'), ana)
  await expect(agent.tools.remove(id)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  await agent.personas.remove(persona.id, ana)
  await agent.tools.remove(id)
  expect(await agent.tools.list()).toEqual([])
})

test('an action that is switched off is offered to nobody until it is on again', async () => {
  const { agent, send, model } = await newSetting([['One.'], ['Two.']], { search: findsAlways() })
  const offered = (): (string | undefined)[] => model.requests.at(-1)!.tools?.map(({ name }) => name) ?? []
  expect(await agent.tools.enable([1, 99], false)).toEqual([1])
  await (await send()).whole()
  expect(offered()).not.toContain('internal_search')
  expect(await codeOf(send({ forced_tool_id: 1 }))).toBe('VALIDATION_ERROR')
  expect((await agent.actions(ana)).map(({ id }) => id)).not.toContain(1)
  expect((await agent.actions(ana, { evenOff: true })).map(({ id }) => id)).toContain(1)
  expect(await agent.tools.enable([1], true)).toEqual([1])
  await (await send()).whole()
  expect(offered()).toContain('internal_search')
})

test('arguments are sent as the document declares them', async () => {
  const sent: unknown[] = []
  const fetchAddress: FetchAddress = async (_, request) => {
    sent.push(request?.body)
    return { status: 200, headers: new Headers(), bytes: new TextEncoder().encode('{}') }
  }
  const { agent, send } = await newSetting(
    [[{ call: { name: 'setLimit', input: { id: '7', requestBody: '{"limit":"5"}' } } }], ['Set.']],
    { fetchAddress },
  )
  const schema = { type: 'object', properties: { limit: { type: 'integer' } } }
  const put = {
    operationId: 'setLimit',
    summary: 'Sets a limit.',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    requestBody: { content: { 'application/json': { schema } } },
  }
  const definition = { ...bookings, paths: { '/limits/{id}': { put } } }
  const fields = { name: 'Limits', description: '', definition, customHeaders: [], passesAuth: false, isForAll: true }
  await agent.tools.create(fields, ana)
  expect((await (await send()).whole()).tool_calls).toMatchObject([
    { tool_arguments: { id: 7, requestBody: { limit: 5 } } },
  ])
  expect(sent).toEqual(['{"limit":5}'])
})
