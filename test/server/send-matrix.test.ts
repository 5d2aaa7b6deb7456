import { beforeAll, describe, expect, test } from 'vitest'
import type { ModelProvider } from '@inlay/agent'
import { scriptedModel, type ScriptedModel } from '@inlay/agent/testing'
import { createLineDecoder, fold, InlayError, originValues } from '@inlay/protocol'
import { findsAlways, newPassage, newSetting, providerOf, type Setting } from '../agent/setting.ts'
import { alice, bob, setup, unknownSessionId, type Setup } from './fakes.ts'
import { scriptedAction } from '../agent/scripted-action.ts'

/** One service for the whole table: a session of alice's, one of bob's, one action besides search. */
interface Fixture {
  readonly ask: Setup['ask']
  readonly setting: Setting
  readonly model: ScriptedModel
  readonly mine: { readonly session: string; readonly question: number; readonly answer: number }
  readonly foreign: { readonly session: string; readonly answer: number }
}
let fixture: Fixture

/** Knows the provider `own` with the model `own-1`, which takes temperatures up to 2. */
function strictModels(model: ScriptedModel): ModelProvider {
  return {
    resolve: async (override) => {
      const {
        model_provider: provider,
        model_version: version,
        temperature,
        model_configuration_id: id,
      } = override ?? {}
      const fits = (provider ?? 'own') === 'own' && (version ?? 'own-1') === 'own-1' && (id ?? 1) === 1
      if (!fits || (temperature ?? 0) < 0 || (temperature ?? 0) > 2) throw new InlayError('VALIDATION_ERROR')
      return { ...(await providerOf(model).resolve()), temperature: temperature ?? undefined }
    },
    list: async () => [],
  }
}

beforeAll(async () => {
  const model = scriptedModel((call) => {
    const forced = call.toolChoice?.type === 'tool' ? call.toolChoice.toolName : undefined
    return forced === undefined ? ['Fine.'] : [{ call: { name: forced, input: { queries: ['leave'] } } }]
  })
  const setting = await newSetting([], {
    models: strictModels(model),
    search: findsAlways(newPassage('leave', '28 days')),
    actions: [scriptedAction({ id: 7, name: 'look' })],
    checkFilters: async ({ document_set: sets }) => {
      if (sets?.includes('hidden')) throw new InlayError('INSUFFICIENT_PERMISSIONS')
    },
  })
  const own = await (await setting.send({}, { caller: alice })).whole()
  const others = await (await setting.send({}, { caller: bob })).whole()
  fixture = {
    ask: setup({ agent: setting.agent }).ask,
    setting,
    model,
    mine: { session: own.chat_session_id ?? '', question: own.message_id - 1, answer: own.message_id },
    foreign: { session: others.chat_session_id ?? '', answer: others.message_id },
  }
})

type Fields = Record<string, unknown>
/** Values that need ids of the fixture are computed once it exists. */
type Given = Fields | (() => Fields)

const messageOf = (given: Given): Fields => ({ message: 'Hi', ...(typeof given === 'function' ? given() : given) })
const send = (given: Given) => fixture.ask('/chat/send-chat-message', { json: messageOf(given) })
const sessions = async (): Promise<number> => (await fixture.setting.agent.sessions.list(alice)).sessions.length

const several = (count: number): Fields => ({ llm_overrides: Array.from({ length: count }, () => ({})) })
const filters = (fields: Fields): Fields => ({ internal_search_filters: fields })
const info = (fields: Fields): Fields => ({ chat_session_info: fields })

const valid: readonly (readonly [string, Given])[] = [
  ['message: empty', { message: '' }],
  ['message: 200,000 characters', { message: 'word '.repeat(40_000) }],
  ['llm_override: null', { llm_override: null }],
  ['llm_override: empty', { llm_override: {} }],
  ['llm_override: a version of the default provider', { llm_override: { model_version: 'own-1' } }],
  ['llm_override: provider and version', { llm_override: { model_provider: 'own', model_version: 'own-1' } }],
  ['llm_override: temperature', { llm_override: { temperature: 0 } }],
  ['llm_override: a configuration', { llm_override: { model_configuration_id: 1 } }],
  ['llm_override: all null', { llm_override: { model_provider: null, model_version: null, temperature: null } }],
  ['llm_overrides: null', { llm_overrides: null }],
  ['llm_overrides: none', several(0)],
  ['llm_overrides: one, which is ignored', { llm_overrides: [{ model_version: 'none' }] }],
  ['mock_llm_response: ignored', { mock_llm_response: 'x' }],
  ['allowed_tool_ids: null', { allowed_tool_ids: null }],
  ['allowed_tool_ids: empty', { allowed_tool_ids: [] }],
  ['allowed_tool_ids: one', { allowed_tool_ids: [7] }],
  ['allowed_tool_ids: unknown ones are ignored', { allowed_tool_ids: [999, -1] }],
  ['forced_tool_id: null', { forced_tool_id: null }],
  ['forced_tool_id: 0 is none', { forced_tool_id: 0 }],
  ['forced_tool_id: one of the allowed', { forced_tool_id: 7, allowed_tool_ids: [7] }],
  ['file_descriptors: null', { file_descriptors: null }],
  ['file_descriptors: empty', { file_descriptors: [] }],
  ['internal_search_filters: null', { internal_search_filters: null }],
  ['internal_search_filters: empty', filters({})],
  ['source_type: null', filters({ source_type: null })],
  ['source_type: empty', filters({ source_type: [] })],
  ['source_type: two', filters({ source_type: ['web', 'slack'] })],
  ['document_set: null', filters({ document_set: null })],
  ['document_set: one that may be seen', filters({ document_set: ['open'] })],
  ['time_cutoff: with offset', filters({ time_cutoff: '2026-01-01T00:00:00+02:00' })],
  ['time_cutoff: without offset', filters({ time_cutoff: '2026-01-01T00:00:00' })],
  ['time_cutoff: null', filters({ time_cutoff: null })],
  ['tags', filters({ tags: [{ tag_key: 'team', tag_value: 'HR' }] })],
  ['tags: null', filters({ tags: null })],
  ['created_at_range: open at one end', filters({ created_at_range: { start: '2026-01-01T00:00:00Z' } })],
  ['updated_at_range: both null', filters({ updated_at_range: { start: null, end: null } })],
  ['deep_research: false', { deep_research: false }],
  ['deep_research: null', { deep_research: null }],
  ['mcp_headers: null', { mcp_headers: null }],
  ['mcp_headers: some', { mcp_headers: { 'x-team': 'HR' } }],
  ...originValues.map((origin) => [`origin: ${origin}`, { origin }] as const),
  ['origin: null', { origin: null }],
  ['parent_message_id: -1 in a session', () => ({ chat_session_id: fixture.mine.session, parent_message_id: -1 })],
  ['parent_message_id: null', () => ({ chat_session_id: fixture.mine.session, parent_message_id: null })],
  ['parent_message_id: null in a new session', { parent_message_id: null }],
  [
    'parent_message_id: an answer',
    () => ({ chat_session_id: fixture.mine.session, parent_message_id: fixture.mine.answer }),
  ],
  [
    'parent_message_id: a question, answered again',
    () => ({ chat_session_id: fixture.mine.session, parent_message_id: fixture.mine.question }),
  ],
  ['chat_session_id: own', () => ({ chat_session_id: fixture.mine.session })],
  ['chat_session_id: in capitals', () => ({ chat_session_id: fixture.mine.session.toUpperCase() })],
  ['chat_session_id: null', { chat_session_id: null }],
  ['chat_session_id: blank', { chat_session_id: ' ' }],
  ['chat_session_id with null info', () => ({ chat_session_id: fixture.mine.session, chat_session_info: null })],
  ['chat_session_info: empty', info({})],
  ['chat_session_info: default agent, described', info({ persona_id: 0, description: 'Plans' })],
  ['chat_session_info: all null', info({ persona_id: null, description: null, project_id: null, incognito: null })],
  ['chat_session_info: not incognito', info({ incognito: false, incognito_session_id: unknownSessionId })],
  ['include_citations: false', { include_citations: false }],
  ['include_citations: null', { include_citations: null }],
  ['additional_context: null', { additional_context: null }],
  ['additional_context: text', { additional_context: 'The page is about bees.' }],
  ['include_usage: true', { include_usage: true }],
  ['unknown fields are ignored', { persona_override_config: {}, temperature: 9 }],
]

describe('what is accepted', () => {
  test.each(valid)('%s: streamed and whole', async (_title, given) => {
    const whole = await (await send({ ...messageOf(given), stream: false })).json()
    expect(whole).toMatchObject({ answer: 'Fine.', error_msg: null, chat_session_id: expect.any(String) })
    const response = await send({ ...messageOf(given), stream: true })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(await folded(response)).toMatchObject({ answer: 'Fine.', error_msg: null })
  })

  test.each([
    ['stream: absent', {}],
    ['stream: null', { stream: null }],
    ['llm_overrides: two', several(2)],
    ['llm_overrides: three', several(3)],
  ])('%s: streamed', async (_title, given) => {
    const response = await send(given)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect((await response.text()).match(/"type":"stop"/g)).toHaveLength(
      'llm_overrides' in given ? (given.llm_overrides as unknown[]).length : 1,
    )
  })
})

async function folded(response: Response): Promise<unknown> {
  const decoder = createLineDecoder()
  return fold([...decoder.push(await response.text()), ...decoder.end()].map(({ line }) => line))
}

/** Field, value, location of the issue, its type. */
const malformed: readonly (readonly [string, Given, readonly string[], string])[] = [
  ['message: absent', { message: undefined }, ['message'], 'missing'],
  ['message: null', { message: null }, ['message'], 'string_type'],
  ['message: a number', { message: 5 }, ['message'], 'string_type'],
  ['llm_override: text', { llm_override: 'gpt' }, ['llm_override'], 'model_attributes_type'],
  ['llm_override: a list', { llm_override: [] }, ['llm_override'], 'model_attributes_type'],
  ['temperature: text', { llm_override: { temperature: 'warm' } }, ['llm_override', 'temperature'], 'float_parsing'],
  ['model_version: a number', { llm_override: { model_version: 5 } }, ['llm_override', 'model_version'], 'string_type'],
  [
    'model_configuration_id: text',
    { llm_override: { model_configuration_id: 'one' } },
    ['llm_override', 'model_configuration_id'],
    'int_parsing',
  ],
  ['llm_overrides: an object', { llm_overrides: {} }, ['llm_overrides'], 'list_type'],
  ['llm_overrides: numbers', { llm_overrides: [5] }, ['llm_overrides', '0'], 'model_attributes_type'],
  ['allowed_tool_ids: a number', { allowed_tool_ids: 1 }, ['allowed_tool_ids'], 'list_type'],
  ['allowed_tool_ids: texts', { allowed_tool_ids: [1, 'two'] }, ['allowed_tool_ids', '1'], 'int_parsing'],
  ['allowed_tool_ids: fractions', { allowed_tool_ids: [1.5] }, ['allowed_tool_ids', '0'], 'int_from_float'],
  ['forced_tool_id: text', { forced_tool_id: 'seven' }, ['forced_tool_id'], 'int_parsing'],
  ['forced_tool_id: a list', { forced_tool_id: [7] }, ['forced_tool_id'], 'int_type'],
  ['file_descriptors: an object', { file_descriptors: {} }, ['file_descriptors'], 'list_type'],
  ['file_descriptors: without id', { file_descriptors: [{}] }, ['file_descriptors', '0', 'id'], 'missing'],
  [
    'file_descriptors: a type that does not exist',
    { file_descriptors: [{ id: 'f', type: 'video' }] },
    ['file_descriptors', '0', 'type'],
    'enum',
  ],
  [
    'internal_search_filters: a list',
    { internal_search_filters: [] },
    ['internal_search_filters'],
    'model_attributes_type',
  ],
  ['source_type: text', filters({ source_type: 'web' }), ['internal_search_filters', 'source_type'], 'list_type'],
  ['source_type: unknown', filters({ source_type: ['moon'] }), ['internal_search_filters', 'source_type', '0'], 'enum'],
  ['document_set: a number', filters({ document_set: 3 }), ['internal_search_filters', 'document_set'], 'list_type'],
  [
    'time_cutoff: no date',
    filters({ time_cutoff: 'yesterday' }),
    ['internal_search_filters', 'time_cutoff'],
    'datetime_parsing',
  ],
  ['time_cutoff: true', filters({ time_cutoff: true }), ['internal_search_filters', 'time_cutoff'], 'datetime_type'],
  [
    'tags: without value',
    filters({ tags: [{ tag_key: 'a' }] }),
    ['internal_search_filters', 'tags', '0', 'tag_value'],
    'missing',
  ],
  [
    'created_at_range: no date',
    filters({ created_at_range: { start: 'x' } }),
    ['internal_search_filters', 'created_at_range', 'start'],
    'datetime_parsing',
  ],
  ['deep_research: text', { deep_research: 'maybe' }, ['deep_research'], 'bool_parsing'],
  ['mcp_headers: a list', { mcp_headers: [] }, ['mcp_headers'], 'dict_type'],
  ['mcp_headers: numbers', { mcp_headers: { a: 1 } }, ['mcp_headers', 'a'], 'string_type'],
  ['origin: unknown', { origin: 'mars' }, ['origin'], 'enum'],
  ['parent_message_id: text', { parent_message_id: 'one' }, ['parent_message_id'], 'int_parsing'],
  ['parent_message_id: a fraction', { parent_message_id: 1.5 }, ['parent_message_id'], 'int_from_float'],
  ['chat_session_id: no UUID', { chat_session_id: 'abc' }, ['chat_session_id'], 'uuid_parsing'],
  ['chat_session_id: a number', { chat_session_id: 5 }, ['chat_session_id'], 'uuid_type'],
  ['chat_session_id and chat_session_info', { chat_session_id: unknownSessionId, ...info({}) }, [], 'value_error'],
  ['chat_session_info: text', { chat_session_info: 'x' }, ['chat_session_info'], 'model_attributes_type'],
  ['persona_id: text', info({ persona_id: 'zero' }), ['chat_session_info', 'persona_id'], 'int_parsing'],
  ['description: a number', info({ description: 5 }), ['chat_session_info', 'description'], 'string_type'],
  ['project_id: text', info({ project_id: 'one' }), ['chat_session_info', 'project_id'], 'int_parsing'],
  ['incognito: text', info({ incognito: 'never' }), ['chat_session_info', 'incognito'], 'bool_parsing'],
  [
    'incognito_session_id: no UUID',
    info({ incognito_session_id: 'x' }),
    ['chat_session_info', 'incognito_session_id'],
    'uuid_parsing',
  ],
  ['stream: text', { stream: 'never' }, ['stream'], 'bool_parsing'],
  ['include_citations: a number', { include_citations: 2 }, ['include_citations'], 'bool_parsing'],
  ['additional_context: a list', { additional_context: [] }, ['additional_context'], 'string_type'],
  ['include_usage: text', { include_usage: 'maybe' }, ['include_usage'], 'bool_parsing'],
]

describe('what has another shape is a 422 that names the place', () => {
  test.each(malformed)('%s', async (_title, given, place, type) => {
    const before = await sessions()
    const response = await send(given)
    expect([response.status, await response.json()]).toEqual([
      422,
      { detail: [{ loc: ['body', ...place], msg: expect.any(String), type }] },
    ])
    expect(await sessions()).toBe(before)
  })

  test.each([
    ['', 'missing'],
    ['{"message": "Hi"', 'json_invalid'],
    ['[]', 'model_attributes_type'],
    ['"Hi"', 'model_attributes_type'],
    ['null', 'model_attributes_type'],
  ])('the body %j', async (body, type) => {
    const response = await fixture.ask('/chat/send-chat-message', { method: 'POST', body })
    expect([response.status, await response.json()]).toEqual([
      422,
      { detail: [{ loc: ['body'], msg: expect.any(String), type }] },
    ])
  })
})

const refused: readonly (readonly [string, Given, number, string])[] = [
  ['llm_override: an unknown version', { llm_override: { model_version: 'none' } }, 400, 'VALIDATION_ERROR'],
  ['llm_override: an unknown provider', { llm_override: { model_provider: 'moon' } }, 400, 'VALIDATION_ERROR'],
  ['llm_override: too hot', { llm_override: { temperature: 3 } }, 400, 'VALIDATION_ERROR'],
  ['llm_overrides: two, whole', { ...several(2), stream: false }, 400, 'INVALID_INPUT'],
  ['llm_overrides: four', several(4), 400, 'VALIDATION_ERROR'],
  ['llm_overrides: one of two unknown', { llm_overrides: [{}, { model_version: 'none' }] }, 400, 'VALIDATION_ERROR'],
  ['forced_tool_id: unknown', { forced_tool_id: 99 }, 400, 'VALIDATION_ERROR'],
  ['forced_tool_id: not allowed', { forced_tool_id: 7, allowed_tool_ids: [] }, 400, 'VALIDATION_ERROR'],
  ['file_descriptors: unknown', { file_descriptors: [{ id: 'f' }] }, 404, 'NOT_FOUND'],
  ['document_set: hidden', filters({ document_set: ['hidden'] }), 403, 'INSUFFICIENT_PERMISSIONS'],
  [
    'parent_message_id: unknown',
    () => ({ chat_session_id: fixture.mine.session, parent_message_id: 9_999 }),
    400,
    'VALIDATION_ERROR',
  ],
  [
    'parent_message_id: of another session',
    () => ({ chat_session_id: fixture.mine.session, parent_message_id: fixture.foreign.answer }),
    400,
    'VALIDATION_ERROR',
  ],
  ['parent_message_id: in a new session', { parent_message_id: 3 }, 400, 'VALIDATION_ERROR'],
  ['chat_session_id: unknown', { chat_session_id: unknownSessionId }, 404, 'SESSION_NOT_FOUND'],
  ['chat_session_id: foreign', () => ({ chat_session_id: fixture.foreign.session }), 404, 'SESSION_NOT_FOUND'],
  ['persona_id: unknown', info({ persona_id: 99 }), 404, 'PERSONA_NOT_FOUND'],
  ['project_id: unknown', info({ project_id: 99 }), 404, 'NOT_FOUND'],
  ['incognito', info({ incognito: true }), 403, 'DEPLOYMENT_UNSUPPORTED'],
]

describe('what cannot be carried out is refused before anything is stored', () => {
  test.each(refused)('%s', async (_title, given, status, code) => {
    const [before, requests] = [await sessions(), fixture.model.requests.length]
    const response = await send(given)
    expect([response.status, await response.json()]).toEqual([status, { error_code: code, detail: expect.any(String) }])
    expect([await sessions(), fixture.model.requests.length]).toEqual([before, requests])
  })
})

/** Other services answer this with status 200 and an error line. */
test('a stream that cannot begin is none: a status and JSON, whatever is accepted', async () => {
  for (const accept of ['text/event-stream', 'application/x-ndjson', '*/*']) {
    const response = await fixture.ask('/chat/send-chat-message', {
      json: { message: 'Hi', chat_session_id: unknownSessionId, stream: true },
      headers: { accept },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json'])
    expect(await response.json()).toEqual({ error_code: 'SESSION_NOT_FOUND', detail: expect.any(String) })
  }
})
