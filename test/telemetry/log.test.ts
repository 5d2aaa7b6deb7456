import { InlayError } from '@inlay/protocol'
import type { LogEntry } from 'inlay'
import { createTestInlay } from 'inlay/testing'
import { expect, onTestFinished, test } from 'vitest'

const apiKey = 'inlay_log_test_key'
const question = 'How long does the Zebulon warranty last?'

test('the log has an entry for each request, answer and failure, with ids and no words of anybody', async () => {
  const entries: LogEntry[] = []
  const inlay = await createTestInlay({
    apiKey,
    log: (entry) => entries.push(entry),
    hooks: {
      after: () => {
        throw new InlayError('INTERNAL_ERROR', { message: 'the hook of the host broke' })
      },
    },
  })
  onTestFinished(() => inlay.close())
  const call = (method: string, path: string, body: object): Promise<Response> =>
    inlay.fetch(
      new Request(`http://host.example/api${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'x-request-id': 'request-7', prefer: 'wait=60' },
        body: JSON.stringify(body),
      }),
    )
  const text = 'The Zebulon warranty lasts eleven years.'
  await call('POST', '/service-api/ingestion', {
    document: { id: 'warranty', semantic_identifier: 'Warranty', metadata: {}, sections: [{ text }] },
  })
  const answer = await call('POST', '/chat/send-chat-message', { message: question, stream: false })
  const { chat_session_id: sessionId, message_id: messageId } = (await answer.json()) as Record<string, unknown>
  await inlay.close()

  expect(entries.filter(({ event }) => event === 'request')).toEqual([
    expect.objectContaining({ route: '/service-api/ingestion', status: 200, requestId: 'request-7' }),
    expect.objectContaining({ route: '/chat/send-chat-message', method: 'POST', callerId: 'operator' }),
  ])
  expect(entries.filter(({ event }) => event === 'run')).toEqual([
    expect.objectContaining({ sessionId, messageId, status: 'done', errorCode: null, provider: 'inlay' }),
  ])
  await expect.poll(() => entries.filter(({ event }) => event === 'error')).toHaveLength(1)
  expect(entries.find(({ event }) => event === 'error')).toMatchObject({
    report: expect.stringContaining('the hook of the host broke'),
  })
  expect(JSON.stringify(entries)).not.toMatch(/Zebulon|eleven/)
})

test('a log that breaks takes no answer from anybody, and is told itself', async () => {
  const errors: unknown[] = []
  await using inlay = await createTestInlay({
    onError: (error) => errors.push(error),
    log: () => {
      throw new Error('the disk of the log is full')
    },
  })
  const response = await inlay.fetch(new Request('http://host.example/api/health'))
  expect(response.status).toBe(200)
  expect(errors).toEqual([new Error('the disk of the log is full')])
})
