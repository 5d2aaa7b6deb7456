import { describe, expect, test } from 'vitest'
import type { Script } from '@inlay/agent/testing'
import type { Placement, StreamLine } from '@inlay/protocol'
import { nights, press } from '../../protocol/fixtures/documents.ts'
import * as streams from '../../protocol/fixtures/streams.ts'
import { ana, newSetting, readAll } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

/** Removes what differs between runs: ids and durations; the server adds heartbeats. */
function comparable(lines: readonly unknown[]): unknown[] {
  const text = JSON.stringify(lines)
    .replace(/"(user_message_id|reserved_assistant_message_id)":\d+/g, '"$1":0')
    .replace(/"pre_answer_processing_seconds":[\d.]+/g, '"pre_answer_processing_seconds":0')
  return (JSON.parse(text) as { obj?: { type?: string } }[]).filter(({ obj }) => obj?.type !== 'chat_heartbeat')
}

const isTop = (place: Placement, tab: number): boolean => place.sub_turn_index === null && place.tab_index === tab

/** A research by two agents; opening gate 4 lets the first of them end. */
function twoAgents() {
  // The order in which the two agents of the example come to speak.
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const open = (index: number): void => gates[index]?.resolve()
  const until = async (index: number): Promise<void> => gates[index]?.promise
  const here = 'Find how many nights a group gets here.'
  const elsewhere = 'Find how many nights a group gets elsewhere.'
  const own = scriptedAction({
    id: 1,
    name: 'internal_search',
    builtIn: 'SearchTool',
    start: { type: 'search_tool_start', is_internet_search: false },
    result: async (_input, turn) => {
      await until(0)
      turn.emit({ type: 'search_tool_queries_delta', queries: ['nights here', 'booking'] })
      open(1)
      await until(2)
      turn.emit({ type: 'search_tool_documents_delta', documents: [nights] })
      turn.cite([nights])
      return { text: 'found', documents: [nights], foundDocuments: [nights] }
    },
  })
  const web = scriptedAction({
    id: 2,
    name: 'web_search',
    builtIn: 'WebSearchTool',
    start: { type: 'search_tool_start', is_internet_search: true },
    result: async (_input, turn) => {
      turn.emit({ type: 'search_tool_queries_delta', queries: ['nights elsewhere'] })
      open(0)
      await until(1)
      turn.emit({ type: 'search_tool_documents_delta', documents: [press] })
      turn.cite([press])
      return { text: 'found', documents: [press], foundDocuments: [press] }
    },
  })
  const step = (name: string, input: unknown = {}) => [{ call: { name, input, pieces: 1 } }] as const
  const agents: Record<string, Script> = {
    [here]: [
      step('internal_search', { queries: ['nights here'] }),
      [
        {
          part: { type: 'tool-input-start', id: 't', toolName: 'think_tool' },
        },
        { part: { type: 'tool-input-delta', id: 't', delta: '{"reasoning":"The wiki says it;' } },
        { part: { type: 'tool-input-delta', id: 't', delta: ' no more is needed."}' } },
        { part: { type: 'tool-input-end', id: 't' } },
        {
          part: {
            type: 'tool-call',
            toolCallId: 't',
            toolName: 'think_tool',
            input: '{"reasoning":"The wiki says it; no more is needed."}',
          },
        },
      ],
      [{ pause: async () => open(3) }, { pause: () => until(4) }, ...step('generate_report')],
      ['Here it is twelve ', '[1].'],
    ],
    [elsewhere]: [
      step('web_search', { queries: ['nights elsewhere'] }),
      [{ pause: async () => open(2) }, { pause: () => until(3) }, ...step('generate_report')],
      ['Elsewhere it is eight ', '[1].'],
    ],
  }
  const counts = new Map<string, number>()
  const lead: Script = [
    step('generate_plan'),
    ['1. Rules here\n', '2. Rules elsewhere'],
    [
      {
        calls: [
          { name: 'research_agent', input: { task: here } },
          { name: 'research_agent', input: { task: elsewhere } },
        ],
      },
    ],
    step('think_tool', { reasoning: 'Both tasks are done.' }),
    step('generate_report'),
    ['Twelve nights', ' [1]', ', four more than elsewhere', ' [2]', '.'],
  ]
  const script: Script = (call) => {
    const promptText = JSON.stringify(call.prompt.filter(({ role }) => role === 'user'))
    const system = JSON.stringify(call.prompt[0])
    const isAgent = system.includes('one task') || system.includes('report of a research agent')
    const who = isAgent ? ([here, elsewhere].find((task) => promptText.includes(task)) ?? 'lead') : 'lead'
    const index = counts.get(who) ?? 0
    counts.set(who, index + 1)
    const steps = agents[who] ?? lead
    const results = Array.isArray(steps) ? steps[index] : undefined
    if (!results) throw new Error(`No step ${index} for ${who}.`)
    return results
  }
  return { script, actions: [own, web], open }
}

describe('a deep research gives, line by line', () => {
  test('two agents side by side and a report with numbers of its own', async () => {
    const { script, actions, open } = twoAgents()
    const { agent, send } = await newSetting(script, { actions })
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ chat_session_id: id, deep_research: true })
    const lines: StreamLine[] = []
    for await (const entries of run.read()) {
      for (const { json } of entries) {
        const line = JSON.parse(json) as StreamLine
        lines.push(line)
        // The agent of the second tab has ended.
        if ('obj' in line && line.obj.type === 'section_end' && isTop(line.placement, 1)) open(4)
      }
    }
    expect(comparable(lines)).toEqual(comparable(streams.deepResearch))
  })

  test('a question back', async () => {
    const search = scriptedAction({ id: 1, name: 'internal_search', builtIn: 'SearchTool' })
    const { agent, send } = await newSetting([['One telescope, ', 'or all of them?']], { actions: [search] })
    const { id } = await agent.sessions.create({}, ana)
    const lines = await readAll(await send({ chat_session_id: id, deep_research: true }))
    expect(comparable(lines)).toEqual(comparable(streams.clarification))
  })
})
