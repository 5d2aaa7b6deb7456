import { join } from 'node:path'
import { modelProviders } from '@inlay/drivers/model-providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fold, type Packet, type StreamLine } from '@inlay/protocol'
import { researchFaults } from '../agent/research/research-order.ts'
import type { RecordedRequest, ReplyPart } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { linesOf, openInlay, overFolder, research } from './research-fixture.ts'

const bodiesOf = (lines: readonly StreamLine[]): Packet['obj'][] =>
  lines.flatMap((line) => ('obj' in line ? [line.obj] : []))

/** The parts of a request that a script uses. */
function readRequest({ body }: RecordedRequest): {
  tools: readonly string[]
  system: string
  text: string
  calls: number
} {
  const tools = (body['tools'] ?? []) as { function: { name: string } }[]
  const messages = (body['messages'] ?? []) as { role: string; content: unknown }[]
  return {
    tools: tools.map(({ function: { name } }) => name),
    system: String(messages[0]?.content),
    text: JSON.stringify(messages),
    calls: messages.filter(({ role }) => role === 'tool').length,
  }
}

let ids = 0
const call = (...list: readonly (readonly [string, unknown])[]): readonly ReplyPart[] => [
  { calls: list.map(([name, input]) => ({ id: `call-${++ids}`, name, input })) },
]

const tasks = ['Find out how ingestion is made durable.', 'Find out how citations are numbered.']

/** A provider's model that researches with two agents at once: each waits for the other before it searches. */
function twoAgents(): (request: RecordedRequest) => readonly ReplyPart[] {
  const arrived = new Set<string>()
  const both = Promise.withResolvers<void>()
  return (request) => {
    const { tools, system, text, calls } = readRequest(request)
    if (tools.includes('generate_plan')) return call(['generate_plan', {}])
    if (system.startsWith('You plan')) return [{ text: '1. Durability\n' }, { text: '2. Citations' }]
    if (tools.includes('research_agent')) {
      return calls === 0
        ? call(...tasks.map((task) => ['research_agent', { task }] as const))
        : call(['generate_report', {}])
    }
    const task = tasks.find((item) => text.includes(item)) ?? ''
    if (tools.length > 0) {
      arrived.add(task)
      if (arrived.size === 2) both.resolve()
      return calls === 0
        ? [{ pause: () => both.promise }, ...call(['internal_search', { queries: [task] }])]
        : call(['generate_report', {}])
    }
    if (system.startsWith('You write the report of')) return [{ text: `${task.slice(9, -1)} ` }, { text: '[1].' }]
    return [{ text: 'Both are found out ' }, { text: '[1][2].' }]
  }
}

/** A provider whose model is never asked. */
const unasked = modelProviders({
  providers: [
    {
      name: 'local',
      type: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
      models: [{ name: 'stand-in', contextTokens: 128_000 }],
    },
  ],
})

describe('deep research that cannot begin', () => {
  test('is refused without a language model, and names the setting', async () => {
    const inlay = await overFolder(join(import.meta.dirname, '../../docs'))
    const refused = await research(inlay, 'How safe is it?')
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error_code: 'VALIDATION_ERROR',
      detail: expect.stringMatching(/INLAY_MODEL/),
    })
  })

  test('is refused in words, with nothing to search and with no search allowed', async () => {
    const inlay = openInlay({ model: unasked })
    const nothing = await research(inlay, 'How safe is it?')
    expect(nothing.status).toBe(400)
    expect(await nothing.json()).toMatchObject({
      error_code: 'VALIDATION_ERROR',
      detail: expect.stringMatching(/add documents/),
    })
    const twice = await research(inlay, 'How safe is it?', { llm_overrides: [{}, {}] })
    expect(twice.status).toBe(400)
    expect(await twice.json()).toMatchObject({ error_code: 'VALIDATION_ERROR' })
  })
})

describe('deep research with the model of a provider, over HTTP', () => {
  test('has two agents at work at once, and cites what both found', async () => {
    const server = await startOpenAi(twoAgents())
    onTestFinished(() => server.close())
    const model = { name: 'stand-in', contextTokens: 128_000, grounding: 'tools' } as const
    const provider = {
      name: 'local',
      type: 'openai-compatible',
      baseUrl: `${server.origin}/v1`,
      models: [model],
    } as const
    const inlay = await overFolder(join(import.meta.dirname, '../../docs'), {
      model: modelProviders({ providers: [provider] }),
    })
    const lines = await linesOf(await research(inlay, 'How safe is it?', { include_usage: true }))
    expect(researchFaults(lines)).toEqual([])
    const bodies = bodiesOf(lines)
    expect(bodies.filter(({ type }) => type === 'research_agent_start')).toEqual(
      tasks.map((task) => ({ type: 'research_agent_start', research_task: task })),
    )
    const { answer, citation_info: cited } = fold(lines)
    expect(answer).toMatch(/^Both are found out \[\[1\]\]\(https:[^)]+\)\[\[2\]\]\(https:[^)]+\)\.$/)
    expect(cited).toHaveLength(2)
    // The usage of every model call is reported.
    const { length: count } = server.requests
    expect(count).toBeGreaterThanOrEqual(11)
    expect(bodies.at(-1)).toMatchObject({ usage: { input_tokens: count * 12, output_tokens: count * 7 } })
  })
})
