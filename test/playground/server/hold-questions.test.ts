import { expect, test } from 'vitest'
import { holdQuestions } from '../../../playground/server/hold-questions.ts'

const at = (path: string, method = 'POST'): Request => new Request(`http://inlay.test${path}`, { method })

test('a question waits until there is something to search, other calls do not', async () => {
  const ready = Promise.withResolvers<void>()
  const answered: string[] = []
  const api = holdQuestions(async (request) => {
    answered.push(new URL(request.url).pathname)
    return new Response()
  }, ready.promise)
  const question = api(at('/api/chat/send-chat-message'))
  await api(at('/api/tool', 'GET'))
  expect(answered).toEqual(['/api/tool'])
  ready.resolve()
  await question
  expect(answered).toEqual(['/api/tool', '/api/chat/send-chat-message'])
})

test('a question does not wait for ever', async () => {
  const api = holdQuestions(async () => new Response('late'), new Promise(() => {}), 1)
  expect(await (await api(at('/api/chat/send-chat-message'))).text()).toBe('late')
})
