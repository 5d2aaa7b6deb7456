import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { generateText, Output } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { startEverything } from '../stand-in/mcp-everything.ts'
import { z } from 'zod'
import { leaveLink, openScripted } from './chat-setting.ts'
import { apiKey } from './setting.ts'

test('LangChain has the text and the citation, whole and streamed', async () => {
  const { fetch } = await openScripted()
  const model = new ChatOpenAI({
    model: 'inlay',
    apiKey,
    useResponsesApi: true,
    configuration: { baseURL: 'http://inlay.test/v1', fetch },
  })
  const whole = await model.invoke('How many days of leave?')
  expect(whole.text).toContain('25 days of leave [1]')
  expect(JSON.stringify(whole.content)).toContain(leaveLink)
  let text = ''
  for await (const chunk of await model.stream('How many days of leave?')) text += chunk.text
  expect(text).toBe('There are 25 days of leave [1].')
})

test('the agents run a function, whole and streamed', async () => {
  const { clientAt } = await openScripted()
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient: clientAt('http://inlay.test/v1'), useResponses: true }),
    tracingDisabled: true,
  })
  const weather = tool({
    name: 'weather',
    description: 'w',
    parameters: z.object({ city: z.string() }),
    execute: async () => '21 degrees',
  })
  const agent = new Agent({ name: 'A', model: 'inlay', instructions: 'Be short.', tools: [weather] })
  const result = await runner.run(agent, 'Is it warm?')
  expect(result.finalOutput).toBe('It has 21 degrees in Bern.')
  const streamed = await runner.run(agent, 'Is it warm?', { stream: true })
  await streamed.completed
  expect(streamed.finalOutput).toBe('It has 21 degrees in Bern.')
})

test('the AI SDK gets an object', async () => {
  const { fetch } = await openScripted()
  const openai = createOpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch })
  const answer = await generateText({
    model: openai('inlay'),
    prompt: 'days?',
    output: Output.object({ schema: z.object({ days: z.number() }) }),
  })
  expect(answer.output).toEqual({ days: 25 })
})

test('no hostile body and no id of nobody gives an error of the server', async () => {
  const { fetch } = await openScripted()
  const send = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`http://inlay.test/v1/responses${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const noId = `resp_${'0'.repeat(33)}`
  const words = ['', 'x', '\u0000', '\ud800', '__proto__', noId, 'user', 'message', 'function', 'function_call', 'vs_1']
  const word = fc.constantFrom(...words, 'function_call_output', 'item_reference', 'input_image', 'data:;base64,!!')
  const odd = fc.oneof(word, fc.constantFrom(null, 0, -1, 1e99, true, [], {}), fc.array(word, { maxLength: 2 }))
  const anyOf = (...names: string[]) => fc.dictionary(fc.constantFrom(...names), odd)
  const part = anyOf('type', 'text', 'image_url', 'file_data', 'file_id', 'file')
  const item = fc.oneof(
    fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.oneof(word, fc.array(part)) }),
    fc.record({ type: word, call_id: word, name: word, id: word, output: fc.oneof(word, fc.array(part)) }),
  )
  const fields = {
    input: fc.oneof(word, fc.array(item, { maxLength: 4 })),
    tools: fc.oneof(odd, fc.array(anyOf('type', 'name', 'parameters', 'vector_store_ids'), { maxLength: 2 })),
    tool_choice: odd,
    text: fc.oneof(odd, fc.record({ format: anyOf('type', 'schema', 'name') })),
    previous_response_id: fc.oneof(word, fc.constant(null)),
    conversation: odd,
    metadata: odd,
    stream: fc.boolean(),
    store: fc.boolean(),
  }
  // One field at a time, or nearly all are refused for another.
  const bodies = Object.entries(fields).map(([name, value]) => value.map((field) => ({ input: 'x', [name]: field })))
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.oneof(...bodies), async (body) => {
      const reply = await send('POST', '', { model: 'inlay', ...body })
      statuses.add(reply.status)
      expect([reply.status < 500, await reply.text()]).toEqual([true, expect.stringMatching(/error|output/)])
    }),
    { numRuns: 150, endOnFailure: true },
  )
  expect(statuses).toContain(200)
  for (const id of ['__proto__', '%00', noId, `resp_${'f'.repeat(44)}`])
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?stream=true'],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['GET', '/input_items'],
    ] as const)
      expect([method, path, id, (await send(method, `/${id}${path}`)).status]).toEqual([method, path, id, 404])
}, 60_000)

test('calls of the server’s own MCP servers are items of the response', async () => {
  const everything = await startEverything('http')
  onTestFinished(everything.close)
  const mcpServers = [{ name: 'everything', url: everything.url, allowPrivate: true }]
  const { client } = await openScripted({ mcpServers }, ({ prompt, tools = [] }) => {
    const { name = '' } = tools.find((each) => each.name.endsWith('echo')) ?? {}
    const isCalled = prompt.at(-1)?.role === 'tool'
    return isCalled ? ['It says hello.'] : [{ call: { name, input: { message: 'hello' } } }]
  })
  const { output } = await client.responses.create({ model: 'inlay', input: 'Say hello.' })
  expect(output).toMatchObject([
    {
      type: 'mcp_call',
      name: expect.stringContaining('echo'),
      arguments: '{"message":"hello"}',
      output: 'Echo: hello',
    },
    { type: 'message' },
  ])
})
