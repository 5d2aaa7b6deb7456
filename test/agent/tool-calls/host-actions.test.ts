import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { defineAction, type HostAction } from '@inlay/agent/host-actions'
import type { InputSchema } from '@inlay/agent'
import { ana, inShort, newSetting, packetsOf } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const zodInput = z.object({ number: z.string().describe('As printed on the bill') })
const valibotInput = toStandardJsonSchema(v.object({ number: v.string() }))

const orderState = (input: InputSchema<{ number: string }>) =>
  defineAction({
    name: 'order_state',
    displayName: 'State of an order',
    description: 'Tells how far an order is.',
    input,
    run: async ({ number }, { caller }) => `Order ${number} of ${caller.id} is packed.`,
  })

const asksFor = (input: unknown) => [[{ call: { name: 'order_state', input } }], ['Packed.']]

const returning = (value: unknown) =>
  defineAction({
    name: 'order_state',
    description: 'Tells how far an order is.',
    input: zodInput,
    run: async () => value,
  })

function circular(): object {
  const order: Record<string, unknown> = {}
  order['self'] = order
  return order
}

describe('an action of the host', () => {
  test.each([
    ['zod', zodInput],
    ['valibot', valibotInput],
  ])('checks its arguments by any Standard Schema: %s', async (_name, input) => {
    const { send, model } = await newSetting(asksFor({ number: 'A-7' }), { actions: [orderState(input)] })
    const whole = await (await send()).whole()
    expect(whole.tool_calls).toMatchObject([
      {
        tool_name: 'order_state',
        tool_arguments: { number: 'A-7' },
        tool_result: 'Order A-7 of ana is packed.',
      },
    ])
    const [tool] = model.requests[0]?.tools ?? []
    expect(tool).toMatchObject({
      name: 'order_state',
      inputSchema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    })
  })

  test.each([null, '', 'null', '{}', []])('that takes no arguments runs with %j for them', async (input) => {
    const now = defineAction({ name: 'order_state', description: '', input: z.object({}), run: async () => 'Noon.' })
    const { send } = await newSetting(asksFor(input), { actions: [now] })
    expect((await (await send()).whole()).tool_calls).toMatchObject([{ tool_arguments: {}, tool_result: 'Noon.' }])
  })

  test('is told what is wrong with its arguments, not run', async () => {
    const { lines, model } = await newSetting(asksFor({ number: {} }), { actions: [orderState(zodInput)] })
    expect((await lines()).slice(2).map(inShort)).toEqual([
      '0.0 custom_tool_start',
      '0.0 section_end',
      '1.0 message_start null',
      '1.0 message_delta "Packed."',
      '1.0 stop null',
    ])
    expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('number')
  })

  test('shows as a custom tool: start, arguments, result', async () => {
    const action = orderState(valibotInput)
    const { lines } = await newSetting(asksFor({ number: 'A-7' }), { actions: [action] })
    expect(
      packetsOf(await lines())
        .map(({ obj }) => obj)
        .slice(0, 4),
    ).toEqual([
      { type: 'custom_tool_start', tool_name: 'order_state', tool_id: action.id },
      { type: 'custom_tool_args', tool_name: 'order_state', tool_args: { number: 'A-7' } },
      {
        type: 'custom_tool_delta',
        tool_name: 'order_state',
        tool_id: action.id,
        response_type: 'text',
        data: 'Order A-7 of ana is packed.',
        file_ids: null,
        error: null,
      },
      { type: 'section_end' },
    ])
  })

  test('runs with what its schema makes of the arguments, and shows them as the model gave them', async () => {
    const input = z.object({
      days: z.coerce.number().default(10),
      since: z.string().transform((text) => new Date(text)),
      count: z.string().transform(BigInt),
    })
    const run = vi.fn(async ({ days, since, count }: z.output<typeof input>) => `${days} ${since.getTime()} ${count}`)
    const action = defineAction({ name: 'order_state', description: 'Tells how far an order is.', input, run })
    const given = { since: '1970-01-01T00:00:01Z', count: '7' }
    const { lines } = await newSetting(asksFor(given), { actions: [action] })
    const packets = packetsOf(await lines()).map(({ obj }) => obj)
    expect(packets.find(({ type }) => type === 'custom_tool_args')).toMatchObject({ tool_args: given })
    expect(packets.find(({ type }) => type === 'custom_tool_delta')).toMatchObject({ data: '10 1000 7' })
  })

  test('that gives JSON shows it as such, and shows it again when the session is read', async () => {
    const action = scriptedAction({ id: 5, name: 'order_state', result: { text: '{"state":"packed"}' } })
    const { agent, send } = await newSetting(asksFor({}), { actions: [action] })
    const run = await send()
    await run.whole()
    const { packets } = await agent.sessions.get(run.sessionId, ana)
    expect(packets[0]?.map(({ obj }) => obj).slice(0, 3)).toEqual([
      { type: 'custom_tool_start', tool_name: 'order_state', tool_id: 5 },
      expect.objectContaining({ type: 'custom_tool_delta', response_type: 'json', data: { state: 'packed' } }),
      { type: 'section_end' },
    ])
  })

  test('that tells its own result is not told twice', async () => {
    const own = {
      type: 'custom_tool_delta',
      tool_name: 'order_state',
      tool_id: 5,
      response_type: 'json',
      data: { seen: true },
      file_ids: null,
      error: null,
    } as const
    const action = scriptedAction({ id: 5, name: 'order_state', packets: [own] })
    const { lines } = await newSetting(asksFor({}), { actions: [action] })
    const deltas = packetsOf(await lines()).filter(({ obj }) => obj.type === 'custom_tool_delta')
    expect(deltas.map(({ obj }) => obj)).toEqual([own])
  })

  test.each<[string, unknown, string]>([
    ['an object', { state: 'packed' }, '{"state":"packed"}'],
    ['an object whose text is no text', { text: 7 }, '{"text":7}'],
    ['a result with a field of its own', { text: 'packed', secret: 'key' }, 'packed'],
    ['a list', [1, { a: 2 }], '[1,{"a":2}]'],
    ['a number', 7.5, '7.5'],
    ['true', true, 'true'],
    ['null', null, 'null'],
    ['nothing', undefined, 'The tool has run and returned nothing.'],
    ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a BigInt', { total: 2n ** 70n }, '{"total":"1180591620717411303424"}'],
    ['text', 'packed', 'packed'],
  ])('that returns %s gives the model JSON, and the call is stored', async (_name, value, result) => {
    for (const action of [returning(value), { ...returning(value), run: async () => value as never }]) {
      const { agent, send, model, errors } = await newSetting(asksFor({ number: 'A-7' }), { actions: [action] })
      const run = await send()
      expect(await run.whole()).toMatchObject({
        answer: 'Packed.',
        error_msg: null,
        tool_calls: [{ tool_result: result }],
      })
      expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain(JSON.stringify(result).slice(1, -1))
      const { messages, packets } = await agent.sessions.get(run.sessionId, ana)
      expect(messages.at(-1)).toMatchObject({ text: 'Packed.', error: null, failedCalls: [] })
      expect(packets[0]?.[0]?.obj.type).toBe('custom_tool_start')
      expect(errors).toEqual([])
    }
  })

  test.each<[string, unknown, string]>([
    ['an object that holds itself', circular(), 'refers to itself'],
    ['a function', () => 1, 'is a function'],
    ['a symbol', Symbol('x'), 'is a symbol'],
    ['a Map', { orders: new Map([['A-7', 1]]) }, 'holds a Map, which has no JSON form'],
    ['a Response', new Response('packed'), 'holds a Response, which has no JSON form'],
  ])('that returns %s fails its call in clear words, and the reason is stored', async (_name, value, words) => {
    const { agent, send } = await newSetting(asksFor({ number: 'A-7' }), { actions: [returning(value)] })
    const run = await send()
    const whole = await run.whole()
    expect(whole).toMatchObject({ answer: 'Packed.', error_msg: null })
    expect(whole.tool_calls[0]?.tool_result).toMatch(/^Tool failed with error: The result of the action order_state /)
    expect(whole.tool_calls[0]?.tool_result).toContain(words)
    const { messages } = await agent.sessions.get(run.sessionId, ana)
    expect(messages.at(-1)?.failedCalls).toMatchObject([{ turnIndex: 0, tabIndex: 0, name: 'order_state' }])
    expect(messages.at(-1)?.failedCalls[0]?.reason).toContain(words)
  })

  test('that throws tells the model, not the stream, and the run goes on', async () => {
    const action = scriptedAction({ id: 5, name: 'order_state', fails: new Error('The shop is closed.') })
    const { lines, model, errors } = await newSetting(asksFor({}), { actions: [action] })
    expect((await lines()).slice(2, 5).map(inShort)).toEqual([
      '0.0 custom_tool_start',
      '0.0 section_end',
      '1.0 message_start null',
    ])
    expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('The shop is closed.')
    expect(errors).toEqual([new Error('The shop is closed.')])
  })
})

test('an id that is not given follows from the name, so that clients can keep it', () => {
  expect(orderState(zodInput).id).toBe(orderState(valibotInput).id)
  expect(orderState(zodInput).id).toBeGreaterThanOrEqual(1_000_000)
})

test.each<[string, HostAction, string]>([
  ['a schema that gives no JSON Schema', { ...orderState(zodInput), input: v.object({}) as never }, 'VALIDATION_ERROR'],
  ['a name no model could use', { ...orderState(zodInput), name: 'state of order' }, 'VALIDATION_ERROR'],
])('%s is refused when the agent is made', async (_what, action, code) => {
  await expect(newSetting([], { actions: [action] })).rejects.toMatchObject({ code })
})
