import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { scriptedModel } from '@inlay/agent/testing'
import { expect, onTestFinished, test } from 'vitest'
import { ana, ben, codeOf, providerOf, toRequest } from '../setting.ts'
import { shopAssistant } from './example.ts'

function openShop(...steps: Parameters<typeof scriptedModel>[0] & readonly unknown[]) {
  const db = new DatabaseSync(':memory:')
  const model = scriptedModel(steps)
  const agent = shopAssistant(db, providerOf(model))
  onTestFinished(async () => {
    await agent.close()
    db.close()
  })
  return { db, model, agent }
}

test('the documented example is the one that runs, in less than 60 lines', () => {
  // People import from the one package that they install.
  const code = readFileSync(new URL('example.ts', import.meta.url), 'utf8').replaceAll("'@inlay/", "'inlay/")
  const page = readFileSync('docs/1.guide/13.engine.md', 'utf8')
  expect(page).toContain(`\`\`\`ts\n${code}\`\`\``)
  expect(code.trimEnd().split('\n').length).toBeLessThan(60)
})

test("a host's own tables hold the conversation that the engine goes on with", async () => {
  const { db, model, agent } = openShop(['We open at nine.'], ['At six.'])
  const first = await agent.send(toRequest({ message: 'When do you open?' }), { caller: ana })
  await first.whole()
  const next = { message: 'And close?', chat_session_id: first.sessionId }
  expect((await (await agent.send(toRequest(next), { caller: ana })).whole()).answer).toBe('At six.')
  expect(model.requests[1]?.prompt.slice(1)).toMatchObject([
    { role: 'user', content: [{ text: 'When do you open?' }] },
    { role: 'assistant', content: [{ text: 'We open at nine.' }] },
    { role: 'user', content: [{ text: 'And close?' }] },
  ])
  const rows = db.prepare('select role, status, text from messages order by id').all()
  expect(rows.map(({ role, status, text }) => `${role} ${status}: ${text}`)).toEqual([
    'system done: ',
    'user done: When do you open?',
    'assistant done: We open at nine.',
    'user done: And close?',
    'assistant done: At six.',
  ])
})

test('a question is answered again, and a chat is open to its customer alone', async () => {
  const { agent, model } = openShop(['At nine.'], ['At nine, on Sundays at ten.'])
  const first = await agent.send(toRequest({ message: 'When do you open?' }), { caller: ana })
  await first.whole()
  const again = toRequest({ chat_session_id: first.sessionId, parent_message_id: first.messageId - 1 })
  expect((await (await agent.send(again, { caller: ana })).whole()).answer).toBe('At nine, on Sundays at ten.')
  expect(model.requests[1]?.prompt.at(-1)).toMatchObject({ content: [{ text: 'When do you open?' }] })
  const foreign = toRequest({ chat_session_id: first.sessionId })
  expect(await codeOf(agent.send(foreign, { caller: ben }))).toBe('SESSION_NOT_FOUND')
  expect(await codeOf(agent.send(toRequest(), { caller: ana, idempotencyKey: 'k' }))).toBe('UNSUPPORTED')
})
