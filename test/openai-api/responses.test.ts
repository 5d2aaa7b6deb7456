import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { leaveLink, leaveTitle, openScripted } from './chat-setting.ts'
import { apiKey } from './setting.ts'

const question = 'How many days of leave?'
const answer = 'There are 25 days of leave [1].'

test('a whole response cites the document that says it, and is found again', async () => {
  const { client } = await openScripted()
  const request = { model: 'inlay', input: question, include: ['file_search_call.results' as const] }
  const response = await client.responses.create(request)
  expect(response).toMatchObject({ object: 'response', status: 'completed', output_text: answer, error: null })
  expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'file_search_call', 'message'])
  const [, search, message] = response.output
  expect(search).toMatchObject({ queries: [expect.stringContaining('days of leave')], status: 'completed' })
  expect(search).toHaveProperty('results.0.filename', leaveTitle)
  const part = message?.type === 'message' ? message.content[0] : undefined
  const [citation] = part?.type === 'output_text' ? part.annotations : []
  expect(citation).toMatchObject({ type: 'url_citation', url: leaveLink, title: leaveTitle })
  if (citation?.type !== 'url_citation') throw new Error('no citation')
  expect(answer.slice(citation.start_index, citation.end_index)).toBe('[1]')
  expect(response.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 })

  const again = await client.responses.retrieve(response.id, { include: request.include })
  expect(again).toMatchObject({ id: response.id, model: 'inlay', output: response.output, usage: response.usage })
  const { data } = await client.responses.inputItems.list(response.id)
  expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] }])
  await client.responses.delete(response.id)
  await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 })
})

test('a stream has its events in order without gaps, and goes on behind any of them', async () => {
  const { client } = await openScripted()
  const events = []
  for await (const event of await client.responses.create({ model: 'inlay', input: question, stream: true }))
    events.push(event)
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  const kinds = events.map(({ type }) => type.replace('response.', ''))
  expect(kinds.filter((kind, at) => kind !== kinds[at - 1])).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'file_search_call.in_progress',
    'file_search_call.searching',
    'file_search_call.completed',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.annotation.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ])
  const last = events.at(-1)
  if (last?.type !== 'response.completed') throw new Error('not completed')
  const rest = []
  for await (const event of await client.responses.retrieve(last.response.id, { stream: true, starting_after: 9 }))
    rest.push(event)
  expect(rest.map(({ type, sequence_number: at }) => [at, type])).toEqual(
    events.slice(10).map(({ type, sequence_number: at }) => [at, type]),
  )
  const final = await client.responses.stream({ model: 'inlay', input: question }).finalResponse()
  expect(final.output_text).toBe(answer)
})

test('previous_response_id and conversation continue a session', async () => {
  const { client, model } = await openScripted()
  const first = await client.responses.create({ model: 'inlay', input: question })
  const second = await client.responses.create({
    model: 'inlay',
    input: 'And which colour have the bikes?',
    previous_response_id: first.id,
  })
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('25 days of leave')
  expect(second.previous_response_id).toBe(first.id)
  expect(second.conversation?.id).toBe(first.conversation?.id)
  const conversation = first.conversation?.id ?? ''
  const named = await client.responses.create({ model: 'inlay', input: question, conversation })
  expect(named).toMatchObject({ conversation: { id: conversation }, status: 'completed' })
})

test('a response in the background is polled', async () => {
  const { client } = await openScripted()
  const started = await client.responses.create({ model: 'inlay', input: question, background: true })
  expect(started).toMatchObject({ status: 'in_progress', background: true })
  await expect.poll(async () => (await client.responses.retrieve(started.id)).status).toBe('completed')
  expect(await client.responses.cancel(started.id)).toMatchObject({ status: 'completed', id: started.id })
})

test('an answer that breaks off is an error, whole and streamed', async () => {
  const { client } = await openScripted()
  await expect(client.responses.create({ model: 'inlay', input: 'break' })).rejects.toMatchObject({ status: 500 })
  await expect(client.responses.stream({ model: 'inlay', input: 'break' }).finalResponse()).rejects.toThrow(/failed/)
})

test('requests that cannot be answered name the field, and ids of others show nothing', async () => {
  const { client } = await openScripted()
  const strange = `resp_${'0'.repeat(32)}1`
  const cases: [body: object, status: number, error: object][] = [
    [{}, 400, { param: 'input', code: 'missing_required_parameter' }],
    [{ input: [] }, 400, { param: 'input' }],
    [{ input: 'x', previous_response_id: strange }, 400, { code: 'previous_response_not_found' }],
    [{ input: 'x', previous_response_id: 'resp_?' }, 400, { code: 'previous_response_not_found' }],
    [{ input: 'x', conversation: 'conv_none' }, 404, {}],
    [{ input: 'x', tools: [{ type: 'computer_use' }] }, 400, { param: 'tools.0' }],
    [
      { input: 'x', tools: [{ type: 'mcp', server_label: 'x' }] },
      400,
      { message: expect.stringContaining('at the server') },
    ],
    [{ input: 'x', tools: [{ type: 'function' }] }, 400, { param: 'tools.0.name' }],
    [
      { input: 'x', tools: [1, 2].map(() => ({ type: 'function', name: 'weather' })) },
      400,
      { param: 'tools', message: expect.stringContaining('two tools "weather"') },
    ],
    [{ input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs_9'] }] }, 404, {}],
    [{ input: [{ type: 'function_call', name: 'x' }] }, 400, { param: 'input.0' }],
    [{ input: 'x', store: false, background: true }, 400, { param: 'background' }],
  ]
  for (const [body, status, error] of cases)
    await expect(client.post('/responses', { body: { model: 'inlay', ...body } })).rejects.toMatchObject({
      status,
      ...error,
    })
  await expect(client.responses.retrieve(strange)).rejects.toMatchObject({ status: 404 })
})

test('the AI SDK shows the source', async () => {
  const { fetch } = await openScripted()
  const openai = createOpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch })
  const result = streamText({ model: openai('inlay'), prompt: question })
  expect(await result.text).toBe(answer)
  expect(await result.sources).toMatchObject([{ sourceType: 'url', url: leaveLink, title: leaveTitle }])
})

test('a function of the client is called, and nothing is stored without store', async () => {
  const { client, model, fetch } = await openScripted()
  const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: null }]
  const user = { role: 'user' as const, content: 'Is it warm?' }
  const request = { model: 'inlay', tools, store: false, instructions: 'Speak like a sailor.' }
  const first = await client.responses.create({ ...request, input: [user] })
  const call = first.output.find(({ type }) => type === 'function_call')
  if (call?.type !== 'function_call') throw new Error('no call')
  expect(call).toMatchObject({ name: 'weather', status: 'completed' })
  expect(JSON.parse(call.arguments)).toEqual({ city: 'Bern' })
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Speak like a sailor.')
  const result = { type: 'function_call_output' as const, call_id: call.call_id, output: '21 degrees' }
  const answered = await client.responses.create({ ...request, input: [user, call, result] })
  expect(answered.output_text).toBe('It has 21 degrees in Bern.')
  const headers = { authorization: `Bearer ${apiKey}` }
  const listed = await fetch('http://inlay.test/api/chat/get-user-chat-sessions', { headers })
  expect(await listed.json()).toMatchObject({ sessions: [] })
  await expect(client.responses.retrieve(answered.id)).rejects.toMatchObject({ status: 404 })
})

test('results of functions continue a stored response as another answer to its question', async () => {
  const { client } = await openScripted()
  const tools = [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: null }]
  const first = await client.responses.create({ model: 'inlay', tools, input: 'Is it warm?' })
  const call = first.output.find(({ type }) => type === 'function_call')
  if (call?.type !== 'function_call') throw new Error('no call')
  const second = await client.responses.create({
    model: 'inlay',
    tools,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: call.call_id, output: '21 degrees' }],
  })
  expect(second.output_text).toBe('It has 21 degrees in Bern.')
  expect(second.conversation?.id).toBe(first.conversation?.id)
  await expect(client.responses.delete(second.id)).rejects.toMatchObject({ status: 400 })
})

test('the AI SDK runs a tool, and names what was stored by its id', async () => {
  const { fetch, model } = await openScripted()
  const openai = createOpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch })
  const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async () => '21 degrees' })
  const result = await generateText({
    model: openai('inlay'),
    prompt: 'Is it warm?',
    tools: { weather },
    stopWhen: stepCountIs(3),
  })
  expect(result.text).toBe('It has 21 degrees in Bern.')
  const messages = [{ role: 'user' as const, content: question }]
  const first = await generateText({ model: openai('inlay'), messages })
  await generateText({
    model: openai('inlay'),
    messages: [...messages, ...first.response.messages, { role: 'user', content: 'And which colour have the bikes?' }],
  })
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain(answer)
})

test('a search of vector stores reads and cites as many files as its filters name', async () => {
  const { client, fetch } = await openScripted()
  const store = await client.vectorStores.create({ name: 'Years' })
  const fileIds: string[] = []
  for (const [year, text] of [
    [2020, 'In the old days there were 20 days of leave.'],
    [2026, 'There are 25 days of leave for the staff.'],
  ] as const) {
    const file = await client.files.create({ purpose: 'assistants', file: new File([text], `leave-${year}.txt`) })
    fileIds.push(file.id)
    const added = await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: file.id, attributes: { year } },
      { pollIntervalMs: 20 },
    )
    expect(added.status).toBe('completed')
  }
  const filters = { type: 'eq' as const, key: 'year', value: 2020 }
  const search = (ids: string[]) => ({ type: 'file_search' as const, vector_store_ids: ids, filters })
  const request = { model: 'inlay', input: 'How many days of leave?', include: ['file_search_call.results'] as const }
  const answer = await client.responses.create({
    ...request,
    include: [...request.include],
    tools: [search([store.id])],
  })
  const names = answer.output.flatMap((item) =>
    item.type === 'file_search_call' ? (item.results ?? []).map(({ filename }) => filename) : [],
  )
  expect(names).toEqual(['leave-2020.txt'])
  const few = { type: 'file_search' as const, vector_store_ids: [store.id], max_num_results: 1 }
  const cited = await client.responses.create({ ...request, include: [...request.include], tools: [few] })
  const [searched, message] = cited.output.slice(1)
  expect(searched).toMatchObject({
    results: [{ file_id: fileIds[1], filename: 'leave-2026.txt', attributes: { year: '2026' } }],
  })
  const file = { file_id: fileIds[1], filename: 'leave-2026.txt' }
  expect(message).toMatchObject({ content: [{ annotations: [{ type: 'file_citation', ...file, index: 27 }] }] })
  const { sources } = await generateText({
    model: createOpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch })('inlay'),
    prompt: request.input,
    tools: { file_search: createOpenAI().tools.fileSearch({ vectorStoreIds: [store.id], maxNumResults: 1 }) },
  })
  expect(sources).toMatchObject([{ sourceType: 'document', filename: 'leave-2026.txt' }])
  for (const most of [0, 51, 1.5])
    await expect(
      client.responses.create({ ...request, include: [], tools: [{ ...few, max_num_results: most }] }),
    ).rejects.toMatchObject({ status: 400, param: 'tools.0.max_num_results' })
  await expect(client.responses.create({ ...request, include: [], tools: [search([])] })).rejects.toMatchObject({
    status: 400,
    param: 'tools.0.filters',
  })
})
