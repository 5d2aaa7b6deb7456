import { createTool } from '@mastra/core/tools'
import { describe, expect, test } from 'vitest'
import { mastraTools } from '@inlay/mastra'
import { z } from 'zod'
import { ana, inShort, newSetting } from '../agent/setting.ts'

const weather = createTool({
  id: 'weather',
  title: 'Weather',
  description: 'Tells the weather of a town.',
  inputSchema: z.object({ town: z.string().transform((town) => town.toUpperCase()) }),
  execute: async ({ town }, { abortSignal, requestContext, agent }) => ({
    town,
    hasSignal: abortSignal instanceof AbortSignal,
    caller: requestContext.get('caller'),
    callId: agent?.toolCallId,
  }),
})

const asksFor = (input: unknown) => [[{ call: { name: 'weather', input, id: 'c1' } }], ['Rain.']]

describe('a tool of Mastra', () => {
  test('is taken as it is: its schema, its title, its context', async () => {
    const { agent, send, model } = await newSetting(asksFor({ town: 'Oslo' }), { actions: mastraTools(weather) })
    const { tool_calls: calls } = await (await send()).whole()
    expect(calls[0]?.tool_arguments).toEqual({ town: 'Oslo' })
    expect(JSON.parse(calls[0]?.tool_result ?? '')).toEqual({
      town: 'OSLO',
      hasSignal: true,
      caller: ana,
      callId: 'c1',
    })
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'weather', inputSchema: { properties: { town: { type: 'string' } }, required: ['town'] } },
    ])
    expect((await agent.actions(ana)).map(({ displayName, builtIn }) => [displayName, builtIn])).toEqual([
      ['Weather', null],
    ])
  })

  test('is not run with arguments that do not fit', async () => {
    const { lines, model } = await newSetting(asksFor({ town: {} }), { actions: mastraTools(weather) })
    expect((await lines()).slice(2, 4).map(inShort)).toEqual(['0.0 custom_tool_start', '0.0 section_end'])
    expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('town')
  })

  test('says to the model what it wants to', async () => {
    const brief = createTool({
      id: 'weather',
      description: 'Tells the weather.',
      execute: async () => ({ long: 'x'.repeat(1_000) }),
      toModelOutput: () => ({ type: 'text', value: 'Rain, 9 degrees.' }),
    })
    const { send } = await newSetting(asksFor({}), { actions: mastraTools(brief) })
    expect((await (await send()).whole()).tool_calls[0]?.tool_result).toBe('Rain, 9 degrees.')
  })

  test('that throws fails its call alone', async () => {
    const broken = createTool({
      id: 'weather',
      description: 'Tells the weather.',
      execute: async () => {
        throw new Error('No station.')
      },
    })
    const { send } = await newSetting(asksFor({}), { actions: mastraTools(broken) })
    const whole = await (await send()).whole()
    expect(whole.tool_calls[0]?.tool_result).toBe('Tool failed with error: No station.')
    expect(whole.answer).toBe('Rain.')
  })

  test('that asks people before it runs needs their approval', () => {
    const careful = createTool({ id: 'wipe', description: 'Deletes.', requireApproval: true, execute: async () => 1 })
    const free = createTool({ id: 'look', description: 'Looks.', execute: async () => 1 })
    expect(mastraTools(careful, free).map(({ needsApproval }) => needsApproval)).toEqual([true, false])
  })
})
