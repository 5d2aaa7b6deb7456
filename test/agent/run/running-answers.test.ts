import { createAgent, inMemoryStores, type PastMessage } from '@inlay/agent'
import { scriptedModel } from '@inlay/agent/testing'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ana, eventually, providerOf, toRequest } from '../setting.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const everything = { chars: 1_000_000, withoutCallsOf: [] }

test('what a running answer has said is stored meanwhile, so that a process that dies loses little of it', async () => {
  let go = (): void => {}
  const paused = new Promise<void>((resolve) => (go = resolve))
  const model = scriptedModel([['The first half', { pause: () => paused }, ' and the second.']])
  const { conversations, runs } = inMemoryStores({ now: Date.now, newId: () => crypto.randomUUID() })
  const agent = createAgent({ models: providerOf(model), conversationStore: conversations, runStore: runs })
  onTestFinished(() => agent.close())
  const run = await agent.send(toRequest(), { caller: ana })
  const stored = async (): Promise<Pick<PastMessage, 'status' | 'text'> | undefined> =>
    (await conversations.branch(run.sessionId, null, everything)).messages.at(-1)
  await eventually(async () => {
    await vi.advanceTimersByTimeAsync(1_000)
    return (await stored())?.text === 'The first half'
  })
  expect(await stored()).toMatchObject({ status: 'running' })
  go()
  await run.whole()
  expect(await stored()).toMatchObject({ status: 'done', text: 'The first half and the second.' })
  expect(vi.getTimerCount()).toBe(0)
})
