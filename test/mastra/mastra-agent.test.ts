import { Agent } from '@mastra/core/agent'
import { MockMemory } from '@mastra/core/memory'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { scriptedModel } from '@inlay/agent/testing'
import { mastraAgent } from '@inlay/mastra'
import { ana, eventually, findsAlways, inShort, newPassage, newSetting, packetsOf, readAll } from '../agent/setting.ts'
import { newHostAgent } from './host-agent.ts'
import { recordSpans } from './tracing.ts'

const weather = createTool({
  id: 'weather',
  description: 'Returns the weather of a town.',
  inputSchema: z.object({ town: z.string() }),
  execute: async ({ town }) => {
    if (town === 'Atlantis') throw new Error('No station.')
    return { town, weather: 'rain' }
  },
})
const askWeather = (...towns: unknown[]) => ({ calls: towns.map((town) => ({ name: 'weather', input: { town } })) })

describe('an agent of Mastra', () => {
  test('is listed for everybody, and nobody changes it', async () => {
    const { agent, personaId } = await newHostAgent([])
    const listed = await agent.personas.list(ana)
    expect(listed.map(({ name, description }) => [name, description])).toContainEqual(['Guide', 'Knows the weather.'])
    await expect(agent.personas.update(personaId, { name: 'Mine' }, ana)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await expect(agent.personas.remove(personaId, ana)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('answers by its own instructions; reasoning and text stream', async () => {
    const { ask, model } = await newHostAgent([[{ reasoning: ['Hm', '.'] }, 'Hello ', 'there.']])
    const lines = await readAll(await ask())
    expect(lines.slice(2).map(inShort)).toEqual([
      '0.0 reasoning_start',
      '0.0 reasoning_delta "Hm"',
      '0.0 reasoning_delta "."',
      '0.0 reasoning_done',
      '1.0 message_start null',
      '1.0 message_delta "Hello "',
      '1.0 message_delta "there."',
      '1.0 stop null',
    ])
    expect(model.requests[0]?.prompt[0]).toMatchObject({ role: 'system', content: 'You are the guide of the host.' })
  })

  test('calls its tools: arguments, results and failures stand at their place', async () => {
    const { ask, agent } = await newHostAgent([['Looking. ', askWeather('Oslo', 'Atlantis', 5)], ['Rain.']], {
      tools: { weather },
    })
    const run = await ask()
    const packets = packetsOf(await readAll(run))
    expect(packets.find(({ obj }) => obj.type === 'top_level_branching')?.obj).toMatchObject({
      num_parallel_branches: 3,
    })
    const at = (tab: number) => packets.filter(({ placement }) => placement.tab_index === tab).map(({ obj }) => obj)
    expect(at(1)).toMatchObject([
      { type: 'custom_tool_start', tool_name: 'weather' },
      { type: 'custom_tool_args', tool_args: { town: 'Oslo' } },
      { type: 'custom_tool_delta', response_type: 'json', data: { town: 'Oslo', weather: 'rain' } },
      { type: 'section_end' },
    ])
    for (const tab of [2, 3])
      expect(at(tab).map(({ type }) => type)).toEqual(['custom_tool_start', 'custom_tool_args', 'section_end'])
    const whole = await run.whole()
    expect(whole.answer).toBe('Rain.')
    expect(whole.tool_calls.map(({ tool_result: result }) => result)).toContain('{"town":"Oslo","weather":"rain"}')
    const stored = await agent.sessions.get(run.sessionId, ana)
    expect(JSON.stringify(stored)).toContain('custom_tool_delta')
    expect(stored.messages.at(-1)?.failedCalls).toMatchObject([
      { tabIndex: 2, name: 'weather', reason: 'No station.' },
      { tabIndex: 3, name: 'weather', reason: expect.stringContaining('town') },
    ])
  })

  test('shows a sub-agent as a branch with its own calls and its report', async () => {
    const reader = new Agent({
      id: 'reader',
      name: 'Reader',
      description: 'Reads.',
      instructions: 'Read.',
      model: scriptedModel([[askWeather('Oslo')], ['It ', 'rains.']]) as never,
      tools: { weather },
    })
    const call = { call: { name: 'agent-reader', input: { prompt: 'Weather in Oslo?' } } }
    const { ask } = await newHostAgent([[call], ['Done.']], { agents: { reader } })
    const run = await ask()
    const packets = packetsOf(await readAll(run))
    expect(packets.map(({ placement, obj }) => `${placement.sub_turn_index ?? '-'} ${obj.type}`)).toEqual([
      '- research_agent_start',
      '0 custom_tool_start',
      '0 custom_tool_args',
      '0 custom_tool_delta',
      '0 section_end',
      '- intermediate_report_start',
      '- intermediate_report_delta',
      '- intermediate_report_delta',
      '- intermediate_report_cited_docs',
      '- section_end',
      '- message_start',
      '- message_delta',
      '- stop',
    ])
    expect(packets[0]?.obj).toMatchObject({ research_task: 'Weather in Oslo?' })
    expect((await run.whole()).answer).toBe('Done.')
  })

  test('runs a workflow as a tool', async () => {
    const town = z.object({ town: z.string() })
    const look = createStep({
      id: 'look',
      inputSchema: town,
      outputSchema: z.object({ sky: z.string() }),
      execute: async ({ inputData }) => ({ sky: `grey over ${inputData.town}` }),
    })
    const forecast = createWorkflow({ id: 'forecast', inputSchema: town, outputSchema: z.object({ sky: z.string() }) })
      .then(look)
      .commit()
    const call = { call: { name: 'workflow-forecast', input: { inputData: { town: 'Oslo' } } } }
    const { ask } = await newHostAgent([[call], ['Grey.']], { workflows: { forecast } as never })
    const whole = await (await ask()).whole()
    expect(whole.answer).toBe('Grey.')
    expect(whole.tool_calls[0]?.tool_result).toContain('grey over Oslo')
  })

  test('answers in a structure: its JSON is the text', async () => {
    const stream = { structuredOutput: { schema: z.object({ town: z.string() }) } }
    const { ask } = await newHostAgent([['{"town":', '"Oslo"}']], {}, { stream })
    expect(JSON.parse((await (await ask()).whole()).answer)).toEqual({ town: 'Oslo' })
  })

  test('gets the whole conversation where it has no memory', async () => {
    const { ask, model } = await newHostAgent([['I am Guide.'], ['Again.']])
    const first = await ask({ message: 'Who are you?' })
    await first.whole()
    await (await ask({ message: 'Again?', chat_session_id: first.sessionId })).whole()
    expect(JSON.stringify(model.requests[1]?.prompt)).toMatch(/Who are you\?.*I am Guide\..*Again\?/)
  })

  test('remembers by a memory of its own, in a thread per session', async () => {
    const memory = new MockMemory()
    const { ask, model } = await newHostAgent([['I am Guide.'], ['Again.'], ['New.']], { memory })
    const first = await ask({ message: 'Who are you?' })
    await first.whole()
    await (await ask({ message: 'Again?', chat_session_id: first.sessionId })).whole()
    const prompt = JSON.stringify(model.requests[1]?.prompt)
    expect(prompt.match(/Who are you\?/g)).toHaveLength(1)
    expect(prompt).toContain('I am Guide.')
    expect(await memory.getThreadById({ threadId: first.sessionId })).toMatchObject({ resourceId: 'ana' })
    await (await ask({ message: 'Something else' })).whole()
    expect(JSON.stringify(model.requests[2]?.prompt)).not.toContain('Who are you?')
  })

  test('runs its processors; one that stops the message is a refusal', async () => {
    const { ask, model } = await newHostAgent([['Fine.']], {
      inputProcessors: [
        {
          id: 'house-rules',
          processInput: async ({ messages, abort }) => {
            if (JSON.stringify(messages).includes('lottery')) abort('Only work.')
            return messages
          },
        },
      ],
    })
    expect(await (await ask({ message: 'lottery numbers?' })).whole()).toMatchObject({ error_msg: 'Only work.' })
    expect(model.requests).toHaveLength(0)
    expect((await (await ask()).whole()).answer).toBe('Fine.')
  })
})

describe('a run of such an agent', () => {
  test('stops: the model is aborted and what was written is kept', async () => {
    const { ask, agent, model } = await newHostAgent([['So far', { hang: true }]])
    const run = await ask()
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('So far'))) break
    await agent.stop(run.sessionId, ana)
    await eventually(() => model.abandoned() === 1)
    expect((await run.whole()).answer).toBe('So far')
    expect((await readAll(run)).map(inShort).at(-1)).toBe('0.0 stop user_cancelled')
  })

  test('can be resumed while it goes on', async () => {
    const gate = Promise.withResolvers<void>()
    const { ask, agent } = await newHostAgent([['One ', { pause: () => gate.promise }, 'two.']])
    const run = await ask()
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('One'))) break
    const resumed = await agent.resume(run.sessionId, ana)
    gate.resolve()
    expect(await readAll(resumed)).toEqual(await readAll(run))
    expect((await resumed.whole()).answer).toBe('One two.')
  })

  test('fails as its model does', async () => {
    const { ask } = await newHostAgent([
      ['Half', { cut: Object.assign(new Error('fetch failed'), { code: 'ECONNRESET' }) }],
    ])
    const lines = await readAll(await ask())
    expect(lines.map(inShort).slice(-2)).toEqual(['0.0 error CONNECTION_ERROR', 'error line CONNECTION_ERROR'])
  })

  test('counts tokens', async () => {
    const { ask } = await newHostAgent([[{ text: ['Hi.'] }, { finish: 'stop', usage: { input: 12, output: 3 } }]])
    const packets = packetsOf(await readAll(await ask({ include_usage: true })))
    expect(packets.at(-1)?.obj).toMatchObject({ type: 'stop', usage: { input_tokens: 12, output_tokens: 3 } })
  })

  test('refuses what only Inlay’s own loop offers', async () => {
    const { ask } = await newHostAgent([])
    for (const input of [{ deep_research: true }, { forced_tool_id: 1 }])
      await expect(ask(input)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('fails where a tool waits for a person', async () => {
    const wipe = createTool({ id: 'wipe', description: 'Deletes.', requireApproval: true, execute: async () => 1 })
    const { ask } = await newHostAgent([[{ call: { name: 'wipe', input: {} } }]], { tools: { wipe } })
    expect(await (await ask()).whole()).toMatchObject({ error_msg: expect.stringContaining('waits for a person') })
  })

  test('is traced by the host’s own tracing', async () => {
    const { observability, spans } = recordSpans()
    const { ask } = await newHostAgent([[askWeather('Oslo')], ['Rain.']], { tools: { weather } }, { observability })
    const run = await ask()
    await run.whole()
    expect(spans).toContainEqual(
      expect.objectContaining({
        type: 'agent_run',
        metadata: expect.objectContaining({ sessionId: run.sessionId, messageId: run.messageId }),
      }),
    )
  })
})

test('an agent that is created at first use is loaded once, and needs a name', async () => {
  let loads = 0
  const create = () => {
    loads++
    return new Agent({ id: 'a', name: 'A', instructions: 'A.', model: scriptedModel(() => ['Hi.']) as never })
  }
  expect(() => mastraAgent(create)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
  const { send, agent } = await newSetting([], { hostAgents: [mastraAgent(create, { id: 7, name: 'Late' })] })
  expect((await agent.personas.get(7, ana)).name).toBe('Late')
  expect(loads).toBe(0)
  for (const answer of ['Hi.', 'Hi.'])
    expect((await (await send({ chat_session_info: { persona_id: 7 } })).whole()).answer).toBe(answer)
  expect(loads).toBe(1)
})

describe('Inlay’s search in an agent of Mastra', () => {
  const search = findsAlways(newPassage('leave', '28 days of leave'))
  const look = { call: { name: 'internal_search', input: { queries: ['leave'] } } }

  test('is a tool whose results the answer cites', async () => {
    const { ask, model } = await newHostAgent([[look], ['28 days [1].']], {}, { inlay: { search } })
    expect((await readAll(await ask())).slice(2).map(inShort)).toEqual([
      '0.0 search_tool_start internal',
      '0.0 search_tool_queries_delta ["leave"]',
      '0.0 search_tool_documents_delta [leave]',
      '0.0 section_end',
      '1.0 message_start [leave]',
      '1.0 message_delta "28 days "',
      '1.0 citation_info 1 leave',
      '1.0 message_delta "[[1]](https://wiki.example/leave)"',
      '1.0 message_delta "."',
      '1.0 stop null',
    ])
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('How to cite')
    expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('28 days of leave')
  })

  test('stands beside its own tools in one step', async () => {
    const step = [{ calls: [look.call, { name: 'weather', input: { town: 'Oslo' } }] }]
    const { ask } = await newHostAgent([step, ['Rain, 28 days [1].']], { tools: { weather } }, { inlay: { search } })
    const whole = await (await ask()).whole()
    expect(whole.tool_calls.map(({ tool_name: name }) => name).toSorted()).toEqual(['internal_search', 'weather'])
    expect(whole.citation_info).toHaveLength(1)
  })

  test('is left out where the host says so', async () => {
    const { ask, model } = await newHostAgent([['Hi.']], {}, { actions: [], inlay: { search } })
    await (await ask()).whole()
    expect(model.requests[0]?.tools ?? []).toEqual([])
  })
})
