import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { test } from 'vitest'
import { z } from 'zod'
import type { HostAgent } from '@inlay/agent'
import { hostAgentConformance } from '@inlay/conformance'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { mastraAgent } from '@inlay/mastra'

const gauge = createTool({
  id: 'gauge',
  description: 'Returns the rain of a town.',
  inputSchema: z.object({ town: z.string() }),
  execute: async ({ town }) => {
    if (town === 'Atlantis') throw new Error('No station.')
    return { millimetres: 12 }
  },
})

const scripts: Readonly<Record<string, ScriptStep>> = {
  'Sky?': ['The sky is blue.'],
  'Grass?': ['Grass is green.'],
  Rain: [{ calls: ['Oslo', 'Atlantis'].map((town) => ({ name: 'gauge', input: { town } })) }],
  Code: [{ calls: ['code', 'number'].map((query) => ({ name: 'internal_search', input: { queries: [query] } })) }],
  Fail: [{ cut: new Error('The model is away.') }],
  Talk: ['And on.', { hang: true }],
}

/** A model that says what the last message asks for, and repeats results. */
const model = () =>
  scriptedModel(({ prompt }) => {
    const last = prompt.at(-1)
    const text = JSON.stringify(last?.content)
    if (last?.role === 'tool') return [`I read ${text}`]
    const [, name] = /I am (\w+)/.exec(JSON.stringify(prompt)) ?? []
    if (text.includes('Who am I?')) return [`You are ${name}.`]
    return scripts[/"text":"(.*?)"/.exec(text)?.[1] ?? ''] ?? ['I do not know.']
  })

function makeAgent(): HostAgent {
  const agent = new Agent({
    id: 'gauge',
    name: 'Gauge',
    instructions: 'You know the rain.',
    // Same specification; Mastra has the types of its own copy of the provider package.
    model: model() as never,
    tools: { gauge },
  })
  void new Mastra({ agents: { agent }, logger: false })
  return mastraAgent(agent)
}

const tests = hostAgentConformance(() => ({
  agent: makeAgent(),
  answers: [
    { message: 'Sky?', word: 'blue' },
    { message: 'Grass?', word: 'green' },
  ],
  recalls: { earlier: { message: 'I am Zora.', answer: 'Hello!' }, message: 'Who am I?', word: 'Zora' },
  calls: 'Rain',
  searches: { message: 'Code', action: 'internal_search' },
  fails: 'Fail',
  lasts: 'Talk',
}))
for (const [title, run] of tests) test(`an agent of Mastra: ${title}`, run)
