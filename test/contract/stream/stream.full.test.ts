import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { heron, searchThenSay, startService, type Json, type Service } from '../service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.ingest(heron('a'))
  await service.ingest(heron('b'))
})
beforeEach(() => service.answerWith(() => ['Hello', '! How can', ' I help?']))
afterAll(() => service.close())

const packetsOf = (lines: readonly Json[]): Json[] => lines.filter((line) => 'obj' in line)
const orderOf = (packets: readonly Json[]): string[] =>
  packetsOf(packets).map(({ placement, obj }) => `${placement.turn_index} ${obj.type}`)
const firstOf = (lines: readonly Json[], type: string): Json =>
  packetsOf(lines).find(({ obj }) => obj.type === type)?.obj

async function replayOf(lines: readonly Json[]): Promise<Json[]> {
  const session = lines.find((line) => 'chat_session_id' in line).chat_session_id
  return (await service.call('GET', `/chat/get-chat-session/${session}`)).json.packets.at(-1)
}

test('a stream begins with its session and its message ids, and its lines keep the order of their fields', async () => {
  const lines = await service.stream({ message: 'Hi' })
  expect(lines[0]).toEqual({ chat_session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), incognito: false })
  expect(Object.keys(lines[1])).toEqual(['user_message_id', 'reserved_assistant_message_id'])
  for (const line of lines.slice(2)) {
    expect(Object.keys(line)).toEqual(['placement', 'obj'])
    expect(Object.keys(line.placement)).toEqual(['turn_index', 'tab_index', 'sub_turn_index', 'model_index'])
    expect(line.placement.model_index).toBe(0)
    expect(Object.keys(line.obj)[0]).toBe('type')
  }
  expect(Object.keys(lines[2].obj)).toEqual(['type', 'final_documents', 'pre_answer_processing_seconds'])
  expect(lines[2].obj.final_documents).toBeNull()
  expect(lines.at(-1).obj).toEqual({ type: 'stop', stop_reason: null })
  const next = await service.stream({ message: 'And?', chat_session_id: lines[0].chat_session_id })
  expect(next.some((line) => 'chat_session_id' in line)).toBe(false)
})

test('a stream is events by default, lines when they are asked for, and never held back on its way', async () => {
  const events = await service.call('POST', '/chat/send-chat-message', { message: 'Hi' })
  expect(events.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(events.headers.get('cache-control')).toBe('no-cache, no-transform')
  expect(events.headers.get('x-accel-buffering')).toBe('no')
  const [first] = events.text.split('\n\n')
  expect(first!.split('\n').toSorted()).toEqual([expect.stringMatching(/^data: \{/), 'id: 1'])
})

test('thinking has a turn of its own, live and shown again', async () => {
  service.answerWith(() => [{ reasoning: 'The user asks' }, { reasoning: ' for 17*23.' }, '17 x 23', ' = 391.'])
  const lines = await service.stream({ message: 'x' })
  expect(orderOf(lines)).toEqual([
    '0 reasoning_start',
    '0 reasoning_delta',
    '0 reasoning_delta',
    '0 reasoning_done',
    '1 message_start',
    '1 message_delta',
    '1 message_delta',
    '1 stop',
  ])
  const replay = await replayOf(lines)
  expect(orderOf(replay)).toEqual([
    '0 reasoning_start',
    '0 reasoning_delta',
    '0 reasoning_done',
    '1 message_start',
    '1 message_delta',
    '1 stop',
  ])
})

test('a plain answer is shown again at its turn, in one piece', async () => {
  const lines = await service.stream({ message: 'Hi' })
  const replay = await replayOf(lines)
  expect(orderOf(replay)).toEqual(['0 message_start', '0 message_delta', '0 stop'])
  expect(firstOf(replay, 'message_delta').content).toBe('Hello! How can I help?')
  for (const { placement } of replay) expect(placement).toMatchObject({ sub_turn_index: null, model_index: null })
})

test('a search tells its documents before the answer that cites them, and is shown again without its place', async () => {
  service.answerWith(searchThenSay('It waits in the reeds [1].'))
  const lines = await service.stream({ message: 'where do herons wait' })
  expect(orderOf(lines).filter((line) => line !== '1 message_delta')).toEqual([
    '0 search_tool_start',
    '0 search_tool_queries_delta',
    '0 search_tool_documents_delta',
    '0 section_end',
    '1 message_start',
    '1 citation_info',
    '1 stop',
  ])
  const [document] = firstOf(lines, 'search_tool_documents_delta').documents
  expect(Object.keys(document)).toEqual([
    'document_id',
    'chunk_ind',
    'semantic_identifier',
    'link',
    'blurb',
    'source_type',
    'boost',
    'hidden',
    'metadata',
    'score',
    'is_relevant',
    'relevance_explanation',
    'match_highlights',
    'updated_at',
    'primary_owners',
    'secondary_owners',
    'is_internet',
    'file_id',
  ])
  expect(document.updated_at).toMatch(/Z$/)
  for (const highlight of document.match_highlights) expect(highlight).toContain('<hi>')
  expect(firstOf(lines, 'message_start').final_documents.length).toBeGreaterThan(0)
  const citation = lines.findIndex((line) => line.obj?.type === 'citation_info')
  expect(lines[citation + 1].obj.content).toMatch(/^\[\[1\]\]\(/)
  const replay = await replayOf(lines)
  expect(orderOf(replay)).toEqual([
    '0 search_tool_start',
    '0 search_tool_queries_delta',
    '0 search_tool_documents_delta',
    '0 section_end',
    '1 message_start',
    '1 message_delta',
    '1 citation_info',
    '1 message_delta',
    '1 stop',
  ])
})

test('parallel searches of one kind are one, with all their queries', async () => {
  service.answerWith((prompt) =>
    prompt.includes('"role":"tool"')
      ? ['Both [1].']
      : [
          { call: { name: 'internal_search', input: { queries: ['heron'] } } },
          { call: { name: 'internal_search', input: { queries: ['reeds'] } } },
        ],
  )
  const lines = await service.stream({ message: 'x' })
  expect(firstOf(lines, 'top_level_branching')).toEqual({ type: 'top_level_branching', num_parallel_branches: 2 })
  const starts = packetsOf(lines).filter(({ obj }) => obj.type === 'search_tool_start')
  expect(starts).toHaveLength(1)
  expect(firstOf(lines, 'search_tool_queries_delta').queries).toEqual(expect.arrayContaining(['heron', 'reeds']))
})

test('a run that fails ends in one error line without a stop, and keeps what was said', async () => {
  service.answerWith(() => ['The three', { error: new Error('boom') }])
  const lines = await service.stream({ message: 'x' })
  expect(Object.keys(lines.at(-1))).toEqual(['error', 'stack_trace', 'error_code', 'is_retryable', 'details'])
  expect(lines.at(-1).stack_trace).toBeNull()
  expect(lines.some((line) => line.obj?.type === 'stop')).toBe(false)
  const { json } = await service.call('GET', `/chat/get-chat-session/${lines[0].chat_session_id}`)
  expect(json.messages.at(-1)).toMatchObject({ message: 'The three', error: lines.at(-1).error })
})

test('a model that says nothing is an error of its own', async () => {
  service.answerWith(() => [])
  expect((await service.stream({ message: 'x' })).at(-1)).toMatchObject({
    error_code: 'EMPTY_LLM_RESPONSE',
    is_retryable: true,
  })
})

test('a call that fails does not end the run', async () => {
  service.answerWith((prompt) =>
    prompt.includes('"role":"tool"') ? ['Sorry.'] : [{ call: { name: 'open_url', input: { urls: [] } } }],
  )
  const lines = await service.stream({ message: 'x' })
  expect(orderOf(lines)).toEqual(['0 open_url_start', '0 section_end', '1 message_start', '1 message_delta', '1 stop'])
})

test('text beside a call is shown before it, and the answer is the text of the last step', async () => {
  service.answerWith((prompt) =>
    prompt.includes('"role":"tool"')
      ? ['In the reeds.']
      : ['Let me look. ', { call: { name: 'internal_search', input: { queries: ['heron'] } } }],
  )
  const lines = await service.stream({ message: 'x' })
  const places = packetsOf(lines).map(
    ({ placement, obj }) => `${placement.turn_index}.${placement.tab_index} ${obj.type}`,
  )
  expect(places.slice(0, 3)).toEqual(['0.0 message_start', '0.0 message_delta', '0.1 search_tool_start'])
  expect((await service.ask({ message: 'x' })).answer).toBe('In the reeds.')
})

test('two models answer side by side: one line names both, each has its own stop', async () => {
  service.answerWith(() => ['Yes'])
  const override = { model_provider: 'scripted', model_version: 's' }
  const lines = await service.stream({ message: 'x', llm_overrides: [override, override] })
  const both = lines.find((line) => 'responses' in line)
  expect(both.responses.map(Object.keys)).toEqual([
    ['message_id', 'model_name'],
    ['message_id', 'model_name'],
  ])
  const stops = packetsOf(lines).filter(({ obj }) => obj.type === 'stop')
  expect(stops.map(({ placement }) => placement.model_index).toSorted()).toEqual([0, 1])
  expect(lines.some((line) => 'reserved_assistant_message_id' in line)).toBe(false)
})

test('the document of the API declares all packet types', async () => {
  const { text } = await service.call('GET', '/openapi.json')
  const types =
    'section_end stop top_level_branching error message_start message_delta search_tool_start search_tool_queries_delta search_tool_documents_delta open_url_start open_url_urls open_url_documents image_generation_start image_generation_heartbeat image_generation_final python_tool_start python_tool_delta custom_tool_start custom_tool_delta reasoning_start reasoning_delta reasoning_done citation_info deep_research_plan_start deep_research_plan_delta research_agent_start intermediate_report_start intermediate_report_delta intermediate_report_cited_docs'
  for (const type of types.split(' ')) expect(text, type).toContain(`"${type}"`)
})
