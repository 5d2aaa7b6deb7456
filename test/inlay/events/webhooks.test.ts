import type { Principal } from '@inlay/protocol'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { toRequest } from '../../agent/setting.ts'
import { accept, folder, open, receiver, secrets, statuses, until } from './setting.ts'

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
  const { url, got } = await receiver(statuses(503, 0))
  const errors: unknown[] = []
  const dataFolder = folder()
  const options: InlayOptions = {
    webhooks: [{ url, secrets }],
    now: () => clock.time,
    onError: (error) => errors.push(error),
  }
  const first = open(dataFolder, options)
  await accept(first, 'leave')
  await until(() => expect(errors).toHaveLength(1))
  await first.close()
  // Each start delivers what is due.
  for (const afterMs of [3_590_000, 11_000, 301_000]) {
    clock.time += afterMs
    const before = got.length
    const inlay = open(dataFolder, options)
    await inlay.start()
    if (afterMs !== 3_590_000) await until(() => expect(got.length).toBe(before + 1))
    await inlay.close()
    if (afterMs === 3_590_000) expect(got.length).toBe(before)
  }
  expect(got).toHaveLength(3)
  expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('a receiver that is gone gets nothing more, and the operator reads so', async () => {
  const { url, got } = await receiver(statuses(410))
  const errors: Error[] = []
  const inlay = open(folder(), { webhooks: [{ url, secrets }], onError: (error) => errors.push(error as Error) })
  await accept(inlay, 'leave')
  await until(() => expect(errors.map(({ message }) => message).join()).toContain('gone (410)'))
  await accept(inlay, 'pay')
  await inlay.close()
  expect(got).toHaveLength(1)
})

test('an address of the own network gets nothing unless it is allowed', async () => {
  const { url, got } = await receiver()
  const errors: Error[] = []
  const inlay = open(folder(), {
    webhooks: [{ url, secrets }],
    egress: {},
    onError: (error) => errors.push(error as Error),
  })
  await accept(inlay, 'leave')
  await until(() => expect(errors.map(({ message }) => message).join()).toContain('not on the public internet'))
  expect(got).toHaveLength(0)
})

test('a secret that is none is refused before anything starts', () => {
  expect(() => createInlay({ webhooks: [{ url: 'https://a.example/', secrets: ['whsec_short'] }] })).toThrow(
    /webhooks.*must be whsec_ followed by 24 to 64 random bytes/,
  )
})
