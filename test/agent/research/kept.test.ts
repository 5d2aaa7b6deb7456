import { describe, expect, test } from 'vitest'
import { fold } from '@inlay/protocol'
import type { StreamLine } from '@inlay/protocol'
import { ana, eventually, readAll } from '../setting.ts'
import {
  asking,
  calls,
  namedSearch,
  newResearch,
  onlyOne,
  phaseOf,
  snapshot,
  textOf,
  packetNames,
} from './research-script.ts'
import { researchFaults } from './research-order.ts'

describe('what is kept', () => {
  test('a thought before the report stays with the answer', async () => {
    const { agent, send } = await newResearch({
      orchestrate: ({ index }) =>
        index === 1 ? [calls(['think_tool', { reasoning: 'All is known.' }])] : onlyOne(index === 0),
      final: () => ['It is so [1].'],
    })
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ ...asking, chat_session_id: id })
    expect((await run.whole()).pre_answer_reasoning).toBe('All is known.')
    const { messages } = await agent.sessions.get(id, ana)
    expect(messages.at(-1)?.reasoning).toBe('All is known.')
  })

  test('agents and their steps, shown again, and left out of later prompts', async () => {
    const { agent, send, db, model } = await newResearch({
      orchestrate: ({ index }) =>
        index === 0
          ? [calls(['think_tool', { reasoning: 'First two.' }])]
          : index === 1
            ? [calls(['research_agent', { task: 'Find one.' }], ['research_agent', { task: 'Find two.' }])]
            : undefined,
    })
    const { id } = await agent.sessions.create({}, ana)
    await readAll(await send({ ...asking, chat_session_id: id }))
    const rows = await db
      .withTables<{ inlay_chat_tool_calls: Record<string, unknown> & { id: number } }>()
      .selectFrom('inlay_chat_tool_calls')
      .selectAll()
      .orderBy('id')
      .execute()
    expect(rows.map((row) => [row['name'], row['tab_index'], row['sub_turn_index'], row['reasoning']])).toEqual(
      expect.arrayContaining([
        ['research_agent', 0, null, 'First two.'],
        ['internal_search', 0, 0, null],
        ['research_agent', 1, null, 'First two.'],
        ['internal_search', 1, 0, null],
      ]),
    )
    const parent = rows.find((row) => row['name'] === 'research_agent' && row['tab_index'] === 1)
    const child = rows.find((row) => row['name'] === 'internal_search' && row['tab_index'] === 1)
    expect(child?.['parent_call_id']).toBe(parent?.['call_id'])

    const { packets } = await agent.sessions.get(id, ana)
    // The agents work side by side.
    const shown = packetNames(packets[0] ?? [])
    expect(shown.filter((name) => !name.startsWith('3.'))).toEqual([
      '0.0 deep_research_plan_start',
      '0.0 deep_research_plan_delta',
      '0.0 section_end',
      '1.0 reasoning_start',
      '1.0 reasoning_delta "First two."',
      '1.0 reasoning_done',
      '4.0 message_start [about find one., about find two.]',
      '4.0 message_delta "Both are known "',
      '4.0 citation_info 1 about find one.',
      '4.0 message_delta "[[1]](https://wiki.example/about%20find%20one.)"',
      '4.0 citation_info 2 about find two.',
      '4.0 message_delta "[[2]](https://wiki.example/about%20find%20two.)."',
      '4.0 stop null',
    ])
    expect(shown).toContain('3.0 top_level_branching 2')
    for (const [agent, document] of [
      ['3.0', 'one'],
      ['3.1', 'two'],
    ] as const)
      expect(shown.filter((name) => name.startsWith(agent) && !name.includes('branching'))).toEqual([
        `${agent} research_agent_start`,
        `${agent}.0 search_tool_start internal`,
        `${agent}.0 search_tool_queries_delta ["Find ${document}."]`,
        `${agent}.0 search_tool_documents_delta [about find ${document}.]`,
        `${agent}.0 section_end`,
        `${agent} intermediate_report_start`,
        `${agent} intermediate_report_delta`,
        `${agent} intermediate_report_cited_docs`,
        `${agent} section_end`,
      ])
    await readAll(await send({ ...asking, chat_session_id: id, message: 'And then?' }))
    const later = model.requests.findLast((call) => phaseOf(call) === 'plan')
    expect(later?.prompt.every(({ role }) => role !== 'tool')).toBe(true)
    expect(later?.prompt.map(textOf).join('\n')).toContain('Both are known')
  })

  test('the whole answer holds the agents and their steps', async () => {
    const { send } = await newResearch()
    const run = await send({ ...asking, include_usage: true })
    const lines = await readAll(run)
    const whole = await run.whole()
    expect(whole.tool_calls.map(({ tool_name: name, tool_arguments: given }) => [name, given])).toEqual([
      ['internal_search', { queries: ['Find one.'] }],
      ['research_agent', { task: 'Find one.' }],
      ['internal_search', { queries: ['Find two.'] }],
      ['research_agent', { task: 'Find two.' }],
    ])
    expect(whole.tool_calls[1]?.tool_result).toBe('Report on Find one. [1].')
    const streamed = fold(lines)
    expect({ ...streamed, tool_calls: [] }).toEqual({ ...whole, tool_calls: [] })
    expect(whole.usage).toMatchObject({ input_tokens: 110, output_tokens: 55 })
  })

  test('a run is read again from any line, also in its middle', async () => {
    const gate = Promise.withResolvers<void>()
    const { agent, send } = await newResearch({}, { actions: [namedSearch({ pause: () => gate.promise })] })
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ ...asking, chat_session_id: id })
    const middle = await agent.resume(id, ana)
    const early: StreamLine[] = []
    for await (const entries of middle.read(3)) {
      early.push(...entries.map(({ json }) => JSON.parse(json) as StreamLine))
      gate.resolve()
    }
    const all = await readAll(run)
    expect(early).toEqual(all.slice(3))
    expect(await readAll(await agent.resume(id, ana), 10)).toEqual(all.slice(10))
  })
})

describe('a stop', () => {
  const phases = ['clarify', 'plan', 'orchestrate', 'agent', 'report', 'final'] as const
  const begins = {
    clarify: [{ reasoning: 'Hm' }],
    plan: ['1. One\n'],
    orchestrate: [{ reasoning: 'Hm' }],
    agent: [{ reasoning: 'Hm' }],
    report: ['Half a report [1].'],
    final: ['Half an answer [1].'],
  } as const

  test.each(phases)('while the model is at %s ends there, and keeps what was said', async (phase) => {
    const { agent, send, model, db } = await newResearch({ [phase]: () => [...begins[phase], { hang: true }] })
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ ...asking, chat_session_id: id })
    await eventually(() => model.requests.some((call) => phaseOf(call) === phase))
    await eventually(async () => JSON.stringify(await snapshot(run)).includes(phase === 'plan' ? 'One' : 'H'))
    await agent.stop(id, ana)
    const lines = await readAll(run)
    expect(researchFaults(lines)).toEqual([])
    expect(lines.at(-1)).toMatchObject({
      placement: { turn_index: 0, model_index: null },
      obj: { type: 'stop', stop_reason: 'user_cancelled' },
    })
    const { messages } = await agent.sessions.get(id, ana)
    expect(messages.at(-1)?.text.includes('Half an answer')).toBe(phase === 'final')
    expect(messages.at(-1)?.error).toBeNull()
    const rows = await db
      .withTables<{ inlay_chat_tool_calls: { result: string; name: string } }>()
      .selectFrom('inlay_chat_tool_calls')
      .selectAll()
      .execute()
    if (phase === 'report') expect(rows.map(({ result }) => result)).toContain('Half a report [1].')
    await eventually(() => model.abandoned() > 0)
    await agent.close()
  })

  test('while agents search ends their calls too', async () => {
    const { agent, send } = await newResearch({}, { actions: [namedSearch({ pause: () => new Promise(() => {}) })] })
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ ...asking, chat_session_id: id })
    await eventually(async () => JSON.stringify(await snapshot(run)).includes('search_tool_queries_delta'))
    await agent.stop(id, ana)
    expect(researchFaults(await readAll(run))).toEqual([])
    await agent.close()
  })
})
