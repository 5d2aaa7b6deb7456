import { createPage } from 'inlay/page'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../life/process.ts'
import { leaveLink, leaveTitle, openScripted } from './chat-setting.ts'
import { apiKey } from './setting.ts'

const leave = { role: 'user' as const, content: 'How many days of leave?' }

test('a whole answer cites the document that says it', async () => {
  const { client } = await openScripted()
  const answer = await client.chat.completions.create({ model: 'inlay', messages: [leave] })
  expect(answer).toMatchObject({ object: 'chat.completion', model: 'inlay', id: expect.stringMatching(/^chatcmpl-/) })
  const [{ message, finish_reason: reason }] = answer.choices as [(typeof answer.choices)[number]]
  expect(reason).toBe('stop')
  expect(message.content).toBe('There are 25 days of leave [1].')
  const [citation] = message.annotations ?? []
  expect(citation?.url_citation).toMatchObject({ url: leaveLink, title: leaveTitle })
  const { start_index: start, end_index: end } = citation!.url_citation
  expect(message.content?.slice(start, end)).toBe('[1]')
  expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
})

test('a document without a link is cited with the address of its text', async () => {
  const { client, fetch } = await openScripted()
  const messages = [{ role: 'user' as const, content: 'Which colour have the bikes?' }]
  const { choices } = await client.chat.completions.create({ model: 'inlay', messages })
  const [citation] = choices[0]?.message.annotations ?? []
  const shown = await fetch(citation!.url_citation.url, { headers: { authorization: 'Bearer key-of-the-office' } })
  expect(await shown.text()).toContain('Company bikes are blue.')
})

test('where the page is served, such a document is cited with its address there, as a proxy is reached', async () => {
  const { inlay, clientAt } = await openScripted()
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  writeFileSync(join(folder.path, 'index.html'), '<html></html>')
  const page = await createPage({ folder: folder.path, basePath: '/api', api: inlay.fetch })
  const fetch: typeof globalThis.fetch = (input, init) => page.fetch(new Request(input, init), { ip: undefined })
  const urlWith = async (defaultHeaders: object, origin = 'http://inlay.test'): Promise<string | undefined> => {
    const client = clientAt(`${origin}/v1`, { fetch, defaultHeaders })
    const messages = [{ role: 'user' as const, content: 'Which colour have the bikes?' }]
    const { choices } = await client.chat.completions.create({ model: 'inlay', messages })
    return choices[0]?.message.annotations?.[0]?.url_citation.url
  }
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'chat.example:8443, inner' }
  expect(await urlWith(proxied)).toBe('https://chat.example:8443/#document?id=bikes')
  const withoutPort = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'chat.example' }
  expect(await urlWith(withoutPort, 'http://127.0.0.1:8080')).toBe('https://chat.example/#document?id=bikes')
  for (const hostile of [{}, { 'x-forwarded-proto': 'javascript' }, { 'x-forwarded-host': 'a b' }])
    expect(await urlWith(hostile)).toBe('http://inlay.test/#document?id=bikes')
})

test('a stream has its chunks in order, and the helper of the client puts them together', async () => {
  const { client } = await openScripted()
  const request = { model: 'inlay', messages: [leave], stream_options: { include_usage: true } }
  const kinds: string[] = []
  for await (const { choices, usage } of await client.chat.completions.create({ ...request, stream: true })) {
    const [choice] = choices
    if (choice === undefined) kinds.push(`usage ${usage?.total_tokens}`)
    else {
      expect(usage).toBeNull()
      kinds.push(...Object.keys(choice.delta), ...(choice.finish_reason ? [choice.finish_reason] : []))
    }
  }
  const order = ['role', 'content', 'reasoning_content', 'content', 'annotations', 'stop', 'usage 30']
  expect(kinds.filter((kind, at) => kind !== kinds[at - 1])).toEqual(order)
  const final = await client.chat.completions.stream(request).finalChatCompletion()
  expect(final.choices[0]?.message.content).toBe('There are 25 days of leave [1].')
  expect(final.choices[0]?.message.annotations?.[0]?.url_citation.url).toBe(leaveLink)
  expect(final.usage?.total_tokens).toBe(30)
})

test('an answer that breaks off is an error, whole and streamed', async () => {
  const { client } = await openScripted()
  const request = { model: 'inlay', messages: [{ role: 'user' as const, content: 'break' }] }
  await expect(client.chat.completions.create(request)).rejects.toMatchObject({ status: 500 })
  await expect(client.chat.completions.stream(request).finalContent()).rejects.toThrow(/failed/)
})

test('requests that cannot be answered name the field', async () => {
  const { client } = await openScripted()
  const create = (body: object): Promise<unknown> => client.post('/chat/completions', { body })
  const cases: [body: object, status: number, param: string, words: RegExp][] = [
    [{ model: 'inlay' }, 400, 'messages', /required/],
    [{ model: 'gpt-5', messages: [leave] }, 404, 'model', /does not exist/],
    [{ model: 'inlay', messages: [{ role: 'system', content: 'Hi' }] }, 400, 'messages', /role "user"/],
    [{ model: 'inlay', messages: [leave, { role: 'assistant', content: 'There' }] }, 400, 'messages', /not continued/],
    [{ model: 'inlay', messages: [{ role: 'user', content: ' ' }] }, 400, 'messages', /empty/],
    [{ model: 'inlay', messages: [leave], n: 2 }, 400, 'n', /leave out n/],
    [{ model: 'inlay', messages: [leave], audio: { voice: 'x' } }, 400, 'audio', /text/],
    [{ model: 'inlay', messages: [leave], tool_choice: 'required' }, 400, 'tool_choice', /not in tools/],
    [
      { model: 'inlay', messages: [leave], response_format: { type: 'json_schema' } },
      400,
      'response_format.json_schema.schema',
      /schema is needed/,
    ],
  ]
  for (const [body, status, param, words] of cases)
    await expect(create(body)).rejects.toMatchObject({ status, param, message: expect.stringMatching(words) })
})

const leavings = [true, false].flatMap((stream) => ['before', 'within'].map((when) => ({ stream, when })))

test.each(leavings.flatMap((each) => ['chat/completions', 'responses'].map((path) => ({ ...each, path }))))(
  'a client of $path that leaves $when its answer ends the run (streamed: $stream)',
  async ({ stream, when, path }) => {
    const leaving = new AbortController()
    const ended = Promise.withResolvers<string>()
    const { fetch, model } = await openScripted({
      hooks: {
        before: () => (when === 'before' ? leaving.abort() : undefined),
        after: ({ status }) => ended.resolve(status),
      },
    })
    const question = { messages: [{ role: 'user', content: 'for ever' }], input: 'for ever' }
    const body = JSON.stringify({ model: 'inlay', stream, store: false, ...question })
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', body, headers, signal: leaving.signal }
    const answer = fetch(`http://inlay.test/v1/${path}`, init)
    if (when === 'within') {
      await vi.waitFor(() => expect(model.requests).toHaveLength(1))
      if (stream) await (await answer).body!.cancel()
      leaving.abort()
    }
    expect(await ended.promise).toBe('cancelled')
    await answer
  },
)
