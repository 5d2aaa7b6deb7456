import { expect, test } from 'vitest'
import { scriptedModel } from '@inlay/agent/testing'
import { promptTokens } from '@inlay/agent/internal/prompt/context-window'
import { providerOf } from '../setting.ts'
import { asking, brainScript, calls, newResearch } from './research-script.ts'

const fact = (at: number): string => `Finding ${at} says something that takes room in the prompt. `

test('a research fits into a small window, and says what was left out', async () => {
  const model = scriptedModel(
    brainScript({
      orchestrate: ({ index }) =>
        index === 0
          ? [calls(...['one', 'two', 'three', 'four'].map((task) => ['research_agent', { task }] as const))]
          : [calls(['generate_report'])],
      // A report as long as the window.
      report: () => [Array.from({ length: 400 }, (_, at) => fact(at)).join('')],
    }),
  )
  const contextTokens = 8_000
  const { send } = await newResearch({}, { models: providerOf(model, { contextTokens }) })
  const { answer, error_msg: error } = await (await send(asking)).whole()
  expect(error).toBeNull()
  expect(answer).toMatch(/takes too few tokens to read all that was found: parts of \d interim reports were left out/)
  for (const { prompt } of model.requests) expect(promptTokens(prompt)).toBeLessThan(contextTokens)
})

test('a research that fits says nothing of the kind', async () => {
  const model = scriptedModel(brainScript({}))
  const { send } = await newResearch({}, { models: providerOf(model, { contextTokens: 8_000 }) })
  expect((await (await send(asking)).whole()).answer).not.toContain('left out')
})
