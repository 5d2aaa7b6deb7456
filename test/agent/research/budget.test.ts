import { describe, expect, test } from 'vitest'
import { createResearchBudget } from '@inlay/agent/internal/research/budget'
import { toKnownLimits, type ResearchLimits } from '@inlay/agent/internal/research/limits'
import type { ScriptPart } from '@inlay/agent/testing'
import { fold, type StreamLine } from '@inlay/protocol'
import { estimateTokens } from '@inlay/agent/internal/prompt/context-window'
import { codeOf } from '../setting.ts'
import { asking, calls, namedSearch, newResearch, phaseOf, textOf, packetNames, type Brain } from './research-script.ts'
import { researchFaults } from './research-order.ts'

/** Tasks, searches and thoughts without end. */
const endless: Brain = {
  orchestrate: ({ index }) => [
    calls(...[1, 2, 3].map((task) => ['research_agent', { task: `Task ${index}.${task}` }] as const)),
  ],
  agent: ({ index, task }) => [calls(['internal_search', { queries: [`${task} ${index}`] }])],
  report: ({ task }) => [`On ${task} [1].`],
  final: () => ['All there is [1].'],
}

const textOfRun = (lines: readonly StreamLine[]): string => fold(lines).answer
const agentsIn = (lines: readonly StreamLine[]): number =>
  packetNames(lines).filter((text) => text.includes('research_agent_start')).length
const searchesIn = (lines: readonly StreamLine[]): number =>
  packetNames(lines).filter((text) => text.includes('search_tool_start')).length

async function research(limits: ResearchLimits, brain: Brain = endless) {
  const setting = await newResearch(brain, { research: { limits } })
  const lines = await setting.lines({ ...asking, include_usage: true })
  const final = setting.model.requests.findLast((call) => phaseOf(call) === 'final')
  return { ...setting, lines, told: final?.prompt.map(textOf).join('\n') ?? '' }
}

describe('a model that never stops', () => {
  test.each<[string, ResearchLimits, string]>([
    ['rounds', { maxCycles: 3 }, 'rounds'],
    ['agents', { maxAgents: 4 }, 'agents'],
  ])('is held by the number of %s, and reports what it has', async (_title, limits, reason) => {
    const { lines, told: read } = await research(limits)
    expect(researchFaults(lines)).toEqual([])
    expect(textOfRun(lines)).toContain('All there is')
    expect(agentsIn(lines)).toBe(limits.maxAgents ?? 6)
    expect(searchesIn(lines)).toBe(agentsIn(lines) * 8)
    expect(read).toMatch(new RegExp(`ended early because the number of ${reason}`))
  })

  test('is held by the rounds of an agent, however much it thinks in between', async () => {
    const { lines } = await research(
      { maxCycles: 2, maxAgentCycles: 2 },
      {
        ...endless,
        agent: ({ index, call }) => {
          const canThink = (call.tools ?? []).some(({ name }) => name === 'think_tool')
          return [
            canThink
              ? calls(['think_tool', { reasoning: `Hm ${index}` }])
              : calls(['internal_search', { queries: [`q ${index}`] }]),
          ]
        },
      },
    )
    expect(researchFaults(lines)).toEqual([])
    expect(searchesIn(lines)).toBe(6)
  })

  test('is held by time: rounds, agents and steps begin no more', async () => {
    const clock = { time: Date.UTC(2026, 0, 12) }
    const search = namedSearch({ pause: async () => void (clock.time += 60_000) })
    const setting = await newResearch(endless, {
      actions: [search],
      now: () => clock.time,
      research: { limits: { timeoutMs: 600_000, agentTimeoutMs: 240_000 } },
    })
    const lines = await setting.lines(asking)
    expect(researchFaults(lines)).toEqual([])
    expect(search.calls.length).toBeGreaterThan(3)
    expect(search.calls.length).toBeLessThan(16)
    expect(setting.model.requests.some((call) => textOf(call.prompt.at(-1)).includes('the time for it was over'))).toBe(
      true,
    )
  })

  test.each([20_000, 60_000, 200_000])('is held by %i tokens, and still writes its report', async (tokens) => {
    const wordy = 'word '.repeat(2_000)
    const spent = { input: 0, output: 0 }
    const costly =
      (parts: readonly ScriptPart[]): Brain[keyof Brain] =>
      ({ call }) => {
        const input = estimateTokens(JSON.stringify(call.prompt.map(textOf)))
        const output = Math.min(call.maxOutputTokens ?? 1_000, 1_000)
        spent.input += input
        spent.output += output
        return [
          ...parts,
          { finish: parts.some((part) => typeof part !== 'string') ? 'tool-calls' : 'stop', usage: { input, output } },
        ]
      }
    const brain = Object.fromEntries(
      Object.entries(endless).map(([phase, act]) => [
        phase,
        (call: Parameters<NonNullable<Brain['plan']>>[0]) => {
          const parts = act?.(call)
          return costly(Array.isArray(parts) ? parts : [])?.(call)
        },
      ]),
    )
    const { lines, told: read } = await research({ maxTokens: tokens }, { ...brain, plan: costly(['1. One ', wordy]) })
    expect(researchFaults(lines)).toEqual([])
    expect(textOfRun(lines)).toContain('All there is')
    expect(read).toContain('tokens allotted')
    expect(spent.input + spent.output).toBeLessThan(tokens * 1.15)
    const stop = lines.at(-1)
    expect(stop).toMatchObject({ obj: { type: 'stop', usage: { output_tokens: spent.output + 5 } } })
  })

  test('is held by cost, as the host prices its tokens', async () => {
    const priced: unknown[] = []
    const agent: Brain['agent'] = ({ index }) => [
      calls(['internal_search', { queries: [`q ${index}`] }]),
      { finish: 'tool-calls', usage: { input: 1_000, output: 100 } },
    ]
    const setting = await newResearch(
      { ...endless, agent },
      {
        research: {
          limits: { maxCost: 2 },
          priceOf: (model) => {
            priced.push(model)
            return { input: 0.00001, output: 0.0001 }
          },
        },
      },
    )
    const lines = await setting.lines(asking)
    expect(researchFaults(lines)).toEqual([])
    expect(priced).toEqual([{ provider: 'scripted', name: 'script-1' }])
    expect(agentsIn(lines)).toBeLessThan(20)
    const final = setting.model.requests.findLast((call) => phaseOf(call) === 'final')
    expect(final?.prompt.map(textOf).join('\n')).toContain('the budget allotted')
  })
})

describe('bounds', () => {
  test('of the request win over those of the agent, and know whom they are for', async () => {
    const requests: unknown[] = []
    const { lines } = await newResearch(endless, {
      research: {
        limits: { maxAgents: 20, maxAgentCycles: 1 },
        policy: (coming) => {
          requests.push(coming)
          return { maxAgents: 3 }
        },
      },
    })
    const all = await lines(asking)
    expect([agentsIn(all), searchesIn(all)]).toEqual([3, 3])
    expect(requests).toEqual([
      {
        caller: { id: 'ana', scopes: ['chat'] },
        message: 'How many days of leave do I get?',
        sessionId: null,
        personaId: 0,
        model: { provider: 'scripted', name: 'script-1' },
        origin: 'unset',
      },
    ])
  })

  test('must be numbers above 0', async () => {
    expect(await codeOf(newResearch({}, { research: { limits: { maxTokens: 0 } } }))).toBe('VALIDATION_ERROR')
    const { send } = await newResearch({}, { research: { policy: () => ({ maxAgents: -1 }) } })
    expect(await codeOf(send(asking))).toBe('HOOK_EXECUTION_FAILED')
    expect(toKnownLimits({ maxAgents: 2 }, { maxCycles: undefined, maxAgents: 5 })).toMatchObject({
      maxAgents: 5,
      timeoutMs: 1_800_000,
    })
  })
})

describe('a budget', () => {
  test('sets aside for calls side by side, and gives back what they did not use', () => {
    const budget = createResearchBudget({ tokens: 10_000, cost: Number.POSITIVE_INFINITY })
    const first = budget.allow('research', 4_000, 1_000)
    expect(first).toMatchObject({ promptTokens: 4_000, answerTokens: 1_000 })
    const second = budget.allow('research', 4_000, 1_000)
    expect((second?.promptTokens ?? 0) + (second?.answerTokens ?? 0)).toBe(2_000)
    expect(budget.allow('research', 1_000, 100)).toBeUndefined()
    first?.settle(1_000, 100)
    first?.settle(9_000, 900)
    expect(budget.allow('research', 1_000, 100)).toMatchObject({ promptTokens: 1_000 })
  })

  test('keeps a share for reports, and never refuses the last one', () => {
    const budget = createResearchBudget({ tokens: 10_000, cost: Number.POSITIVE_INFINITY })
    budget.allow('research', 7_000, 0)
    expect(budget.exhausted()).toBe('tokens')
    expect(budget.allow('research', 100, 100)).toBeUndefined()
    const report = budget.allow('report', 5_000, 1_000)
    expect((report?.promptTokens ?? 0) + (report?.answerTokens ?? 0)).toBe(1_500)
    const final = budget.allow('final', 5_000, 1_000)
    expect((final?.promptTokens ?? 0) + (final?.answerTokens ?? 0)).toBe(1_500)
    expect(budget.allow('final', 5_000, 1_000)?.answerTokens).toBeGreaterThan(0)
  })

  test.each([
    ['tokens', { tokens: 1_000, cost: Number.POSITIVE_INFINITY }],
    ['cost', { tokens: 1_000_000, cost: 1_000, price: { input: 1, output: 1 } }],
  ] as const)('allows a call while 600 tokens are left for its phase by %s, and none with fewer', (reason, options) => {
    const budget = createResearchBudget(options)
    budget.allow('research', 700, 0)?.settle(100, 0)
    expect(budget.exhausted()).toBeUndefined()
    const last = budget.allow('research', 500, 100)
    expect(last).toMatchObject({ promptTokens: 500, answerTokens: 100 })
    last?.settle(1, 0)
    expect(budget.exhausted()).toBe(reason)
    expect(budget.allow('research', 1, 1)).toBeUndefined()
    expect(budget.lacked()).toBe(reason)
    const report = budget.allow('report', 500, 249)
    expect(report).toMatchObject({ promptTokens: 500, answerTokens: 249 })
    report?.settle(150, 0)
    expect(budget.allow('report', 1, 1)).toBeUndefined()
    expect(budget.allow('final', 5_000, 1_000)).toMatchObject({ promptTokens: 449, answerTokens: 300 })
    expect(budget.allow('final', 5_000, 1_000)).toMatchObject({ promptTokens: 300, answerTokens: 300 })
  })
})
