import { expect, test } from 'vitest'
import type { ScriptPart, ScriptStep } from '@inlay/agent/testing'
import { fold, type StreamLine } from '@inlay/protocol'
import { seededRandom } from '../../life/random.ts'
import { ana, newDoc, readAll } from '../setting.ts'
import { asking, calls, newResearch, phaseOf, type Brain, type PhaseCall } from './research-script.ts'
import { researchFaults } from './research-order.ts'
import { scriptedAction } from '../scripted-action.ts'

type Random = () => number

const oneOf = <Item>(random: Random, items: readonly [Item, ...Item[]]): Item =>
  items[Math.floor(random() * items.length)] ?? items[0]

const texts = ['So [1]', '. ', ' [', '2', '] and [9]', '\n\n', '`x[1]`', ' ', 'α [1][2]', '[101] '] as const
const text = (random: Random): string[] =>
  Array.from({ length: 1 + Math.floor(random() * 4) }, () => oneOf(random, texts))

/** A call that may be made of anything, also of what is not offered or makes no sense. */
function someCall(random: Random, { call, index }: PhaseCall): readonly [string, unknown] {
  const offered = (call.tools ?? []).map(({ name }) => name)
  const name = oneOf(random, ['nonsense', ...offered, ...offered, ...offered])
  const inputs: readonly [unknown, ...unknown[]] = [
    { task: `Task ${index} ${Math.floor(random() * 3)}`, queries: [`q${index}`], reasoning: 'Let me think.' },
    { task: `Task ${index}`, queries: ['a', 'b'], reasoning: ' ' },
    oneOf(random, ['', '{"task": ', {}, { task: 5 }, '[]']),
  ]
  return [name, oneOf(random, inputs)]
}

function someStep(random: Random, question: PhaseCall): ScriptStep {
  const dice = random()
  if (dice < 0.03) return { reject: new Error('of the provider') }
  const parts: ScriptPart[] = []
  if (random() < 0.3) parts.push({ reasoning: ['Hm', ' so.'] })
  const mayCall = (question.call.tools ?? []).length > 0
  if (!mayCall || random() < 0.2) parts.push({ text: text(random) })
  if (mayCall && random() < 0.9) {
    parts.push(calls(...Array.from({ length: 1 + Math.floor(random() * 3) }, () => someCall(random, question))))
  }
  if (dice > 0.98) parts.push({ cut: new Error('the connection broke') })
  return parts
}

function someSearch(random: Random, id: number, name: string, builtIn: string) {
  return scriptedAction({
    id,
    name,
    builtIn,
    mergeArgument: 'queries',
    start: { type: 'search_tool_start', is_internet_search: id === 2 },
    result: async (_input, turn) => {
      turn.emit({ type: 'search_tool_queries_delta', queries: ['q'] })
      if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve))
      if (random() < 0.1) throw new Error('the index is gone')
      const documents = Array.from({ length: Math.floor(random() * 4) }, () => newDoc(`d${Math.floor(random() * 6)}`))
      if (documents.length > 0) turn.emit({ type: 'search_tool_documents_delta', documents })
      turn.cite(documents)
      return { text: '{"results":[]}', documents, foundDocuments: documents }
    },
  })
}

const seeds = Array.from({ length: 150 }, (_, index) => index + 1)

test('research by models that do anything keeps the order of the stream, ends, and can be read again', async () => {
  let finished = 0
  for (const seed of seeds) {
    const random = seededRandom(seed)
    const step = (call: PhaseCall): ScriptStep => someStep(random, call)
    const brain: Brain = {
      clarify: (call) => (random() < 0.8 ? undefined : step(call)),
      plan: step,
      orchestrate: step,
      agent: step,
      report: step,
      final: step,
    }
    const search = someSearch(random, 1, 'internal_search', 'SearchTool')
    const web = someSearch(random, 2, 'web_search', 'WebSearchTool')
    const { agent, send, model } = await newResearch(brain, {
      actions: [search, web],
      research: { limits: { maxAgents: 8, maxAgentCycles: 3, maxCycles: 4 } },
    })
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ ...asking, chat_session_id: id })
    const stopAt = random() < 0.2 ? Math.floor(random() * 30) : Number.POSITIVE_INFINITY
    const seen: StreamLine[] = []
    for await (const entries of run.read()) {
      seen.push(...entries.map(({ json }) => JSON.parse(json) as StreamLine))
      if (seen.length > stopAt) void agent.stop(id, ana)
    }
    expect({ seed, faults: researchFaults(seen) }).toEqual({ seed, faults: [] })
    expect(await readAll(run)).toEqual(seen)
    const { tool_calls: reports, ...whole } = await run.whole()
    const { tool_calls: shown, ...streamed } = fold(seen, { chatSessionId: id })
    expect({ seed, ...streamed }).toEqual({ seed, ...whole })
    expect(reports.length).toBeGreaterThanOrEqual(
      shown.filter(({ tool_name: name }) => name === 'research_agent').length,
    )
    // Two for each round of eight agents at most, and what leads there.
    expect(model.requests.length).toBeLessThan(200)
    const { messages, packets } = await agent.sessions.get(id, ana)
    expect(messages.at(-1)?.text).toBe(whole.answer)
    const last = seen.at(-1)!
    expect(packets.at(-1)?.at(-1)?.obj).toMatchObject('obj' in last ? last.obj : { type: 'error' })
    if (model.requests.some((call) => phaseOf(call) === 'final')) finished++
    await agent.close()
  }
  // The scripts are not so wild that none would come to its end.
  expect(finished).toBeGreaterThan(seeds.length / 4)
})
