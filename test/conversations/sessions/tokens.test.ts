import { expect, test } from 'vitest'
import { scriptedModel } from '@inlay/agent/testing'
import { ana, ben, codeOf, newSetting, providerOf } from '../../agent/setting.ts'

test('what a session can still take shrinks with what was said in it', async () => {
  const model = scriptedModel(() => ['word '.repeat(2_000)])
  const { agent, send } = await newSetting([], {
    models: providerOf(model, { contextTokens: 10_000, quotesOnly: true }),
  })
  const { id } = await agent.sessions.create({}, ana)
  const empty = await agent.sessions.freeTokens(id, ana)
  expect(empty).toBeGreaterThan(6_000)
  expect(empty).toBeLessThan(8_000)
  await (await send({ chat_session_id: id })).whole()
  const once = await agent.sessions.freeTokens(id, ana)
  expect(empty - once).toBeGreaterThan(2_400)
  expect(empty - once).toBeLessThan(2_700)
  for (let turn = 0; turn < 4; turn++) await (await send({ chat_session_id: id })).whole()
  expect(await agent.sessions.freeTokens(id, ana)).toBe(0)
  expect(await codeOf(agent.sessions.freeTokens(id, ben))).toBe('SESSION_NOT_FOUND')
})

test('documents may take what a new session can, but for the question about them', async () => {
  const { agent } = await newSetting([])
  const { id } = await agent.sessions.create({}, ana)
  expect(await agent.sessions.documentTokens(0, ana)).toBe((await agent.sessions.freeTokens(id, ana)) - 2_000)
  expect(await codeOf(agent.sessions.documentTokens(7, ana))).toBe('PERSONA_NOT_FOUND')
})
