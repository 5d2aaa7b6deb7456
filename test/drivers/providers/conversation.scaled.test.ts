import { describe, expect, test } from 'vitest'
import { cases } from '../../cases.ts'
import { providerNames, providers } from '../../stand-in/providers/index.ts'
import { startConversation, steps, type Step } from './conversation.ts'

/**
 * By the provider's own client where it has one, and by the one for all servers with OpenAI's API. The modules of the
 * client for Bedrock do not load under the conditions of the tests.
 */
const ways = providerNames
  .filter((name) => name !== 'bedrock')
  .flatMap((name) => {
    const { api, ...common } = providers[name]
    const own = { way: name as string, provider: providers[name] }
    const isCommon = api !== undefined && !['anthropic', 'gemini', 'openaiResponses'].includes(name)
    return isCommon ? [own, { way: `${name} by OpenAI's API`, provider: common }] : [own]
  })

/** Rules that may refuse a request of the chat, as often as named: what is learned by it is told to the operator. */
const learned: Readonly<Record<string, readonly string[]>> = {
  "deepseek by OpenAI's API": ['thoughts come back with calls'],
  kimi: ['thoughts come back with calls'],
  mistral: ['order of roles'],
  "mistral by OpenAI's API": ['no thoughts', 'order of roles'],
  "groq by OpenAI's API": ['no thoughts'],
  openaiResponses: ['no chat completions'],
  geminiCompatible: ['signatures'],
  llamaCpp: ['schemas have a type'],
  // What a stopped call lacks is guessed in four steps.
  openrouter: Array(4).fill('thoughts come back with calls'),
  "openrouter by OpenAI's API": Array(4).fill('thoughts come back with calls'),
  vllm: ['roles alternate'],
}

const title = 'answers a chat with a search, tools, a picture and a stop, without a refusal for the person'
const cited = (answer: string): string => answer.replace('[1]', '[[1]](https://docs.example/leave)')

describe.each(ways.filter((_, at) => at % cases(3, 1) === 0))('$way', ({ way, provider: given }) => {
  test(title, async () => {
    const { ask, askAndStop, calls, notices, provider } = await startConversation(given)
    const check = async (step: Step): Promise<void> => {
      const { question } = step
      const { answer, error_msg: error } = await ask(step)
      expect({ question, answer, error }).toEqual({ question, answer: cited(step.answer), error: null })
    }
    for (const step of [steps.search, steps.actions, steps.oddTool]) await check(step)
    if (given.seesPictures) await check(steps.picture)
    await askAndStop(steps.stopped)
    for (const step of [steps.afterStop, steps.whole]) await check(step)

    expect(calls).toEqual({ get_weather: [{ city: 'Oslo' }], lookup: [{ q: 'Oslo' }], odd: [{ id: '7', count: 7 }] })
    const refused = provider.refused.map(({ rule }) => rule)
    const expected = [...(learned[way] ?? [])]
    const isUnexpected = (rule: string): boolean => expected.splice(expected.indexOf(rule) >>> 0, 1).length === 0
    expect(refused.filter(isUnexpected)).toEqual([])
    expect(notices.length).toBeGreaterThanOrEqual(refused.length)
  })
})
