import type { Principal } from '@inlay/protocol'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { toRequest } from '../../agent/setting.ts'
import { accept, folder, open, receiver, secrets, statuses, until, waiting } from './setting.ts'

const caller: Principal = { id: 'ana', scopes: ['chat'] }

async function ask(inlay: Inlay): Promise<{ readonly sessionId: string; readonly messageId: number }> {
  const run = await inlay.agent.send(toRequest({ message: 'What is the text of leave?' }), { caller })
  await run.whole()
  return run
}

test('a receiver verifies each event with each of the secrets', async () => {
  const { url, got } = await receiver()
  const inlay = open(folder(), { webhooks: [{ url, secrets }] })
  await accept(inlay, 'leave')
  const { sessionId, messageId } = await ask(inlay)
  await inlay.agent.sessions.rate({ messageId, isPositive: true, text: 'Right.', predefined: null }, caller)
  await until(() => expect(got).toHaveLength(3))
  const events = got.map(({ headers, body }) => {
    for (const secret of secrets) new Webhook(secret).verify(body, { ...headers } as Record<string, string>)
    return JSON.parse(body) as { readonly type: string; readonly data: object }
  })
  const ids = { chat_session_id: sessionId, message_id: messageId, user_id: caller.id }
  expect(events.map(({ type, data }) => ({ type, data })).toSorted((a, b) => a.type.localeCompare(b.type))).toEqual([
    { type: 'answer.finished', data: { ...ids, status: 'done', error_code: null } },
    { type: 'document.indexed', data: { document_id: 'leave', revision: 1, chunk_count: 1 } },
    {
      type: 'feedback.given',
      data: { ...ids, is_positive: true, feedback_text: 'Right.', predefined_feedback: null },
    },
  ])
})

test('a receiver that fails gets the event again with the same id, when it asked for it and not before', async () => {
  const clock = { time: Date.now() }
  const { url, got } = await receiver(statuses(429, 0))
  const dataFolder = folder()
  const options: InlayOptions = { webhooks: [{ url, secrets }], now: () => clock.time }
  const first = open(dataFolder, options)
  await accept(first, 'leave')
  const comesAfter = (attempts: number, ms: number) =>
    until(() => expect(waiting(dataFolder)).toMatchObject([{ attempts, claim: null, due_at: clock.time + ms }]))
  await comesAfter(1, 3_600_000)
  await first.close()
  // Each start delivers what is due.
  clock.time += 3_600_000
  const second = open(dataFolder, options)
  await second.start()
  await comesAfter(2, 300_000)
  await second.close()
  clock.time += 300_000
  await open(dataFolder, options).start()
  await until(() => expect(waiting(dataFolder)).toEqual([]))
  expect(got).toHaveLength(3)
  expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('one that is gone, or of the own network and not allowed, gets nothing more, and the operator reads so', async () => {
  const { url, got } = await receiver(statuses(410))
  const inside = await receiver()
  const errors: Error[] = []
  const urls = [url, inside.url.replace('127.0.0.1', 'localhost')]
  const inlay = open(folder(), {
    webhooks: urls.map((each) => ({ url: each, secrets })),
    onError: (error) => errors.push(error as Error),
  })
  const said = (): string => errors.map(({ message }) => message).join()
  await accept(inlay, 'leave')
  await until(() => expect(said()).toContain('gone (410)'))
  await until(() => expect(said()).toContain('not on the public internet'))
  await accept(inlay, 'pay')
  await inlay.close()
  expect(got).toHaveLength(1)
  expect(inside.got).toEqual([])
})

test('a secret that is none is refused before anything starts', () => {
  expect(() => createInlay({ webhooks: [{ url: 'https://a.example/', secrets: ['whsec_short'] }] })).toThrow(
    /webhooks.*must be whsec_ followed by 24 to 64 random bytes/,
  )
})
