import { createClient } from '@inlay/client'
import { inlayTransport, type InlayUIMessage } from '@inlay/client/ai-sdk'
import { isInlayError } from '@inlay/protocol'
import { readUIMessageStream } from 'ai'
import { defineAction } from 'inlay'
import * as v from 'valibot'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { describe, expect, test } from 'vitest'
import { apiKey, PlainChat, startService } from './service.ts'

const leave = {
  id: 'leave',
  semantic_identifier: 'Leave policy',
  source: 'web' as const,
  metadata: {},
  sections: [{ text: 'Staff get 25 days of leave.', link: 'https://x.example/leave' }],
}
const memo = { ...leave, id: 'memo', semantic_identifier: 'Memo', sections: [{ text: 'Days of leave end in March.' }] }
const search = { call: { name: 'internal_search', input: { queries: ['days of leave'] } } }

function partsOf<Type extends InlayUIMessage['parts'][number]['type']>(
  message: InlayUIMessage | undefined,
  type: Type,
) {
  const parts = message?.parts ?? []
  return parts.filter((part): part is Extract<InlayUIMessage['parts'][number], { type: Type }> => part.type === type)
}
const textOf = (message: InlayUIMessage | undefined): string =>
  partsOf(message, 'text')
    .map(({ text }) => text)
    .join('\n')

test('an answer comes as reasoning, a tool call with its documents, text and sources', async () => {
  const { baseUrl } = await startService((_, step) =>
    step === 0 ? [{ reasoning: ['I have to ', 'search.'] }, search] : ['Staff get 25 days [1], ', 'until March [2].'],
  )
  const client = createClient({ baseUrl, apiKey })
  for (const document of [leave, memo]) await client.ingest(document, { waitSeconds: 60 })
  const transport = inlayTransport({ baseUrl, apiKey })
  const chat = new PlainChat({ id: 'mine', transport })
  await chat.sendMessage({ text: 'How many days?' })
  expect(chat.error).toBeUndefined()
  const answer = chat.lastMessage
  expect(partsOf(answer, 'reasoning')).toMatchObject([{ text: 'I have to search.', state: 'done' }])
  const [call] = partsOf(answer, 'tool-internal_search')
  expect(call).toMatchObject({ state: 'output-available', providerExecuted: true })
  expect(call?.input?.queries).toContain('days of leave')
  expect(call?.output?.documents.map((document) => document.document_id).sort()).toEqual(['leave', 'memo'])
  expect(textOf(answer)).toMatch(/^Staff get 25 days \[\[1\]\]\(.*\), until March \[\[2\]\]\(.*\)\.$/)
  const sources = [...partsOf(answer, 'source-url'), ...partsOf(answer, 'source-document')]
  expect(sources).toMatchObject([
    { type: 'source-url', url: 'https://x.example/leave', title: 'Leave policy' },
    { type: 'source-document', title: 'Memo', providerMetadata: { inlay: { documentId: 'memo' } } },
  ])
  expect(sources.map((source) => source.providerMetadata?.['inlay']?.['citation']).sort()).toEqual([1, 2])
  const { sessionId, messageId, questionId } = answer?.metadata ?? {}
  expect(sessionId).toBe(transport.sessionOf('mine'))
  expect(answer?.id).toBe(String(messageId))
  expect(questionId).toBeTypeOf('number')
})

test('the next question goes on, another answer replaces the first, an edited question begins anew', async () => {
  const { baseUrl, model } = await startService((_, step) => [`Answer ${step + 1}.`])
  const transport = inlayTransport({ baseUrl, apiKey })
  const chat = new PlainChat({ transport })
  await chat.sendMessage({ text: 'First?' })
  await chat.sendMessage({ text: 'Second?' })
  await chat.regenerate()
  expect(chat.messages.map(textOf)).toEqual(['First?', 'Answer 1.', 'Second?', 'Answer 3.'])
  const roles = model.requests
    .at(-1)
    ?.prompt.filter(({ role }) => role !== 'system')
    .map(({ role }) => role)
  expect(roles).toEqual(['user', 'assistant', 'user'])
  const sessionId = chat.lastMessage?.metadata?.sessionId ?? ''
  const [first] = chat.messages
  await chat.sendMessage({ text: 'Edited?', messageId: first?.id })
  expect(chat.messages.map(textOf)).toEqual(['Edited?', 'Answer 4.'])
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).not.toContain('Answer 1')
  expect(chat.lastMessage?.metadata?.sessionId).toBe(sessionId)
  // Simulates a reload: stored messages have the ids that a regenerated answer needs.
  const reloaded = new PlainChat({
    id: sessionId,
    messages: await transport.messages(sessionId),
    transport: inlayTransport({ baseUrl, apiKey }),
  })
  expect(reloaded.messages.map(textOf)).toEqual(['Edited?', 'Answer 4.'])
  await reloaded.regenerate()
  await reloaded.sendMessage({ text: 'And then?' })
  expect(reloaded.messages.map(textOf)).toEqual(['Edited?', 'Answer 5.', 'And then?', 'Answer 6.'])
  expect((await transport.messages(sessionId)).map(textOf)).toEqual(['Edited?', 'Answer 5.', 'And then?', 'Answer 6.'])
})

test('stopping a chat stops the answer on the server, and what was said is kept', async () => {
  const { baseUrl, model } = await startService([['This much', { hang: true }]])
  const transport = inlayTransport({ baseUrl, apiKey })
  const chat = new PlainChat({ transport })
  const sent = chat.sendMessage({ text: 'Tell me for ever.' })
  await expect.poll(() => textOf(chat.lastMessage)).toBe('This much')
  await chat.stop()
  await sent
  expect(chat.status).toBe('ready')
  await expect.poll(() => model.abandoned()).toBeGreaterThan(0)
  const sessionId = chat.lastMessage?.metadata?.sessionId ?? ''
  await expect
    .poll(async () => (await transport.messages(sessionId)).map(textOf))
    .toEqual(['Tell me for ever.', 'This much'])
})

test('a chat that is stopped before its session is known stops the answer all the same', async () => {
  const { baseUrl, model } = await startService([['Hello', { hang: true }]])
  const held = Promise.withResolvers<void>()
  const slow = async (input: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(input, init)
    if (input.endsWith('/send-chat-message')) await held.promise
    return response
  }
  const chat = new PlainChat({ transport: inlayTransport({ baseUrl, apiKey, fetch: slow }) })
  const sent = chat.sendMessage({ text: 'Never mind.' })
  await expect.poll(() => model.requests.length).toBe(1)
  const stopped = chat.stop()
  held.resolve()
  await Promise.all([stopped, sent])
  await expect.poll(() => model.abandoned()).toBeGreaterThan(0)
})

test('an answer goes on after a reload, also when the page resumes twice', async () => {
  const goOn = Promise.withResolvers<void>()
  const { baseUrl, model } = await startService([['The first half', { pause: () => goOn.promise }, ' and the second.']])
  const first = new PlainChat({ transport: inlayTransport({ baseUrl, apiKey }) })
  void first.sendMessage({ text: 'Slowly?' })
  await expect.poll(() => textOf(first.lastMessage)).toBe('The first half')
  const sessionId = first.lastMessage?.metadata?.sessionId ?? ''
  const transport = inlayTransport({ baseUrl, apiKey })
  const messages = await transport.messages(sessionId)
  expect(messages.map(textOf)).toEqual(['Slowly?'])
  const chat = new PlainChat({ id: sessionId, messages, transport })
  const resumed = [chat.resumeStream(), chat.resumeStream()]
  await expect.poll(() => chat.messages.map(textOf)).toEqual(['Slowly?', 'The first half'])
  goOn.resolve()
  await Promise.all(resumed)
  expect(chat.messages.map(textOf)).toEqual(['Slowly?', 'The first half and the second.'])
  expect(model.abandoned()).toBe(0)
  expect(await transport.reconnectToStream({ chatId: sessionId })).toBeNull()
  expect(await transport.reconnectToStream({ chatId: 'unknown' })).toBeNull()
  expect(await transport.reconnectToStream({ chatId: '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11' })).toBeNull()
})

test('an action of the host is a dynamic tool with its input, and its failure is an error of that tool', async () => {
  const order = defineAction({
    name: 'order_state',
    description: 'State of an order.',
    input: toStandardJsonSchema(v.object({ number: v.string() })),
    run: async ({ number }) => {
      if (number === '0') throw new Error('There is no such order.')
      return JSON.stringify({ state: 'sent' })
    },
  })
  const call = (number: string) => ({ name: 'order_state', input: { number } })
  const { baseUrl } = await startService([[{ calls: [call('7'), call('0')] }], ['Sent.']], { actions: [order] })
  const chat = new PlainChat({ transport: inlayTransport({ baseUrl, apiKey }) })
  await chat.sendMessage({ text: 'Where is it?' })
  const stored = await inlayTransport({ baseUrl, apiKey }).messages(chat.lastMessage?.metadata?.sessionId ?? '')
  for (const message of [chat.lastMessage, stored.at(-1)])
    expect(partsOf(message, 'dynamic-tool')).toMatchObject([
      { toolName: 'order_state', state: 'output-available', input: { number: '7' }, output: { state: 'sent' } },
      {
        toolName: 'order_state',
        state: 'output-error',
        input: { number: '0' },
        errorText: expect.stringContaining('no such order'),
      },
    ])
})

describe('what goes wrong', () => {
  test('a refused call has the code of the service', async () => {
    const { baseUrl } = await startService([['Hello.']])
    const chat = new PlainChat({ transport: inlayTransport({ baseUrl, apiKey: 'wrong' }) })
    await chat.sendMessage({ text: 'Hello?' })
    expect(chat.status).toBe('error')
    expect(isInlayError(chat.error) && chat.error.code).toBe('INVALID_TOKEN')
  })

  test('a failed run keeps what was said, and tells whether another try may help', async () => {
    const { baseUrl } = await startService((_, step) =>
      step === 0 ? ['Half', { cut: new Error('gone') }] : ['Whole.'],
    )
    const transport = inlayTransport({ baseUrl, apiKey })
    const chat = new PlainChat({ transport })
    await chat.sendMessage({ text: 'Hello?' })
    expect(chat.status).toBe('error')
    expect(isInlayError(chat.error) && chat.error.data['isRetryable']).toBe(true)
    expect(textOf(chat.lastMessage)).toBe('Half')
    expect(chat.lastMessage?.metadata?.error).toMatchObject({ message: chat.error?.message, isRetryable: true })
    const stored = await transport.messages(chat.lastMessage?.metadata?.sessionId ?? '')
    expect(stored.at(-1)?.metadata?.error?.message).toBe(chat.error?.message)
    await chat.regenerate()
    expect(chat.messages.map(textOf)).toEqual(['Hello?', 'Whole.'])
  })
})

describe('files', () => {
  const dataUrl = (text: string): string => `data:text/plain;base64,${btoa(text)}`
  const file = (text: string) => ({
    type: 'file' as const,
    mediaType: 'text/plain',
    filename: 'zebra.txt',
    url: dataUrl(text),
  })

  test('of a question are uploaded and read, and come back with it', async () => {
    const { baseUrl, model } = await startService([['Quibble.']])
    const transport = inlayTransport({ baseUrl, apiKey })
    const chat = new PlainChat({ transport })
    await chat.sendMessage({ text: 'What is it called?', files: [file('The zebra is called Quibble.')] })
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('Quibble')
    const [question] = await transport.messages(chat.lastMessage?.metadata?.sessionId ?? '')
    expect(partsOf(question, 'file')).toMatchObject([
      { filename: 'zebra.txt', url: dataUrl('The zebra is called Quibble.') },
    ])
  })

  test('that cannot be taken are told with their reason, and nothing is asked', async () => {
    const { baseUrl, model } = await startService([['Hello.']])
    const chat = new PlainChat({ transport: inlayTransport({ baseUrl, apiKey }) })
    await chat.sendMessage({ text: 'What?', files: [file('')] })
    expect(chat.error?.message).toMatch(/^zebra\.txt: /)
    expect(model.requests).toEqual([])
  })

  test.each(['inline', 'link'] as const)('that an answer made are shown (%s)', async (files) => {
    const chart = defineAction({
      name: 'chart',
      description: 'Draws a chart.',
      input: toStandardJsonSchema(v.object({})),
      run: async (_, { files: kept, emit }) => {
        const stored = await kept!.keep({
          name: 'chart.csv',
          mediaType: 'text/csv',
          bytes: new Blob(['a,b\n']).stream(),
        })
        emit({
          type: 'custom_tool_delta',
          tool_name: 'chart',
          tool_id: null,
          response_type: 'csv',
          data: null,
          file_ids: [stored.fileId],
          error: null,
        })
        return 'Drawn.'
      },
    })
    const { baseUrl } = await startService([[{ call: { name: 'chart', input: {} } }], ['There.']], { actions: [chart] })
    const chat = new PlainChat({ transport: inlayTransport({ baseUrl, apiKey, files }) })
    await chat.sendMessage({ text: 'Draw.' })
    const [shown] = partsOf(chat.lastMessage, 'file')
    expect(shown).toMatchObject({ mediaType: 'text/csv', providerMetadata: { inlay: { name: 'chart.csv' } } })
    if (files === 'inline') expect(shown?.url).toBe(`data:text/csv;base64,${btoa('a,b\n')}`)
    else
      expect(await (await fetch(shown?.url ?? '', { headers: { authorization: `Bearer ${apiKey}` } })).text()).toBe(
        'a,b\n',
      )
  })
})

test('what goes with a message and its headers reach the service', async () => {
  const seen: Record<string, unknown>[] = []
  const { baseUrl } = await startService([['Hello.']])
  const watching = async (input: string, init: RequestInit): Promise<Response> => {
    if (input.endsWith('/send-chat-message'))
      seen.push({ ...JSON.parse(String(init.body)), tenant: new Headers(init.headers).get('x-tenant') })
    return fetch(input, init)
  }
  const message = { chat_session_info: { description: 'Mine' }, include_usage: true }
  const transport = inlayTransport({ baseUrl, apiKey, fetch: watching, message })
  const stream = await transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'c',
    messageId: undefined,
    messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }],
    abortSignal: undefined,
    headers: { 'x-tenant': 'north' },
    body: { llm_override: { temperature: 0 } },
  })
  let answer: InlayUIMessage | undefined
  for await (const state of readUIMessageStream<InlayUIMessage>({ stream })) answer = state
  expect(seen).toMatchObject([{ message: 'Hello?', ...message, llm_override: { temperature: 0 }, tenant: 'north' }])
  expect(answer?.metadata?.usage?.output_tokens).toBeTypeOf('number')
})
