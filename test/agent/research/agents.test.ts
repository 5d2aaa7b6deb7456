import { describe, expect, test } from 'vitest'
import type { ScriptStep } from '@inlay/agent/testing'
import { fold } from '@inlay/protocol'
import { newDoc } from '../setting.ts'
import {
  type Brain,
  type PhaseCall,
  asking,
  calls,
  namedSearch,
  newResearch,
  onlyOne,
  phaseOf,
  textOf,
  packetNames,
} from './research-script.ts'
import { researchFaults } from './research-order.ts'
import { scriptedAction } from '../scripted-action.ts'

/** The error of a provider for a prompt that is too long. */
const tooLongError = (): Error =>
  Object.assign(new Error("This model's maximum context length is 8192 tokens."), {
    name: 'AI_APICallError',
    statusCode: 400,
  })

describe('agents', () => {
  test('a forced search is all that the first agent can begin with', async () => {
    const web = scriptedAction({ id: 2, name: 'web_search', builtIn: 'WebSearchTool', mergeArgument: 'queries' })
    const offers = new Map<string, (readonly string[])[]>()
    const { lines } = await newResearch(
      {
        agent: ({ task, index, call }) => {
          const names = (call.tools ?? []).map(({ name }) => name)
          offers.set(task, [...(offers.get(task) ?? []), names])
          return index === 0
            ? [calls([names.includes('internal_search') ? 'internal_search' : 'web_search', { queries: ['q'] }])]
            : undefined
        },
      },
      { actions: [namedSearch(), web] },
    )
    expect(researchFaults(await lines({ ...asking, forced_tool_id: 2 }))).toEqual([])
    expect(offers.get('Find one.')?.[0]).toEqual(['web_search'])
    expect(offers.get('Find one.')?.[1]).toContain('internal_search')
    expect(offers.get('Find two.')?.[0]).toContain('internal_search')
  })

  test('see only their task, and only the searches', async () => {
    const secret = scriptedAction({ id: 1_000_001, name: 'book' })
    const { lines, model } = await newResearch({}, { actions: [namedSearch(), secret] })
    await lines({ ...asking, message: 'A question of my own' })
    for (const call of model.requests.filter((item) => phaseOf(item) === 'agent')) {
      expect(call.prompt.map(textOf).join('\n')).not.toContain('A question of my own')
      expect((call.tools ?? []).map(({ name }) => name)).toEqual(['internal_search', 'think_tool', 'generate_report'])
      expect(call.toolChoice).toEqual({ type: 'required' })
    }
  })

  test('one that fails tells it at its place, and the run goes on', async () => {
    const { lines, model, errors, agent } = await newResearch({
      report: ({ task }) => (task === 'Find one.' ? { reject: new Error('of the provider') } : undefined),
      final: () => ['Only one is known [1].'],
    })
    const run = await lines(asking)
    expect(researchFaults(run)).toEqual([])
    expect(packetNames(run).filter((text) => text.startsWith('1.0 '))).toEqual([
      '1.0 top_level_branching 2',
      '1.0 research_agent_start',
      '1.0 error UNKNOWN_ERROR',
    ])
    expect(fold(run).answer).toContain('Only one is known')
    expect(errors).toHaveLength(1)
    const orchestrator = model.requests.filter((call) => phaseOf(call) === 'orchestrate')[1]
    expect(JSON.stringify(orchestrator?.prompt)).toContain('The research agent failed')
    await agent.close()
  })

  test('no more of them work at once than allowed; the others wait', async () => {
    let atWork = 0
    let most = 0
    const search = namedSearch({
      pause: async () => {
        most = Math.max(most, ++atWork)
        await new Promise((resolve) => setImmediate(resolve))
        atWork--
      },
    })
    const tasks = Array.from({ length: 7 }, (_, index) => ['research_agent', { task: `Find ${index}.` }] as const)
    const { lines } = await newResearch(
      { orchestrate: ({ index }) => (index === 0 ? [calls(...tasks)] : undefined), final: () => ['All [1] [7].'] },
      { actions: [search], research: { limits: { maxParallelAgents: 2 } } },
    )
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(packetNames(all).filter((text) => text.includes('research_agent_start'))).toHaveLength(7)
    expect(most).toBe(2)
  })

  test('calls of several kinds in one step: only those of the first search run, as one', async () => {
    const web = scriptedAction({ id: 2, name: 'web_search', builtIn: 'WebSearchTool', mergeArgument: 'queries' })
    const own = namedSearch()
    const { lines } = await newResearch(
      {
        agent: ({ index }) =>
          index === 0
            ? [
                calls(
                  ['internal_search', { queries: ['a'] }],
                  ['web_search', { queries: ['b'] }],
                  ['internal_search', { queries: ['c'] }],
                ),
              ]
            : undefined,
      },
      { actions: [own, web] },
    )
    expect(researchFaults(await lines(asking))).toEqual([])
    expect(own.calls.map(({ input }) => input['queries'])).toEqual([
      ['a', 'c'],
      ['a', 'c'],
    ])
    expect(web.calls).toEqual([])
  })

  test('one that only talks is asked for a call once, and after a search not at all', async () => {
    const { lines, model } = await newResearch({
      orchestrate: ({ index }) => onlyOne(index === 0),
      agent: ({ index }) => [index === 1 ? calls(['internal_search', { queries: ['q'] }]) : 'Let me see.'],
      final: () => ['It is so [1].'],
    })
    expect(researchFaults(await lines(asking))).toEqual([])
    const prompts = model.requests.filter((call) => phaseOf(call) === 'agent').map(({ prompt }) => prompt)
    expect(prompts).toHaveLength(3)
    expect(prompts.map((prompt) => textOf(prompt.at(-1)).includes('Call one of the tools now'))).toEqual([
      false,
      true,
      false,
    ])
  })

  test('one that takes too long is given up', async () => {
    const { lines } = await newResearch(
      {
        agent: ({ task }) => (task === 'Find one.' ? [{ hang: true }] : undefined),
        final: () => ['Only one is known [1].'],
      },
      { research: { limits: { agentHardTimeoutMs: 150 } } },
    )
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(packetNames(all)).toContain('1.0 error GATEWAY_TIMEOUT')
    expect(fold(all).answer).toContain('Only one is known')
  })

  test('a search that fails ends its step without an error packet, and the agent goes on; one with no other search fails', async () => {
    const failing = scriptedAction({
      id: 1,
      name: 'internal_search',
      builtIn: 'SearchTool',
      start: { type: 'search_tool_start', is_internet_search: false },
      result: ({ queries }) => {
        if (String(queries) === 'bad') throw new Error('disk')
        return { text: '{"results":[]}' }
      },
    })
    const queries = ({ task, index }: PhaseCall): string => (task === 'Find one.' && index === 1 ? 'good' : 'bad')
    const { lines } = await newResearch(
      {
        agent: (call) =>
          call.index < 2 ? [calls(['internal_search', { queries: [queries(call)] }])] : [calls(['generate_report'])],
        report: () => ['Nothing was found.'],
        final: () => ['Nothing.'],
      },
      { actions: [failing] },
    )
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(packetNames(all)).toEqual(expect.arrayContaining(['1.0.0 section_end', '1.0 section_end']))
    expect(packetNames(all).filter((name) => / error /.test(name))).toEqual(['1.1 error SERVICE_UNAVAILABLE'])
  })
})

describe('a prompt that is too long after all', () => {
  const long = 'Many words about telescopes. '.repeat(2_000)
  const refuseLong = (lengths: number[], { call }: PhaseCall): ScriptStep => {
    const length = call.prompt.map(textOf).join('').length
    lengths.push(length)
    return length > 40_000 ? { reject: tooLongError() } : ['It is so [1].']
  }
  const finds = (text: string) =>
    scriptedAction({
      id: 1,
      name: 'internal_search',
      builtIn: 'SearchTool',
      result: (_input, turn) => {
        turn.cite([newDoc('long')])
        return { text }
      },
    })
  const oneTask: Brain['orchestrate'] = ({ index }) => onlyOne(index === 0)

  test.each(['report', 'final'] as const)('is made shorter for the %s', async (phase) => {
    const lengths: number[] = []
    const brain: Brain =
      phase === 'report'
        ? { report: (call) => refuseLong(lengths, call), final: () => ['It is so [1].'] }
        : { report: () => [long, ' [1].'], final: (call) => refuseLong(lengths, call) }
    const search = finds(phase === 'report' ? long : 'short')
    const { lines } = await newResearch({ orchestrate: oneTask, ...brain }, { actions: [search] })
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    expect(fold(all).answer).toContain('It is so')
    expect(lengths[0]).toBeGreaterThan(40_000)
    expect(lengths.at(-1)).toBeLessThan(40_000)
  })
})

describe('citations', () => {
  test('are numbered anew across agents, one number a document, and name only what was cited', async () => {
    const shared = newDoc('shared')
    const finds = (own: string) => [newDoc(own), shared, newDoc(`unused ${own}`)]
    const search = scriptedAction({
      id: 1,
      name: 'internal_search',
      builtIn: 'SearchTool',
      result: (_input, turn) => {
        const documents = finds(turn.userMessage)
        turn.cite(documents)
        return { text: 'found', documents, foundDocuments: documents }
      },
    })
    const { lines, model } = await newResearch(
      {
        report: ({ task }) =>
          task === 'Find one.' ? ['Shared [2], own [1], none [9], `code[1]`.'] : ['Own [1] and shared [2].'],
        final: () => ['One [1], two [2], three [3], four [4], eleven [11].'],
      },
      { actions: [search] },
    )
    const all = await lines(asking)
    expect(researchFaults(all)).toEqual([])
    const { answer, citation_info: cited } = fold(all)
    expect(cited.map(({ citation_number: number, document_id: id }) => [number, id])).toEqual([
      [1, 'shared'],
      [2, 'Find one.'],
      [3, 'Find two.'],
    ])
    expect(answer).not.toMatch(/\[\[(?:4|11)\]\]/)
    const final = model.requests.findLast((call) => phaseOf(call) === 'final')
    const read = final?.prompt.map(textOf).join('\n') ?? ''
    expect(read).toContain('Shared [1], own [2], none , `code[1]`.')
    expect(read).toContain('Own [3] and shared [1].')
  })
})
