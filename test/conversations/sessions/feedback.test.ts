import { expect, test } from 'vitest'
import { ana, ben, codeOf, newSetting } from '../../agent/setting.ts'

const verdict = (messageId: number, isPositive: boolean | null, text: string | null = null) => ({
  messageId,
  isPositive,
  text,
  predefined: null,
})

test('the newest verdict on an answer is what a session shows, until all feedback is taken back', async () => {
  const { agent, send } = await newSetting(() => ['x'])
  const run = await send()
  await run.whole()
  const shown = async () => (await agent.sessions.get(run.sessionId, ana)).messages.at(-1)?.feedback
  expect(await shown()).toBeNull()
  await agent.sessions.rate(verdict(run.messageId, true), ana)
  expect(await shown()).toBe('like')
  await agent.sessions.rate(verdict(run.messageId, false, 'Wrong year.'), ana)
  expect(await shown()).toBe('dislike')
  await agent.sessions.rate(verdict(run.messageId, null, 'And too long.'), ana)
  expect(await shown()).toBe('dislike')
  await agent.sessions.unrate(run.messageId, ana)
  expect(await shown()).toBeNull()
})

test('only an answer of the caller can be judged', async () => {
  const { agent, send } = await newSetting(() => ['x'])
  const run = await send()
  await run.whole()
  const rate = (id: number, caller = ana) => codeOf(agent.sessions.rate(verdict(id, true), caller))
  expect(await rate(run.messageId - 1)).toBe('VALIDATION_ERROR')
  expect(await rate(999)).toBe('VALIDATION_ERROR')
  expect(await rate(Number.MAX_SAFE_INTEGER)).toBe('VALIDATION_ERROR')
  expect(await rate(-1)).toBe('VALIDATION_ERROR')
  expect(await rate(run.messageId, ben)).toBe('VALIDATION_ERROR')
  expect(await codeOf(agent.sessions.unrate(run.messageId, ben))).toBe('VALIDATION_ERROR')
  await agent.sessions.remove(run.sessionId, ana)
  expect(await rate(run.messageId)).toBe('VALIDATION_ERROR')
})

test('a caller judges a hundred times a minute; others are not counted in', async () => {
  const { agent, send, clock } = await newSetting(() => ['x'])
  const run = await send()
  await run.whole()
  const rate = (caller = ana) => agent.sessions.rate(verdict(run.messageId, true), caller)
  for (let count = 0; count < 99; count++) await rate()
  clock.time += 15_000
  await agent.sessions.unrate(run.messageId, ana)
  await expect(rate()).rejects.toMatchObject({ code: 'RATE_LIMITED', data: { retryAfterSeconds: 45 } })
  expect(await codeOf(rate(ben))).toBe('VALIDATION_ERROR')
  clock.time += 45_000
  expect(await codeOf(rate())).toBe('none')
})
