import { describe, expect, test } from 'vitest'
import type { ScriptStep } from '@inlay/agent/testing'
import { fold, InlayError } from '@inlay/protocol'
import type { SendMessageInput } from '@inlay/protocol'
import { ana, codeOf, providerOf, readAll } from '../setting.ts'
import {
  type PhaseCall,
  asking,
  calls,
  namedSearch,
  newResearch,
  onlyOne,
  onlySearch,
  phaseOf,
  textOf,
  packetNames,
} from './research-script.ts'
import { researchFaults } from './research-order.ts'
import { scriptedAction } from '../scripted-action.ts'

describe('where things stand in the stream', () => {
  test('a model that does not reason', async () => {
    const { lines } = await newResearch({ agent: onlySearch })
    const all = await lines({ deep_research: true })
    expect(researchFaults(all)).toEqual([])
    expect(packetNames(all).filter((text) => !text.includes('0.1') && !text.startsWith('1.1'))).toEqual([
      '0.0 deep_research_plan_start',
      '0.0 deep_research_plan_delta',
      '0.0 deep_research_plan_delta',
      '0.0 section_end',
      '1.0 top_level_branching 2',
      '1.0 research_agent_start',
      '1.0.0 search_tool_start internal',
      '1.0.0 search_tool_queries_delta ["Find one."]',
      '1.0.0 search_tool_documents_delta [about find one.]',
      '1.0.0 section_end',
      '1.0 intermediate_report_start',
      '1.0 intermediate_report_delta',
      '1.0 intermediate_report_delta',
      '1.0 intermediate_report_cited_docs',
      '1.0 section_end',
      '2.0 message_start [about find one., about find two.]',
      '2.0 message_delta "Both are known "',
      '2.0 citation_info 1 about find one.',
      '2.0 message_delta "[[1]](https://wiki.example/about%20find%20one.)"',
      '2.0 citation_info 2 about find two.',
      '2.0 message_delta "[[2]](https://wiki.example/about%20find%20two.)"',
      '2.0 message_delta "."',
      '2.0 stop null',
    ])
  })

  test('a model that reasons in every step is offered nothing to think with', async () => {
    const reasoning = { reasoning: 'Hm.' }
    const { lines, model } = await newResearch({
      clarify: () => [reasoning, calls(['generate_plan'])],
      plan: () => [reasoning, '1. One'],
      orchestrate: ({ index }) => [
        reasoning,
        index === 0 ? calls(['research_agent', { task: 'Find one.' }]) : calls(['generate_report']),
      ],
      agent: ({ index }) => [
        reasoning,
        index === 0 ? calls(['internal_search', { queries: ['one'] }]) : calls(['generate_report']),
      ],
      report: () => [reasoning, 'It is so [1].'],
      final: () => [reasoning, 'So it is [1].'],
    })
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    const places = packetNames(all).filter((text) => /_start|stop|section_end/.test(text))
    expect(places).toEqual([
      '0.0 reasoning_start',
      '0.0 reasoning_start',
      '1.0 deep_research_plan_start',
      '1.0 section_end',
      '2.0 reasoning_start',
      '3.0 research_agent_start',
      '3.0.0 reasoning_start',
      '3.0.1 search_tool_start internal',
      '3.0.1 section_end',
      '3.0.2 reasoning_start',
      '3.0 reasoning_start',
      '3.0 intermediate_report_start',
      '3.0 section_end',
      '4.0 reasoning_start',
      '5.0 reasoning_start',
      '6.0 message_start [about one]',
      '6.0 stop null',
    ])
    const offered = model.requests.flatMap(({ tools = [] }) => tools.map(({ name }) => name))
    expect(offered).not.toContain('think_tool')
  })

  test('thoughts leave a gap, in the run and in an agent, and are told whole', async () => {
    const { lines } = await newResearch({
      orchestrate: ({ index }) =>
        index === 1 ? [calls(['think_tool', { reasoning: 'Nothing is missing.' }])] : onlyOne(index === 0),
      agent: ({ index }) => {
        if (index === 1) return [calls(['think_tool', { reasoning: 'Look again.' }])]
        return index < 3 ? [calls(['internal_search', { queries: [`q${index}`] }])] : [calls(['generate_report'])]
      },
      final: () => ['It is so [1].'],
    })
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(packetNames(all).filter((text) => /reasoning|tool_start|message_start/.test(text))).toEqual([
      '1.0.0 search_tool_start internal',
      '1.0.1 reasoning_start',
      '1.0.1 reasoning_delta "Look again."',
      '1.0.1 reasoning_done',
      '1.0.3 search_tool_start internal',
      '2.0 reasoning_start',
      '2.0 reasoning_delta "Nothing is missing."',
      '2.0 reasoning_done',
      '4.0 message_start [about q0]',
    ])
  })
})

describe('what may not begin', () => {
  const search = namedSearch()
  const other = scriptedAction({ id: 1_000_001, name: 'book' })
  const reads = scriptedAction({ id: 3, name: 'open_url', builtIn: 'OpenURLTool' })

  test.each<[string, Partial<SendMessageInput>]>([
    ['two models', { llm_overrides: [{}, {}] }],
    ['another forced action', { forced_tool_id: 1_000_001 }],
    ['a forced action that is no search', { forced_tool_id: 3 }],
    ['no action allowed', { allowed_tool_ids: [] }],
    ['no search allowed', { allowed_tool_ids: [3, 1_000_001] }],
  ])('%s', async (_title, input) => {
    const { send, model } = await newResearch({}, { actions: [search, other, reads] })
    expect(await codeOf(send({ ...asking, ...input }))).toBe('VALIDATION_ERROR')
    expect(model.requests).toEqual([])
  })

  test('a session in a project', async () => {
    const { agent, send } = await newResearch()
    const project = await agent.projects.create('Telescopes', ana)
    expect(await codeOf(send({ ...asking, chat_session_info: { project_id: project.id } }))).toBe('VALIDATION_ERROR')
    const { id } = await agent.sessions.create({ project_id: project.id }, ana)
    expect(await codeOf(send({ ...asking, chat_session_id: id }))).toBe('VALIDATION_ERROR')
  })

  test('a model that takes too little', async () => {
    const { model } = await newResearch()
    const quoting = await newResearch({}, { models: providerOf(model, { quotesOnly: true }) })
    expect(await codeOf(quoting.send(asking))).toBe('VALIDATION_ERROR')
    const small = await newResearch({}, { models: providerOf(model, { contextTokens: 7_999 }) })
    expect(await codeOf(small.send(asking))).toBe('VALIDATION_ERROR')
    const large = await newResearch({}, { models: providerOf(model, { contextTokens: 8_000 }) })
    expect(await codeOf(large.send(asking))).toBe('none')
  })

  test('what the host refuses, in its own words', async () => {
    const policy = (): never => {
      throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'Not today.' })
    }
    const { send } = await newResearch({}, { research: { policy } })
    await expect(send(asking)).rejects.toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS', message: 'Not today.' })
    const broken = await newResearch({}, { research: { policy: () => Promise.reject(new Error('secret')) } })
    expect(await codeOf(broken.send(asking))).toBe('HOOK_EXECUTION_FAILED')
  })
})

describe('clarification', () => {
  test('is asked once: the answer to it begins the research', async () => {
    const { agent, send, model } = await newResearch({ clarify: () => ['Which ', 'telescope?'] })
    const { id } = await agent.sessions.create({}, ana)
    const first = await readAll(await send({ ...asking, chat_session_id: id }))
    expect(packetNames(first)).toEqual([
      '0.0 message_start null',
      '0.0 message_delta "Which "',
      '0.0 message_delta "telescope?"',
      '0.0 stop null',
    ])
    const second = await readAll(await send({ ...asking, chat_session_id: id, message: 'The large one.' }))
    expect(researchFaults(second)).toEqual([])
    expect(fold(second).answer).toContain('Both are known')
    expect(model.requests.map(phaseOf).slice(0, 2)).toEqual(['clarify', 'plan'])
    // The plan knows what was asked back.
    expect(model.requests[1]?.prompt.map(textOf).join('\n')).toContain('Which telescope?')
    await readAll(await send({ ...asking, chat_session_id: id, message: 'And the small one?' }))
    expect(model.requests.map(phaseOf).filter((phase) => phase === 'clarify')).toHaveLength(2)
  })

  test('words before the call that begins are not told', async () => {
    const { lines } = await newResearch({ clarify: () => ['I shall begin.', calls(['generate_plan'])] })
    const all = await lines(asking)
    expect(packetNames(all)[0]).toBe('0.0 deep_research_plan_start')
    expect(JSON.stringify(all)).not.toContain('I shall begin')
  })

  test('can be switched off', async () => {
    const { lines, model } = await newResearch({}, { research: { limits: { clarifies: false } } })
    expect(researchFaults(await lines(asking))).toEqual([])
    expect(model.requests.map(phaseOf)[0]).toBe('plan')
  })
})

describe('a model that starts nothing', () => {
  test('is asked once more, then the run fails', async () => {
    const { lines } = await newResearch({ orchestrate: () => ['I know it already.'] })
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(all.at(-1)).toMatchObject({ error_code: 'UNKNOWN_ERROR' })
  })

  test('or does when asked again', async () => {
    const { lines } = await newResearch({
      orchestrate: ({ index }) =>
        index === 0 ? ['Let me see.'] : index === 1 ? [calls(['research_agent', { task: 'Find one.' }])] : undefined,
      final: () => ['It is so [1].'],
    })
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(fold(all).answer).toContain('It is so')
  })
})

test('a provider that takes no demand for a call is asked without, from then on', async () => {
  const refused = Object.assign(new Error('tool_choice may not force tool use when thinking is enabled'), {
    name: 'AI_APICallError',
    statusCode: 400,
  })
  const refuse = ({ call }: PhaseCall): ScriptStep | undefined =>
    call.toolChoice?.type === 'auto' ? undefined : { reject: refused }
  const { lines, model } = await newResearch({
    orchestrate: (call) => refuse(call) ?? onlyOne(call.index === 1),
    agent: refuse,
    final: () => ['It is so [1].'],
  })
  const all = await lines({ ...asking, forced_tool_id: 1 })
  expect(researchFaults(all)).toEqual([])
  const choices = model.requests.map(({ toolChoice }) => toolChoice?.type)
  expect(choices.filter((choice) => choice !== undefined && choice !== 'auto')).toHaveLength(1)
  const agent = model.requests.find((call) => phaseOf(call) === 'agent')
  expect(agent?.tools?.map(({ name }) => name)).toEqual(['internal_search'])
  expect(fold(all).answer).toContain('It is so')
})

test('a model whose hidden thoughts take all it may say may say more', async () => {
  const { lines, model } = await newResearch({
    orchestrate: ({ call, index }) => {
      if (call.maxOutputTokens === undefined) return onlyOne(index === 1)
      return [{ finish: 'length', usage: { input: 10, output: call.maxOutputTokens } }]
    },
    final: () => ['It is so [1].'],
  })
  const all = await lines(asking)
  expect(researchFaults(all)).toEqual([])
  expect(fold(all).answer).toContain('It is so')
  expect(model.requests.filter(({ maxOutputTokens }) => maxOutputTokens !== undefined)).toHaveLength(1)
})
