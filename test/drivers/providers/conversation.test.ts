import { describe, expect, test } from 'vitest'
import { providers } from '../../stand-in/providers/index.ts'
import { startConversation, steps, type Step } from './conversation.ts'

type Name = keyof typeof providers

/** Rules that may refuse one request of the chat: what is learned by it is told to the operator. */
const learned: Partial<Record<Name, readonly string[]>> = {
  mistral: ['no thoughts', 'order of roles'],
  groq: ['no thoughts'],
  vllm: ['roles alternate'],
}

const schemas = 'schemas of tools are not mended'
const thoughts = 'thoughts are not sent back'
/** What does not hold yet, and what it waits for. */
const pending: Partial<Record<Name, string>> = {
  openai: 'descriptions of tools are not cut',
  azure: 'the query of a base URL is not kept',
  anthropic: schemas,
  geminiCompatible: schemas,
  deepseek: thoughts,
  kimi: thoughts,
  openrouter: thoughts,
  llamaCpp: schemas,
}

const title = 'answers a chat with a search, tools, a picture and a stop, without a refusal for the person'
const names = Object.keys(providers) as Name[]
const cited = (answer: string): string => answer.replace('[1]', '[[1]](https://docs.example/leave)')

describe.each(names.filter((name) => pending[name] === undefined))('%s', (name) => {
  test(title, async () => {
    const { ask, askAndStop, calls, notices, provider } = await startConversation(providers[name])
    const check = async (step: Step): Promise<void> => {
      const { question } = step
      const { answer, error_msg: error } = await ask(step)
      expect({ question, answer, error }).toEqual({ question, answer: cited(step.answer), error: null })
    }
    for (const step of [steps.search, steps.actions, steps.oddTool]) await check(step)
    if (providers[name].seesPictures) await check(steps.picture)
    await askAndStop(steps.stopped)
    for (const step of [steps.afterStop, steps.whole]) await check(step)

    expect(calls).toEqual({ get_weather: [{ city: 'Oslo' }], lookup: [{ q: 'Oslo' }], odd: [{ id: '7', count: 7 }] })
    const refused = provider.refused.map(({ rule }) => rule)
    expect(refused.filter((rule, at) => !learned[name]?.includes(rule) || refused.indexOf(rule) < at)).toEqual([])
    expect(notices).toHaveLength(refused.length)
  })
})

for (const name of names) if (pending[name] !== undefined) test.todo(`${name} ${title}: ${pending[name]}`)
