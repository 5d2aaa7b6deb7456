import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, defineAction, type InlayOptions } from 'inlay'
import type { ChatFullResponse } from '@inlay/protocol'
import { modelProviders } from '@inlay/drivers/model-providers'
import sharp from 'sharp'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startAnthropic } from '../../stand-in/anthropic.ts'
import type { RecordedRequest, Replies, Reply, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

type Body = Readonly<Record<string, unknown>>

/** What a server says to a request that it refuses; undefined where it answers. */
type Refuses = (body: Body) => string | undefined

const weather = defineAction({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  input: z.object({ city: z.string() }),
  run: async ({ city }) => `Sunny in ${city}.`,
})

interface ServeOptions {
  readonly answer?: (body: Body) => Reply
  readonly status?: number
  readonly start?: (replies: Replies) => Promise<StandIn>
  readonly model?: Partial<Extract<InlayOptions['model'], object>>
  readonly options?: Partial<InlayOptions>
}

/** An assistant whose model is served by a server that refuses some requests. */
async function serve(
  refuses: Refuses,
  { answer, status = 400, start = startOpenAi, model, options }: ServeOptions = {},
) {
  let refused = 0
  const server = await start(({ body }: RecordedRequest) => {
    const message = refuses(body)
    if (message !== undefined) refused++
    if (message !== undefined) return { status, body: { type: 'error', error: { message } } }
    return answer?.(body) ?? [{ text: 'An answer.' }]
  })
  const folder = mkdtempSync(join(tmpdir(), 'inlay-fall-back-'))
  const notices: string[] = []
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'the-key-of-the-test',
    model: {
      name: 'm',
      baseUrl: `${server.origin}/v1`,
      apiKey: 'k-not-secret',
      contextTokens: 32_000,
      grounding: 'tools',
      ...model,
    },
    actions: [weather],
    searchHelp: { expand: false },
    sessionNames: 'question',
    onError: (error) => void notices.push(String(error)),
    ...options,
  })
  onTestFinished(async () => {
    await inlay.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const headers = { authorization: 'Bearer the-key-of-the-test', prefer: 'wait=60' }
  const post = async (path: string, body: FormData | object): Promise<unknown> => {
    const sent = body instanceof FormData ? body : JSON.stringify(body)
    return (
      await inlay.fetch(new Request(`http://host.example/api${path}`, { method: 'POST', headers, body: sent }))
    ).json()
  }
  const document = { id: 'leave', semantic_identifier: 'Leave', source: 'ingestion_api', metadata: {} }
  const sections = [{ text: 'Staff get 25 days of leave a year.', link: 'https://docs.example/leave' }]
  await post('/service-api/ingestion', { document: { ...document, sections } })
  const open = async (): Promise<(question: string, more?: object) => Promise<ChatFullResponse>> => {
    const { chat_session_id } = (await post('/chat/create-chat-session', {})) as { chat_session_id: string }
    return async (message, more = {}) =>
      (await post('/chat/send-chat-message', { message, stream: false, chat_session_id, ...more })) as ChatFullResponse
  }
  const attach = async (bytes: Uint8Array, type = 'image/png'): Promise<object> => {
    const form = new FormData()
    form.append('files', new File([new Uint8Array(bytes)], 'noise.png', { type }))
    const { user_files } = (await post('/user/projects/file/upload', form)) as {
      user_files: { id: string; file_id: string }[]
    }
    const [file] = user_files
    return { file_descriptors: [{ id: file?.file_id, type: 'image', name: 'noise.png', user_file_id: file?.id }] }
  }
  return { open, attach, notices, requests: server.requests, refused: () => refused }
}

const fine = { answer: 'An answer.', error_msg: null }
const namesOf = ({ tools }: Body): string[] =>
  Array.isArray(tools)
    ? tools.map((tool: { function?: { name: string }; name: string }) => tool.function?.name ?? tool.name)
    : []

describe('pictures', () => {
  let large: Buffer
  beforeAll(async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    large = await sharp({ create: { width: 1_500, height: 1_400, channels: 3, noise, background: 'white' } })
      .png()
      .toBuffer()
    expect(large.length).toBeGreaterThan(6_000_000)
  })

  const urls = (body: Body): string[] => JSON.stringify(body).match(/data:image\/\w+;base64,[^"]*/g) ?? []
  const overLimit: Refuses = (body) => {
    const size = Math.max(0, ...urls(body).map((url) => url.length))
    return size > 5_242_880 ? `image exceeds 5 MB maximum: ${size} bytes > 5242880 bytes` : undefined
  }

  test('over a limit that a refusal states are sent smaller, also with the next question', async () => {
    const { open, attach, requests, refused, notices } = await serve(overLimit, { model: { takesImages: true } })
    const ask = await open()
    expect(await ask('What is on it?', await attach(large))).toMatchObject(fine)
    expect(urls(requests.at(-1)?.body ?? {})).toEqual([expect.stringMatching(/^data:image\/jpeg/)])
    expect(await ask('How far is the moon?')).toMatchObject(fine)
    expect(refused()).toBe(1)
    expect(notices).toEqual([expect.stringContaining('refuses pictures over 5000000 bytes')])
  })

  test('that nothing can read are left out with a note where they are too large', async () => {
    const { open, attach, requests, refused } = await serve(overLimit, { model: { takesImages: true } })
    const ask = await open()
    const broken = Buffer.concat([large.subarray(0, 100), large.subarray(200)])
    expect(await ask('What is on it?', await attach(broken))).toMatchObject(fine)
    expect(JSON.stringify(requests.at(-1)?.body)).toContain('[The picture \\"noise.png\\" is left out')
    expect(await ask('How far is the moon?')).toMatchObject(fine)
    expect(refused()).toBe(1)
  })

  test('are sent to Claude within its limits', async () => {
    const sizes = (body: Body): number[] =>
      (JSON.stringify(body).match(/"data":"[^"]{100,}"/g) ?? []).map((data) => data.length)
    const wide = await sharp({ create: { width: 8_100, height: 10, channels: 3, background: 'white' } })
      .png()
      .toBuffer()
    const { open, attach, requests } = await serve(() => undefined, {
      start: startAnthropic,
      model: { name: 'anthropic/claude-sonnet-4-5', takesImages: true },
    })
    const ask = await open()
    await ask('What is on it?', await attach(large))
    await ask('And on this?', await attach(wide))
    for (const { body } of requests) for (const size of sizes(body)) expect(size).toBeLessThan(5_242_880)
    const sent = /"data":"(\/9j[^"]{10,})"/g
    const pictures = [...JSON.stringify(requests.at(-1)?.body).matchAll(sent)].map(([, data = '']) =>
      Buffer.from(data, 'base64'),
    )
    expect(pictures).toHaveLength(2)
    for (const picture of pictures) expect((await sharp(picture).metadata()).width).toBeLessThanOrEqual(8_000)
  })

  test.each([
    'Could not process image',
    'Image does not match the provided media type image/png',
    'You uploaded an unsupported image. Please make sure your image is valid.',
  ])('that a server does not take stay out of their chat alone: %s', async (message) => {
    const small = await sharp({ create: { width: 10, height: 10, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    const other = await sharp({ create: { width: 10, height: 10, channels: 3, background: 'blue' } })
      .png()
      .toBuffer()
    const [url] = [small.toString('base64')]
    const refuses: Refuses = (body) => (JSON.stringify(body).includes(url) ? message : undefined)
    const { open, attach, requests, refused } = await serve(refuses, { model: { takesImages: true } })
    const ask = await open()
    expect(await ask('What is on it?', await attach(small))).toMatchObject(fine)
    expect(await ask('How far is the moon?')).toMatchObject(fine)
    expect(refused()).toBe(1)
    const askElsewhere = await open()
    await askElsewhere('What is on it?', await attach(other))
    expect(urls(requests.at(-1)?.body ?? {})).toHaveLength(1)
  })

  test.each([
    [404, 'No endpoints found that support image input'],
    [400, 'Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`'],
    [500, 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
  ])('are left out for a model that sees none: %i %s', async (status, message) => {
    const small = await sharp({ create: { width: 10, height: 10, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    const refuses: Refuses = (body) => (urls(body).length > 0 ? message : undefined)
    const { open, attach, refused } = await serve(refuses, { status, model: { takesImages: true } })
    expect(await (await open())('What is on it?', await attach(small))).toMatchObject(fine)
    expect(await (await open())('And on this?', await attach(small))).toMatchObject(fine)
    expect(refused()).toBe(1)
  })
})

describe('a refusal without a reason', () => {
  const callsWeather = (body: Body): Reply =>
    JSON.stringify(body['messages']).includes('Sunny')
      ? [{ text: 'An answer.' }]
      : [{ calls: [{ id: 'c1', name: 'get_weather', input: { city: 'Rome' } }] }]

  test('is answered with earlier calls as text, in that chat alone', async () => {
    let isStrict = false
    const refuses: Refuses = (body) =>
      isStrict && JSON.stringify(body['messages']).includes('"c1"') ? 'Bad request.' : undefined
    const { open, requests, refused, notices } = await serve(refuses, { answer: callsWeather })
    const ask = await open()
    expect(await ask('How is the weather in Rome?')).toMatchObject(fine)
    isStrict = true
    expect(await ask('And now?')).toMatchObject(fine)
    expect(JSON.stringify(requests.at(-1)?.body['messages'])).toContain('Sunny in Rome.')
    expect(namesOf(requests.at(-1)?.body ?? {})).toEqual(namesOf(requests[0]?.body ?? {}))
    expect(await ask('And then?')).toMatchObject(fine)
    expect(refused()).toBe(2)
    expect(notices).toEqual([
      expect.stringMatching(/m: its server refuses the call c1 \(\w+\); .* It says: Bad request\./),
    ])
  })

  test('is answered without the tools of the host, and the search stays', async () => {
    const refuses: Refuses = (body) => (namesOf(body).includes('get_weather') ? 'Bad request.' : undefined)
    const { open, requests, refused, notices } = await serve(refuses)
    expect(await (await open())('Where are the keys?')).toMatchObject(fine)
    expect(await (await open())('And the doors?')).toMatchObject(fine)
    expect(namesOf(requests.at(-1)?.body ?? {})).toContain('internal_search')
    expect(refused()).toBe(2)
    expect(notices).toEqual([expect.stringContaining('refuses the tool get_weather')])
  })

  test('that nothing helps against is told, and nothing is left out later', async () => {
    let isBroken = true
    const refuses: Refuses = () => (isBroken ? 'Bad request.' : undefined)
    const { open, requests } = await serve(refuses)
    const ask = await open()
    const failed = await ask('Where are the keys?')
    expect(failed.error_msg).toMatch(/log/)
    expect(failed.error_msg).not.toMatch(/words/)
    isBroken = false
    expect(await ask('And now?')).toMatchObject(fine)
    expect(namesOf(requests.at(-1)?.body ?? {})).toContain('get_weather')
  })
})

test.each([
  [
    'more tools than it takes',
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 133 instead.",
  ],
  ['tools in more words', 'tools: too many tools were given, at most 1 is supported'],
])('a server that refuses %s keeps the search', async (_, message) => {
  const refuses: Refuses = (body) => (namesOf(body).includes('get_weather') ? message : undefined)
  const { open, requests } = await serve(refuses)
  expect(await (await open())('Where are the keys?')).toMatchObject(fine)
  expect(namesOf(requests.at(-1)?.body ?? {})).toContain('internal_search')
})

test('Claude with a single tool gets a choice that it knows', async () => {
  const refuses: Refuses = ({ tool_choice: choice }) =>
    choice === undefined || (typeof choice === 'object' && choice !== null)
      ? undefined
      : 'tool_choice: Input should be an object'
  const { open, requests, refused } = await serve(refuses, {
    start: startAnthropic,
    model: { name: 'anthropic/claude-sonnet-4-5' },
    options: { actions: [] },
  })
  const ask = await open()
  expect(await ask('Where are the keys?', { allowed_tool_ids: [1] })).toMatchObject({ error_msg: null })
  expect(namesOf(requests[0]?.body ?? {})).toHaveLength(1)
  expect(refused()).toBe(0)
})

test('a refusal at the beginning of a stream is one like any other', async () => {
  let refused = 0
  const { open } = await serve(() => undefined, {
    answer: (body) => {
      if (!('stream_options' in body)) return [{ text: 'An answer.' }]
      refused++
      return [{ error: { message: "Unknown parameter: 'stream_options'", code: 400 } }]
    },
  })
  expect(await (await open())('Where are the keys?')).toMatchObject(fine)
  expect(await (await open())('And the doors?')).toMatchObject(fine)
  expect(refused).toBe(1)
})

describe('a good answer does not fail for', () => {
  const chunk = (delta: object, end: unknown = null, more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c', created: 1, choices: [{ index: 0, delta, finish_reason: end }], ...more })}\n\n`
  const text = chunk({ content: 'An answer.' })

  test.each([
    [
      'counts in texts',
      text + chunk({}, 'stop', { usage: { prompt_tokens: '10', completion_tokens: '3', total_tokens: '13' } }),
    ],
    [
      'details of counts in texts',
      text + chunk({}, 'stop', { usage: { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: '2' } } }),
    ],
    ['counts that are none', text + chunk({}, 'stop', { usage: 'none' })],
    [
      'counts beside its text',
      chunk({ content: 'An answer.' }, null, { usage: { prompt_tokens: '10' } }) + chunk({}, 'stop'),
    ],
    ['a time in a text', chunk({ content: 'An answer.' }, null, { created: '1', id: 5 }) + chunk({}, 'stop')],
    ['an end that is no text', text + chunk({}, { reason: 'eos' })],
    ['an unknown end', text + chunk({}, 'eos_token_seen')],
    ['no choice', `data: {"choices":[null]}\n\n${text}${chunk({}, 'stop')}`],
  ])('%s', async (_, raw) => {
    const { open } = await serve(() => undefined, { answer: () => [{ raw }, { end: null }] })
    expect(await (await open())('Where are the keys?')).toMatchObject(fine)
  })

  test.each([
    ['counts in texts', { usage: { prompt_tokens: '10', completion_tokens_details: { reasoning_tokens: '1' } } }],
    ['counts that are none', { usage: 'none' }],
    ['a time in a text', { created: 'now' }],
  ])('%s in a whole answer', async (_, more) => {
    const message = { role: 'assistant', content: 'An answer.' }
    const server = await startOpenAi(() => ({
      status: 200,
      body: { id: 'c', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], ...more },
    }))
    onTestFinished(() => server.close())
    const { resolve } = modelProviders({
      providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models: [{ name: 'm' }] }],
    })
    const { model } = await resolve()
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Where are the keys?' }] }]
    expect((await model.doGenerate({ prompt })).content).toMatchObject([{ type: 'text', text: 'An answer.' }])
  })
})
