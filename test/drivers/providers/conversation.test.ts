import { describe, expect, test } from 'vitest'
import { providers } from '../../stand-in/providers/index.ts'
import { startConversation, steps, type Step } from './conversation.ts'

type Name = keyof typeof providers

/** Rules that may refuse a request, once each: what is learned by them is told to the operator. */
const learned: Partial<Record<Name, readonly string[]>> = {}

/** What does not hold yet, and what it waits for. */
const pending: Partial<Record<Name, string>> = {
  openai: 'descriptions of tools are not cut',
  anthropic: 'schemas of tools are not mended',
  geminiCompatible: 'schemas of tools are not mended',
  deepseek: 'thoughts are not sent back',
  kimi: 'thoughts are not sent back',
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
    expect(provider.refused.map(({ rule }) => rule)).toEqual(learned[name] ?? [])
    expect(notices).toHaveLength(learned[name]?.length ?? 0)
  })
})

for (const name of names) if (pending[name] !== undefined) test.todo(`${name} ${title}: ${pending[name]}`)
