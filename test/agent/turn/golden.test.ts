import { describe, expect, test } from 'vitest'
import type { ModelProvider } from '@inlay/agent'
import { scriptedModel, type Script } from '@inlay/agent/testing'
import type { ConversationsOptions } from '@inlay/conversations'
import type { CustomToolError, PacketBody, SearchDoc } from '@inlay/protocol'
import { archive, nights, press, swaps } from '../../protocol/fixtures/documents.ts'
import * as streams from '../../protocol/fixtures/streams.ts'
import { ana, newSetting, providerOf, readAll } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

type Line = streams.WireLine

/** Removes what differs between runs: ids and durations. */
function comparable(lines: readonly unknown[]): unknown[] {
  const text = JSON.stringify(lines)
    .replace(/"(user_message_id|reserved_assistant_message_id|message_id)":\d+/g, '"$1":0')
    .replace(/"pre_answer_processing_seconds":[\d.]+/g, '"pre_answer_processing_seconds":0')
    .replace(/"chat_session_id":"[^"]+"/g, '"chat_session_id":"s"')
  return JSON.parse(text) as unknown[]
}

/** Failures as sent here: an error packet before the error line, without a stack. */
function withErrorPacket(lines: readonly Line[], turn: number): unknown[] {
  return lines.flatMap((line) => {
    if (!('error' in line)) return [line]
    const { error, error_code: code, is_retryable: isRetryable } = line
    const placement = { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: 0 }
    const obj = { type: 'error', exception: error, error_code: code, is_retryable: isRetryable }
    return [
      { placement, obj },
      { ...line, stack_trace: null },
    ]
  })
}

/** Sends within a session that exists and returns the lines. */
async function play(script: Script, options: Partial<ConversationsOptions> = {}): Promise<unknown[]> {
  const { agent, send } = await newSetting(script, options)
  const { id } = await agent.sessions.create({}, ana)
  return comparable(await readAll(await send({ chat_session_id: id })))
}

interface SearchScript {
  readonly shown: readonly SearchDoc[]
  readonly matches: readonly SearchDoc[]
  readonly queries: readonly string[]
  readonly isWeb?: boolean
  readonly sources?: readonly string[]
  /** Awaited before the queries and before the documents are sent. */
  readonly steps?: readonly [Promise<void>, Promise<void>]
  readonly onProgress?: (what: 'queries' | 'end') => void
}

function searchAction({
  shown,
  matches: hit,
  queries,
  isWeb = false,
  sources,
  steps,
  onProgress: report,
}: SearchScript) {
  return scriptedAction({
    id: isWeb ? 2 : 1,
    name: isWeb ? 'web_search' : 'internal_search',
    builtIn: isWeb ? 'WebSearchTool' : 'SearchTool',
    start: { type: 'search_tool_start', is_internet_search: isWeb },
    result: async (_input, turn) => {
      if (sources) {
        turn.emit({ type: 'search_tool_filter_delta', sources, time_filter_start: null, time_filter_end: null })
      }
      await steps?.[0]
      turn.emit({ type: 'search_tool_queries_delta', queries })
      report?.('queries')
      await steps?.[1]
      turn.emit({ type: 'search_tool_documents_delta', documents: shown })
      turn.cite(hit)
      setImmediate(() => report?.('end'))
      return { text: 'found', documents: shown, foundDocuments: hit }
    },
  })
}

const call = (name: string, input: unknown = {}) => ({ call: { name, input } })
const booking = {
  id: 14,
  name: 'findBooking',
  start: { type: 'custom_tool_start', tool_name: 'findBooking', tool_id: 14 },
} as const

const bookingPackets = (data: unknown, error: CustomToolError | null): PacketBody[] => [
  { type: 'custom_tool_args', tool_name: 'findBooking', tool_args: { dome: 'north' } },
  {
    type: 'custom_tool_delta',
    tool_name: 'findBooking',
    tool_id: 14,
    response_type: 'json',
    data,
    file_ids: null,
    error,
  },
]

describe('a scripted model and scripted actions give, line by line', () => {
  test('a plain answer in a new session', async () => {
    const { lines } = await newSetting([['Good', ' evening!']])
    expect(comparable(await lines())).toEqual(comparable(streams.plainAnswer))
  })

  test('reasoning, then an answer', async () => {
    const script = [[{ reasoning: ['Nine nights', ' of eleven hours.'] }, '9 × 11', ' = 99 hours.']]
    expect(await play(script)).toEqual(comparable(streams.reasonedAnswer))
  })

  test('a search with citations', async () => {
    const search = searchAction({
      shown: [nights, swaps],
      matches: [nights, swaps, archive],
      queries: ['nights a group may book', 'telescope nights'],
      sources: ['confluence'],
    })
    const answer = ['A group may book twelve nights', ' [', '1', ']', ' and swap them[2].']
    expect(await play([[call('internal_search')], answer], { actions: [search] })).toEqual(
      comparable(streams.citedSearch),
    )
  })

  test('reasoning, text and two searches side by side', async () => {
    const own = Promise.withResolvers<void>()
    const other = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const actions = [
      searchAction({
        shown: [nights],
        matches: [nights, swaps],
        queries: ['nights per group', 'booking rules'],
        steps: [own.promise, ended.promise],
        onProgress: (what) => (what === 'queries' ? other.resolve() : undefined),
      }),
      searchAction({
        shown: [press],
        matches: [press],
        queries: ['nights per group elsewhere'],
        isWeb: true,
        steps: [Promise.resolve(), other.promise],
        onProgress: (what) => (what === 'queries' ? own.resolve() : ended.resolve()),
      }),
    ]
    const calls = [
      { name: 'internal_search', input: {} },
      { name: 'web_search', input: {} },
    ]
    const lines = await play(
      [
        [{ reasoning: 'Our rules and those of others.' }, 'I look at both.', { calls }],
        ['Twelve nights here', ' [1]', ', eight elsewhere', ' [101].'],
      ],
      { actions },
    )
    expect(lines).toEqual(comparable(streams.parallelTools))
  })

  test('a custom action that refuses its credentials', async () => {
    const action = scriptedAction({
      ...booking,
      packets: bookingPackets(
        { reason: 'token expired' },
        { is_auth_error: true, status_code: 401, message: 'findBooking refused its credentials.' },
      ),
    })
    const answer = ['The booking could not be read:', ' its credentials were refused.']
    expect(await play([[call('findBooking', { dome: 'north' })], answer], { actions: [action] })).toEqual(
      comparable(streams.refusedAction),
    )
  })

  test('a custom action that is called wrongly, then again', async () => {
    const action = scriptedAction({
      ...booking,
      packets: bookingPackets({ free: true }, null),
    })
    const script = [[call('findBooking', '{')], [call('findBooking', { dome: 'north' })], ['The north dome is free.']]
    expect(await play(script, { actions: [action] })).toEqual(comparable(streams.repeatedAction))
  })

  test('the code interpreter, with the code as it is written', async () => {
    const python = scriptedAction({
      id: 9,
      name: 'run_python',
      builtIn: 'PythonTool',
      streamedArguments: ['code'],
      packets: [
        { type: 'python_tool_start', code: 'print(9*11)' },
        { type: 'python_tool_delta', stdout: '99\n', stderr: '', file_ids: [] },
      ],
    })
    const id = 'c1'
    const written = [
      { part: { type: 'tool-input-start', id, toolName: 'run_python' } },
      { part: { type: 'tool-input-delta', id, delta: '{"code":"print(' } },
      { part: { type: 'tool-input-delta', id, delta: '9*11)"}' } },
      { part: { type: 'tool-input-end', id } },
      { part: { type: 'tool-call', toolCallId: id, toolName: 'run_python', input: '{"code":"print(9*11)"}' } },
      { finish: 'tool-calls' },
    ] as const
    expect(await play([written, ['99']], { actions: [python] })).toEqual(comparable(streams.pythonRun))
  })

  test('a model that fails midway', async () => {
    const busy = Object.assign(new Error('slow down'), { name: 'AI_APICallError', statusCode: 429 })
    const lines = await play([['The two', ' domes are', { error: busy }]])
    const expected = withErrorPacket(streams.failedMidway, 0)
    expect(kinds(lines)).toEqual(kinds(comparable(expected)))
    expect(lines.slice(0, -2)).toEqual(comparable(expected).slice(0, -2))
    expect(lines.at(-1)).toMatchObject({ stack_trace: null, error_code: 'RATE_LIMIT', is_retryable: true })
  })

  test('a model that says nothing', async () => {
    const lines = await play([[{ finish: 'stop' }]])
    expect(kinds(lines)).toEqual(kinds(comparable(withErrorPacket(streams.emptyAnswer, 0))))
    expect(lines.at(-1)).toMatchObject({
      error_code: 'EMPTY_LLM_RESPONSE',
      details: { model: 'script-1', provider: 'scripted', model_index: 0, tool_choice: 'auto', finish_reason: 'stop' },
    })
  })

  test('an answer stopped by its user', async () => {
    const { agent, send } = await newSetting([['In the beginning', ' there was', { hang: true }]])
    const { id } = await agent.sessions.create({}, ana)
    const run = await send({ chat_session_id: id })
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('there was'))) break
    await agent.stop(id, ana)
    expect(comparable(await readAll(run))).toEqual(comparable(streams.stopped))
  })

  test('two models side by side, each at its index', async () => {
    const small = scriptedModel([['It is', ' so.']])
    const large = scriptedModel([['Yes', '.']])
    const models: ModelProvider = {
      resolve: async (override) => {
        const name = override?.model_version ?? 'small-1'
        return providerOf(name === 'small-1' ? small : large, { name, displayName: name }).resolve()
      },
      list: async () => [],
    }
    const { agent, send } = await newSetting([], { models })
    const { id } = await agent.sessions.create({}, ana)
    const overrides = [{ model_version: 'small-1' }, { model_version: 'large-1' }]
    const lines = comparable(await readAll(await send({ chat_session_id: id, llm_overrides: overrides })))
    const expected = comparable(streams.twoModels)
    expect(lines[0]).toEqual(expected[0])
    for (const index of [0, 1]) expect(lines.filter(ofModel(index))).toEqual(expected.filter(ofModel(index)))
  })

  test('a stored answer without lines shown again', async () => {
    const search = searchAction({
      shown: [nights, swaps],
      matches: [nights, swaps, archive],
      queries: ['telescope nights'],
    })
    const { agent, send } = await newSetting(
      [[call('internal_search', { queries: ['telescope nights'] })], ['Twelve [1].']],
      // A run that loses its beginning is stored without lines.
      { actions: [search], limits: { maxRunBytes: 1 } },
    )
    const run = await send()
    await run.whole()
    const { packets } = await agent.sessions.get(run.sessionId, ana)
    expect(packets[0]).toEqual(streams.replayedSearch)
  })
})

const kinds = (lines: readonly unknown[]): string[] =>
  lines.map((line) => {
    const { obj } = line as { obj?: { type: string } }
    return obj?.type ?? Object.keys(line as object).join(' ')
  })

const ofModel =
  (index: number) =>
  (line: unknown): boolean =>
    (line as { placement?: { model_index: number } }).placement?.model_index === index
