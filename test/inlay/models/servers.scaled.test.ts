import { describe, expect, test } from 'vitest'
import { cases } from '../../cases.ts'
import { startLlamaCpp, startOllama, startVllm } from '../../stand-in/providers/local.ts'
import type { Replies, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { afterSearch, fact, hasNewResults, hasResults, overServer, search } from './fixture.ts'

const question = 'Where do the keys hang?'

const servers: readonly (readonly [string, (replies: Replies) => Promise<StandIn>, string, number])[] = [
  ['Ollama', startOllama, 'llama3.2', 8_192],
  ['vLLM', startVllm, 'm-1', 8_192],
  ['llama.cpp', startLlamaCpp, 'm-1', 8_192],
  ['a server that tells nothing of itself', startOpenAi, 'm-1', 32_000],
]

describe.each(cases(servers.slice(-1), servers))('%s', (_, start, name, window) => {
  test('answers by calling the search, and cites', async () => {
    const server = await start(afterSearch([search]))
    const { ask, inlay } = await overServer(server, { name })
    const { answer, citation_info: citations, error_msg: error } = await ask(question)
    expect({ answer, error }).toEqual({ answer: `${fact} [[1]](https://docs.example/keys)`, error: null })
    expect(citations.map(({ document_id: id }) => id)).toEqual(['keys'])
    const list = await inlay.fetch(
      new Request('http://host.example/api/llm/provider', { headers: { authorization: 'Bearer the-key-of-the-test' } }),
    )
    expect(await list.text()).toContain(`"max_input_tokens":${window}`)
  })

  test('is searched for when its model writes an answer instead', async () => {
    const prose = 'As far as I know, keys are kept in a drawer, a bowl or a bag, depending on taste. '.repeat(3)
    const server = await start(afterSearch([{ text: prose }]))
    const { ask } = await overServer(server, { name })
    expect(await ask(question)).toMatchObject({ answer: `${fact} [[1]](https://docs.example/keys)` })
    expect(await ask('And the keys of the cellar?')).toMatchObject({ answer: expect.stringContaining(fact) })
    expect(server.requests.map(hasResults)).toEqual([false, true, true])
  })

  test('is searched for when its model answers a follow-up from memory, and not for small talk', async () => {
    const server = await start((request, index) =>
      hasNewResults(request) ? [{ text: `${fact} [1]` }] : index === 0 ? [search] : [{ text: 'In a drawer.' }],
    )
    const { ask } = await overServer(server, { name })
    const { answer, chat_session_id: id } = await ask(question)
    expect(answer).toContain(`${fact} [[1]]`)
    const followUp = await ask('And those of the cellar?', { chat_session_id: id })
    expect(followUp.answer).toContain(`${fact} [[1]]`)
    expect(followUp.citation_info).toHaveLength(1)
    const thanks = await ask('Thanks!', { chat_session_id: id })
    expect(thanks).toMatchObject({ answer: 'In a drawer.', citation_info: [], error_msg: null })
  })

  test('shows its thoughts as such', async () => {
    const server = await start([[{ reasoning: 'Let me see.' }, { text: 'Hello.' }]])
    const { ask } = await overServer(server, { name, grounding: 'tools' })
    expect(await ask('Hello?')).toMatchObject({ answer: 'Hello.', error_msg: null })
  })
})

test('a model that Ollama says takes no tools gets the results at once', async () => {
  const server = await startOllama(
    ({ body }) =>
      'tools' in body
        ? { status: 400, body: { error: { message: 'registry.ollama.ai/library/gemma:2b does not support tools' } } }
        : [{ text: `${fact} [1]` }],
    ['completion'],
  )
  const { ask } = await overServer(server, { name: 'llama3.2' })
  expect(await ask(question)).toMatchObject({ answer: expect.stringContaining(fact), error_msg: null })
  expect(server.requests).toHaveLength(1)
})

test('a search that is demanded of llama.cpp is demanded by the word it understands', async () => {
  const server = await startLlamaCpp(afterSearch([search]))
  const { ask, inlay } = await overServer(server, { name: 'm-1', grounding: 'tools' })
  const headers = { authorization: 'Bearer the-key-of-the-test' }
  const tools = await (await inlay.fetch(new Request('http://host.example/api/tool', { headers }))).json()
  const { id } = (tools as { id: number; in_code_tool_id: string }[]).find(
    ({ in_code_tool_id: builtIn }) => builtIn === 'SearchTool',
  )!
  expect(await ask(question, { forced_tool_id: id })).toMatchObject({ answer: expect.stringContaining(fact) })
  expect(server.requests.map(({ body }) => body['tool_choice'] ?? 'auto')).toEqual(['required', 'auto'])
})

test('the output limit of a setting is sent, and an answer that it cuts says so', async () => {
  const server = await startVllm(afterSearch([search]))
  const { ask } = await overServer(server, { name: 'm-1', grounding: 'tools', maxOutputTokens: 60 })
  expect((await ask(question)).answer).not.toContain('output limit')
  expect(server.requests.map(({ body }) => body['max_tokens'] ?? body['max_completion_tokens'])).toEqual([60, 60])

  const cut = await startVllm((request) =>
    hasResults(request) ? [{ text: 'The keys ha' }, { end: 'length' }] : [search],
  )
  const { answer, error_msg: error } = await (
    await overServer(cut, { name: 'm-1', grounding: 'tools', maxOutputTokens: 60 })
  ).ask(question)
  expect(error).toBeNull()
  expect(answer).toMatch(/^The keys ha\n\n\*The answer ends here because the model reached its output limit\..*\*$/)
})
