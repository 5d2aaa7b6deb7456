import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { asNewest } from '@inlay/drivers/internal/models/model-object'
import type { ChatFullResponse, LlmProviders } from '@inlay/protocol'
import { createInlay, defineAction } from 'inlay'
import { createOpenAI as createOpenAIv2 } from 'openai-provider-v2'
import { createOpenAI as createOpenAIv3 } from 'openai-provider-v3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startAnthropic } from '../../stand-in/anthropic.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { createAnthropic } from '@ai-sdk/anthropic'
import * as z from 'zod'

// One white pixel.
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=',
  'base64',
)

const measure = defineAction({
  name: 'measure',
  description: 'Measures a picture.',
  input: z.object({}),
  run: async () => '1 by 1',
})

function serve(model: NonNullable<Parameters<typeof createInlay>[0]>['model']) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-model-objects-'))
  const inlay = createInlay({
    dataFolder,
    apiKey: 'the-key-of-the-test',
    model,
    actions: [measure],
    sessionNames: 'off',
    memories: false,
  })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  })
  return async <Body>(path: string, body?: object): Promise<Body> => {
    const init = body && { method: 'POST', body: body instanceof FormData ? body : JSON.stringify(body) }
    const headers = { authorization: 'Bearer the-key-of-the-test' }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { ...init, headers }))
    return (await response.json()) as Body
  }
}

const makers = { v2: createOpenAIv2, v3: createOpenAIv3, v4: createOpenAI }

describe.each(Object.entries(makers))('a model object of specification %s', (version, create) => {
  test('answers in place of a name: with tools, pictures and figures', async () => {
    const server = await startOpenAi([
      [{ calls: [{ id: 'c1', name: 'measure', input: {} }] }],
      [{ text: 'A white dot.' }],
    ])
    onTestFinished(() => server.close())
    const model = create({ apiKey: 'unguessable', baseURL: `${server.origin}/v1` }).chat('gpt-4o')
    expect(model.specificationVersion).toBe(version)
    const call = serve(model)
    const form = new FormData()
    form.append('files', new File([png], 'dot.png', { type: 'image/png' }))
    const { user_files } = await call<{ user_files: { file_id: string }[] }>('/user/projects/file/upload', form)
    const answer = await call<ChatFullResponse>('/chat/send-chat-message', {
      message: 'What is it?',
      stream: false,
      file_descriptors: [{ id: user_files[0]!.file_id, type: 'image' }],
    })
    expect(answer).toMatchObject({
      error_msg: null,
      answer: 'A white dot.',
      tool_calls: [{ tool_name: 'measure' }],
    })
    const sent = server.requests.map(({ body }) => JSON.stringify(body))
    expect(sent[0]).toContain('"type":"image_url","image_url":{"url":"data:image/png;base64,')
    expect(sent[1]).toContain('"role":"tool"')
    const listed = await call<LlmProviders>('/llm/provider')
    expect(JSON.stringify(listed)).toContain('"gpt-4o"')

    const newest = asNewest(model)
    let last: unknown
    for await (const part of (await newest.doStream({ prompt: [] })).stream) last = part
    expect(last).toMatchObject({
      type: 'finish',
      finishReason: { unified: 'stop' },
      usage: { inputTokens: { total: 12 }, outputTokens: { total: 7, reasoning: 3 } },
    })
  })
})

test('objects, names and their options stand side by side in one list', async () => {
  const servers = [
    await startOpenAi([[{ text: 'From OpenAI.' }]]),
    await startAnthropic([[{ text: 'From Anthropic.' }]]),
  ]
  onTestFinished(async () => void (await Promise.all(servers.map((each) => each.close()))))
  const [openai, anthropic] = servers.map(({ origin }) => `${origin}/v1`)
  const call = serve([
    'extractive',
    createOpenAI({ apiKey: 'k', baseURL: openai! }).chat('gpt-5'),
    createOpenAI({ apiKey: 'k', baseURL: openai! }).chat('gpt-5-mini'),
    {
      name: 'claude',
      model: createAnthropic({ apiKey: 'k', baseURL: anthropic! })('claude-sonnet-4-5'),
      displayName: 'Claude',
    },
  ])
  const ask = (model_provider: string, model_version: string) =>
    call<ChatFullResponse>('/chat/send-chat-message', {
      message: 'Hello, who are you?',
      stream: false,
      llm_override: { model_provider, model_version },
    })
  expect((await ask('openai', 'gpt-5-mini')).answer).toBe('From OpenAI.')
  expect((await ask('anthropic', 'claude')).answer).toBe('From Anthropic.')
  expect(servers[0]!.requests.at(-1)!.body).toMatchObject({ model: 'gpt-5-mini' })
})
