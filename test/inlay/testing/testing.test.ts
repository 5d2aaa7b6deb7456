import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAction } from 'inlay'
import { answerMatchers, assertCites, assertSays, createTestInlay, type AnswerMatchers } from 'inlay/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends AnswerMatchers<R> {}
}
expect.extend(answerMatchers)

const hours = { id: 'hours', semantic_identifier: 'Opening hours', sections: [{ text: 'The lab opens at eight.' }] }
const parking = { id: 'parking', semantic_identifier: 'Parking', sections: [{ text: 'The lab has a garage.' }] }

test('a scripted answer cites what the search gave, in each turn of a session', async () => {
  await using inlay = await createTestInlay({
    documents: [hours, parking],
    answers: ['At eight [1].', [[{ reasoning: 'Known.' }, 'As I said, at eight.']], 'In the garage [1].'],
  })
  const first = await inlay.ask('When does the lab open?')
  expect(first).toCite('Opening hours')
  expect(first).toCite('hours')
  expect(first).not.toCite('Parking')
  assertSays(first, /at eight/i)
  const second = await inlay.ask('Are you sure?', { chat_session_id: first.chat_session_id })
  expect(second).toMatchObject({ pre_answer_reasoning: 'Known.', citation_info: [] })
  expect(second).toSay('As I said')
  expect(inlay.requests).toHaveLength(3)
  expect(JSON.stringify(inlay.requests.at(-1)?.prompt)).toContain('Are you sure?')
  expect(await inlay.ask('Where can I park?', { chat_session_id: first.chat_session_id })).toCite('Parking')
  await expect(inlay.ask('Really?')).rejects.toThrow('The script has no answer 4, to "Really?": add it to answers.')
})

test('a function answers as asked, also through fetch, and a step can fail', async () => {
  const plant = defineAction({
    name: 'plant',
    description: 'Plants a tree.',
    input: z.object({ kind: z.string() }),
    run: ({ kind }) => `planted: ${kind}`,
  })
  await using inlay = await createTestInlay({
    actions: [plant],
    onError: () => {},
    answers: (question) =>
      question.includes('tree')
        ? [[{ call: { name: 'plant', input: { kind: 'oak' } } }], 'Done.']
        : [{ reject: new Error('overloaded') }],
  })
  const response = await inlay.fetch(
    new Request('http://test/api/chat/send-chat-message', {
      method: 'POST',
      headers: { authorization: `Bearer ${inlay.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Plant a tree', stream: false }),
    }),
  )
  expect(await response.json()).toMatchObject({ answer: 'Done.', tool_calls: [{ tool_result: 'planted: oak' }] })
  expect((await inlay.ask('Fail')).error_msg).toEqual(expect.any(String))
})

test('waiting rejects with the reason of a failure, and closing removes the folder', async () => {
  const dataFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('inlay-test-'))
  const before = new Set(dataFolders())
  const inlay = await createTestInlay({
    embedder: { id: 'broken@2', dimensions: 2, maxBatchSize: 1, embed: () => Promise.reject(new Error('no vectors')) },
    worker: { maxAttempts: 1 },
    onError: () => {},
  })
  await expect(inlay.ingestAndWait(hours)).rejects.toThrow('The document "hours" was not indexed: ')
  const ours = dataFolders().filter((name) => !before.has(name))
  await inlay.close()
  expect(ours.filter((name) => existsSync(join(tmpdir(), name))).length).toBeLessThan(ours.length)
})

test('files are documents, and a broken one rejects', async () => {
  await using inlay = await createTestInlay()
  const file = (text: string) => ({ file: { name: 'notes.md', bytes: Buffer.from(text) } })
  const ids = await inlay.ingestAndWait([file('# Notes'), 'README.md', { document: hours }])
  expect((await inlay.knowledge.readable(ids)).size).toBe(3)
  await expect(inlay.ingestAndWait(file(''))).rejects.toThrow('empty')
})

test('a check that fails says what the answer was', async () => {
  await using inlay = await createTestInlay({ documents: [hours], answers: ['I do not know.'] })
  const answer = await inlay.ask('When does the lab open?')
  expect(() => assertCites(answer, 'Parking')).toThrow(
    'The answer should cite "Parking".\nAnswer: I do not know.\nCited: nothing\nFound but not cited: "Opening hours" (hours)',
  )
  expect(() => assertSays(answer, 'eight')).toThrow('The answer should say "eight".\nAnswer: I do not know.')
})

test('without answers, the built-in model quotes', async () => {
  await using inlay = await createTestInlay({ documents: [hours] })
  const answer = await inlay.ask('When does the lab open?')
  assertCites(answer, 'Opening hours')
  assertSays(answer, 'eight')
})
