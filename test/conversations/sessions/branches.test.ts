import { expect, test } from 'vitest'
import { ana, ben, codeOf, newSetting, readAll } from '../../agent/setting.ts'

test('the answer liked best is marked and its branch is gone on with', async () => {
  const { agent, send, model } = await newSetting([['One.'], ['Two.'], ['Next.']])
  const run = await send({ llm_overrides: [{ display_name: 'A' }, { display_name: 'B' }] })
  const lines = await readAll(run)
  const [first, second] = lines.flatMap((line) => ('responses' in line ? line.responses : []))
  const question = 2
  await agent.sessions.preferResponse(question, second?.message_id ?? 0, ana)
  const { messages } = await agent.sessions.get(run.sessionId, ana)
  expect(messages.find(({ id }) => id === question)).toMatchObject({
    preferredResponseId: second?.message_id,
    latestChildId: second?.message_id,
  })
  await (await send({ chat_session_id: run.sessionId })).whole()
  const promptText = JSON.stringify(model.requests[2]?.prompt)
  const liked = messages.find(({ id }) => id === second?.message_id)?.text
  expect(promptText).toContain(liked)
  expect(promptText).not.toContain(messages.find(({ id }) => id === first?.message_id)?.text)
})

test('an answer is preferred only to a question of its own, by the one who asked', async () => {
  const { agent, send } = await newSetting(() => ['x'])
  const run = await send()
  await run.whole()
  const other = await send({ chat_session_id: run.sessionId })
  await other.whole()
  const prefer = (question: number, answer: number, caller = ana) =>
    codeOf(agent.sessions.preferResponse(question, answer, caller))
  expect(await prefer(2, 3)).toBe('none')
  expect(await prefer(2, other.messageId)).toBe('INVALID_INPUT')
  expect(await prefer(3, 2)).toBe('INVALID_INPUT')
  expect(await prefer(2, 99)).toBe('INVALID_INPUT')
  expect(await prefer(2, 3, ben)).toBe('INVALID_INPUT')
})
