import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { createStorage } from 'unstorage'
import { describe, expect, test } from 'vitest'
import type { ConversationsOptions } from '@inlay/conversations'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import type { PastMessage } from '@inlay/agent/internal/contracts/conversation-store'
import { summarizeBranch } from '@inlay/agent/internal/prompt/summaries'
import { ana, eventually, newSetting, providerOf, type Setting } from '../setting.ts'

const asksForSummary = ({ prompt }: LanguageModelV4CallOptions): boolean =>
  prompt[0]?.role === 'system' && prompt[0].content.startsWith('You keep the memory')

/** An agent whose model has a small window, writes some 430 tokens per turn, and has scripted summaries. */
async function newTalk(
  summarize: (count: number) => ScriptStep,
  { options, ...more }: { quotesOnly?: boolean; options?: Partial<ConversationsOptions> } = {},
) {
  let summaries = 0
  const model = scriptedModel((call) =>
    asksForSummary(call) ? summarize(++summaries) : [`Answer to ${lastUserText(call)} ${'and more '.repeat(190)}`],
  )
  const setting = await newSetting([], {
    models: providerOf(model, { contextTokens: 4_000, ...more }),
    ...options,
  })
  const ownCalls = () => model.requests.filter((call) => !asksForSummary(call))
  const summing = () => model.requests.filter(asksForSummary)
  return { ...setting, requests: ownCalls, summing }
}

const lastUserText = ({ prompt }: LanguageModelV4CallOptions): string => {
  const part = prompt.findLast(({ role }) => role === 'user')?.content.at(-1)
  return typeof part === 'object' && part.type === 'text' ? part.text : ''
}

const stored = async ({ db }: Pick<Setting, 'db'>) =>
  db.withTables<ConversationTables>().selectFrom('inlay_chat_summaries').selectAll().orderBy('message_id').execute()

/** Asks numbered questions, one after the other. */
async function talk(setting: Setting, from: number, to: number, session: string | null = null): Promise<string> {
  let id = session
  for (let number = from; number <= to; number++) {
    const run = await setting.send({ message: `Question ${number}?`, chat_session_id: id })
    await run.whole()
    id = run.sessionId
  }
  return id ?? ''
}

describe('a long conversation', () => {
  test('is summed up once it fills half the window; later prompts hold the summary instead', async () => {
    const setting = await newTalk((count) => [`Summary ${count}: leave is 28 days.`])
    const id = await talk(setting, 1, 4)
    expect(await stored(setting)).toEqual([])
    await talk(setting, 5, 5, id)
    await eventually(async () => (await stored(setting)).length === 1)
    const transcript = JSON.stringify(setting.summing()[0]?.prompt)
    expect(transcript).toContain('Person: Question 1?')
    expect(transcript).toContain('Assistant: Answer to Question 3?')
    await talk(setting, 6, 6, id)
    const promptText = JSON.stringify(setting.requests().at(-1)?.prompt)
    expect(promptText).toContain('Summary 1: leave is 28 days.')
    expect(promptText).toContain('Question 5?')
    expect(promptText).not.toContain('Question 1?')
    expect(setting.errors).toEqual([])
  })

  test('is summed up again with the summary before', async () => {
    const setting = await newTalk((count) => [`Summary ${count}.`])
    const id = await talk(setting, 1, 5)
    await eventually(async () => (await stored(setting)).length === 1)
    for (let number = 6; (await stored(setting)).length === 1; number++) {
      await talk(setting, number, number, id)
      await new Promise((resolve) => setImmediate(resolve))
      if (number > 40) throw new Error('It was never summed up again.')
    }
    const transcript = JSON.stringify(setting.summing()[1]?.prompt)
    expect(transcript).toContain('What was said before: Summary 1.')
    expect(transcript).not.toContain('Question 1?')
  })

  test('keeps its messages as they are, and a branch from before the summary has them all', async () => {
    const setting = await newTalk(() => ['Summary.'])
    const id = await talk(setting, 1, 5)
    await eventually(async () => (await stored(setting)).length === 1)
    const { messages } = await setting.agent.sessions.get(id, ana)
    expect(messages.filter(({ role }) => role === 'user').map(({ text }) => text)).toHaveLength(5)
    const second = messages.filter(({ role }) => role === 'assistant')[1]
    await (await setting.send({ message: 'Other?', chat_session_id: id, parent_message_id: second?.id })).whole()
    const promptText = JSON.stringify(setting.requests().at(-1)?.prompt)
    expect(promptText).not.toContain('Summary.')
    expect(promptText).toContain('Question 1?')
    expect(promptText).toContain('Question 2?')
    expect(promptText).not.toContain('Question 3?')
  })

  test('keeps the files that came with what is summed up', async () => {
    const setting = await newTalk(() => ['Summary.'], { options: { storage: createStorage() } })
    async function* arriving() {
      yield {
        name: 'rules.md',
        mediaType: 'text/markdown',
        bytes: (async function* () {
          yield new TextEncoder().encode('Domes close at dawn.')
        })(),
      }
    }
    const { files } = await setting.agent.files.upload(arriving(), { caller: ana })
    const first = await setting.send({ message: 'Question 1?', file_descriptors: [{ id: files[0]?.fileId ?? '' }] })
    await first.whole()
    await talk(setting, 2, 5, first.sessionId)
    await eventually(async () => (await stored(setting)).length === 1)
    await talk(setting, 6, 6, first.sessionId)
    const promptText = JSON.stringify(setting.requests().at(-1)?.prompt)
    expect(promptText).not.toContain('Question 1?')
    expect(promptText).toContain('Domes close at dawn.')
  })

  test('of a model that only quotes is cut', async () => {
    const setting = await newTalk(() => ['Never.'], { quotesOnly: true })
    await talk(setting, 1, 12)
    await setting.agent.close()
    expect(setting.summing()).toEqual([])
    const promptText = JSON.stringify(setting.requests().at(-1)?.prompt)
    expect(promptText).toContain('Question 12?')
    expect(promptText).not.toContain('Question 1?')
  })
})

test('a summary that fails is tried again after the next turn; the talk goes on', async () => {
  const setting = await newTalk((count) => (count === 1 ? { reject: new Error('down') } : ['Summary.']))
  const id = await talk(setting, 1, 5)
  await eventually(() => setting.errors.length === 1)
  expect(await stored(setting)).toEqual([])
  await talk(setting, 6, 6, id)
  await eventually(async () => (await stored(setting)).length === 1)
})

test('a summary on its way is given up when the agent closes', async () => {
  const setting = await newTalk(() => [{ hang: true }])
  await talk(setting, 1, 5)
  await eventually(() => setting.summing().length === 1)
  await setting.agent.close()
  expect(setting.summing()[0]?.abortSignal?.aborted).toBe(true)
  expect(setting.errors).toEqual([])
  expect(await stored(setting)).toEqual([])
})

test('whole turns are summed up, wherever the newest that fit begin', async () => {
  const nothing = { status: 'done', files: [], toolCalls: [], callCount: 0, params: null } as const
  const messages: PastMessage[] = Array.from({ length: 24 }, (_, at) => {
    const role = at % 2 === 0 ? 'user' : 'assistant'
    return { ...nothing, id: at + 1, role, text: 'word '.repeat(200) }
  })
  const ends = new Set<number>()
  for (let contextTokens = 2_000; contextTokens <= 6_000; contextTokens += 250) {
    const model = { ...(await providerOf(scriptedModel([['Summary.']])).resolve()), contextTokens }
    const branch = async () => ({ summary: null, summaryFiles: [], messages })
    const saveSummary = async ({ messageId }: { messageId: number }) => void ends.add(messageId)
    const { signal } = new AbortController()
    await summarizeBranch({ conversations: { branch, saveSummary }, sessionId: 's', messageId: 24, model, signal })
  }
  expect(ends.size).toBeGreaterThan(1)
  // An answer ends what was summed up, and a question begins what is kept.
  for (const id of ends) expect(messages[id - 1]?.role).toBe('assistant')
})
