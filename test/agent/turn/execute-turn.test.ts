import { sql } from 'kysely'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '@inlay/agent/internal/prompt/context-window'
import { scriptedModel } from '@inlay/agent/testing'
import { InlayError, packetSchema } from '@inlay/protocol'
import type { EndedTurn } from '@inlay/agent'
import { breakRecords } from '../../life/faults/broken.ts'
import {
  ana,
  findsAlways,
  inShort,
  newDatabase,
  newDoc,
  newPassage,
  newSetting,
  packetsOf,
  providerOf,
  readAll,
  type Setting,
} from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const idLine = 'line user_message_id reserved_assistant_message_id'

/** Sends within a session that exists, so that no session line comes. */
async function inSession(setting: Setting, input: Parameters<Setting['send']>[0] = {}): Promise<string[]> {
  return (await setting.lines({ chat_session_info: { persona_id: 0 }, ...input })).slice(1).map(inShort)
}

const search = findsAlways(
  newPassage('leave', 'Everybody gets 28 days.', { score: 0.9 }),
  newPassage('carry', 'Four days may be kept.', { score: 0.7 }),
  newPassage('old', 'Replaced long ago.', { score: 0.2 }),
)

/** Packets of an answer that makes two searches at once. */
const parallelSearches = [
  '0.0 reasoning_start',
  '0.0 reasoning_delta "Both the rules and the law matter."',
  '0.0 reasoning_done',
  '1.0 message_start null',
  '1.0 message_delta "Looking into both."',
  '1.0 top_level_branching 2',
  '1.1 search_tool_start internal',
  '1.2 search_tool_start web',
  '1.1 search_tool_queries_delta ["leave"]',
  '1.2 search_tool_queries_delta ["minimum leave"]',
  '1.2 search_tool_documents_delta [law]',
  '1.2 section_end',
  '1.1 search_tool_documents_delta [leave]',
  '1.1 section_end',
  '2.0 message_start [leave, law]',
  '2.0 message_delta "The rules give 28 days"',
  '2.0 message_delta " "',
  '2.0 citation_info 1 leave',
  '2.0 message_delta "[[1]](https://wiki.example/leave)"',
  '2.0 message_delta ", more than the 20 of the law"',
  '2.0 message_delta " "',
  '2.0 citation_info 101 law',
  '2.0 message_delta "[[101]](https://law.example/leave)"',
  '2.0 message_delta "."',
  '2.0 stop null',
]

describe('an answer goes out in the order that clients rely on', () => {
  test('plain, in a new session', async () => {
    const { lines } = await newSetting([['Good', ' morning', '! What is it?']])
    const [session, ids, ...rest] = await lines()
    expect(session).toEqual({ chat_session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), incognito: false })
    expect(ids).toEqual({ user_message_id: 2, reserved_assistant_message_id: 3 })
    expect(rest.map(inShort)).toEqual([
      '0.0 message_start null',
      '0.0 message_delta "Good"',
      '0.0 message_delta " morning"',
      '0.0 message_delta "! What is it?"',
      '0.0 stop null',
    ])
    expect(packetsOf(rest).map(({ placement }) => placement)).toEqual(
      Array.from({ length: 5 }, () => ({ turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 })),
    )
  })

  test('reasoning first', async () => {
    const setting = await newSetting([[{ reasoning: ['Twelve times', ' twelve.'] }, 'It is', ' 144.']])
    expect(await inSession(setting)).toEqual([
      idLine,
      '0.0 reasoning_start',
      '0.0 reasoning_delta "Twelve times"',
      '0.0 reasoning_delta " twelve."',
      '0.0 reasoning_done',
      '1.0 message_start null',
      '1.0 message_delta "It is"',
      '1.0 message_delta " 144."',
      '1.0 stop null',
    ])
  })

  test('a search with citations', async () => {
    const setting = await newSetting(
      [
        [{ call: { name: 'internal_search', input: { queries: ['days of leave', 'leave'] } } }],
        ['There are 28 days', ' [', '1', ']', ' and four can be kept[2].'],
      ],
      { search },
    )
    expect(await inSession(setting, { internal_search_filters: { source_type: ['confluence'] } })).toEqual([
      idLine,
      '0.0 search_tool_start internal',
      '0.0 search_tool_filter_delta ["confluence"]',
      '0.0 search_tool_queries_delta ["days of leave","leave"]',
      '0.0 search_tool_documents_delta [leave, carry]',
      '0.0 section_end',
      '1.0 message_start [leave, carry, old]',
      '1.0 message_delta "There are 28 days"',
      '1.0 message_delta " "',
      '1.0 citation_info 1 leave',
      '1.0 message_delta "[[1]](https://wiki.example/leave)"',
      '1.0 message_delta " and four can be kept"',
      '1.0 citation_info 2 carry',
      '1.0 message_delta " [[2]](https://wiki.example/carry)"',
      '1.0 message_delta "."',
      '1.0 stop null',
    ])
  })

  test('reasoning, text and two parallel searches, the second of which is the faster', async () => {
    let webIsDone = (): void => {}
    const web = new Promise<void>((resolve) => (webIsDone = resolve))
    const statute = newDoc('law', { is_internet: true, link: 'https://law.example/leave' })
    const setting = await newSetting(
      [
        [
          { reasoning: 'Both the rules and the law matter.' },
          'Looking into both.',
          {
            calls: [
              { name: 'internal_search', input: { queries: ['leave'] } },
              { name: 'web_search', input: { queries: ['minimum leave'] } },
            ],
          },
        ],
        ['The rules give 28 days', ' [1]', ', more than the 20 of the law', ' [101]', '.'],
      ],
      {
        search: async () => (await web, [newPassage('leave', '28 days')]),
        actions: [
          scriptedAction({
            id: 2,
            name: 'web_search',
            builtIn: 'WebSearchTool',
            start: { type: 'search_tool_start', is_internet_search: true },
            packets: [
              { type: 'search_tool_queries_delta', queries: ['minimum leave'] },
              { type: 'search_tool_documents_delta', documents: [statute] },
            ],
            documents: [statute],
            result: () => {
              setTimeout(webIsDone)
              return { text: '{}' }
            },
          }),
        ],
      },
    )
    expect(await inSession(setting)).toEqual([idLine, ...parallelSearches])
  })

  test('a model that breaks off in the middle: what was said, an error packet, the error line, no stop', async () => {
    const limited = Object.assign(new Error('Too many requests'), { statusCode: 429, name: 'AI_APICallError' })
    const setting = await newSetting([['There are three', ' causes', { cut: limited }]])
    expect(await inSession(setting)).toEqual([
      idLine,
      '0.0 message_start null',
      '0.0 message_delta "There are three"',
      '0.0 message_delta " causes"',
      '0.0 error RATE_LIMIT',
      'error line RATE_LIMIT',
    ])
    expect(setting.model.requests).toHaveLength(1)
  })

  test('a model that says nothing: error packet and error line with what is known of it', async () => {
    const setting = await newSetting([[{ finish: 'stop' }]])
    const lines = await setting.lines()
    expect(lines.slice(1).map(inShort)).toEqual([
      idLine,
      '0.0 error EMPTY_LLM_RESPONSE',
      'error line EMPTY_LLM_RESPONSE',
    ])
    expect(lines.at(-1)).toMatchObject({
      stack_trace: null,
      is_retryable: true,
      details: { model: 'script-1', provider: 'scripted', model_index: 0, tool_choice: 'auto', finish_reason: 'stop' },
    })
  })

  test('stopped by its user: the part that was said, then a stop of no model', async () => {
    const setting = await newSetting([['It was', ' a dark', { hang: true }, ' and stormy night.']])
    const run = await setting.send()
    const reading = readAll(run)
    await firstText(run)
    await setting.agent.stop(run.sessionId, { id: 'ana', scopes: ['chat'] })
    const lines = await reading
    expect(lines.slice(1).map(inShort)).toEqual([
      idLine,
      '0.0 message_start null',
      '0.0 message_delta "It was"',
      '0.0 message_delta " a dark"',
      '0.0 stop user_cancelled',
    ])
    expect(lines.at(-1)).toMatchObject({ placement: { turn_index: 0, tab_index: 0, model_index: null } })
    expect((await run.whole()).answer).toBe('It was a dark')
    expect((await run.whole()).error_msg).toBeNull()
  })
})

/** Resolves once two deltas of an answer are there. */
async function firstText(run: Awaited<ReturnType<Setting['send']>>): Promise<void> {
  let deltas = 0
  for await (const entries of run.read()) {
    deltas += entries.filter(({ json }) => json.includes('"message_delta"')).length
    if (deltas >= 2) return
  }
}

describe('whatever happens', () => {
  test('every packet fits its schema', async () => {
    const setting = await newSetting(
      [[{ reasoning: 'Hm.' }, { call: { name: 'internal_search', input: { queries: ['q'] } } }], ['Yes [1].']],
      { search },
    )
    for (const packet of packetsOf(await setting.lines()))
      expect(v.safeParse(packetSchema, packet).issues).toBeUndefined()
  })

  test('a failing action ends its call without a result or an error packet, and the run goes on', async () => {
    const broken = scriptedAction({
      id: 2,
      name: 'look',
      start: { type: 'custom_tool_start', tool_name: 'look', tool_id: 2 },
      fails: new InlayError('BAD_GATEWAY', { message: 'The shop did not answer.' }),
    })
    const setting = await newSetting([[{ call: { name: 'look', input: {} } }], ['I could not look.']], {
      actions: [broken],
    })
    expect(await inSession(setting)).toEqual([
      idLine,
      '0.0 custom_tool_start',
      '0.0 section_end',
      '1.0 message_start null',
      '1.0 message_delta "I could not look."',
      '1.0 stop null',
    ])
    const prompt = JSON.stringify(setting.model.requests[1]?.prompt)
    expect(prompt).toContain('Tool failed with error: The shop did not answer.')
  })

  test('an answer that the store refuses with its calls is stored as failed, and told so', async () => {
    const db = await newDatabase()
    await sql`create trigger refuse before insert on inlay_chat_tool_calls begin select raise(abort, 'refused'); end`.execute(
      db,
    )
    const ended: EndedTurn[] = []
    const setting = await newSetting([[{ call: { name: 'look', input: {} } }], ['Seen.']], {
      db,
      actions: [scriptedAction({ id: 2, name: 'look' })],
      hooks: { after: (turn) => void ended.push(turn) },
    })
    const run = await setting.send()
    expect(await run.whole()).toMatchObject({ answer: 'Seen.', error_msg: expect.any(String) })
    const { messages } = await setting.agent.sessions.get(run.sessionId, ana)
    expect(messages.at(-1)).toMatchObject({ text: 'Seen.', error: expect.stringMatching(/./) })
    expect(setting.errors).toMatchObject([{ message: expect.stringContaining('refused') }])
    await setting.agent.close()
    expect(ended).toMatchObject([{ status: 'failed', error: { code: 'INTERNAL_ERROR' } }])
  })

  test('an answer caught by an outage of its store says that it may be sent again', async () => {
    const ended: EndedTurn[] = []
    const setting = await newSetting([['Seen.']], { hooks: { after: (turn) => void ended.push(turn) } })
    const broken = breakRecords('busy', /^update "inlay_chat_messages" .*"reasoning" = /)
    broken.break()
    const lines = await readAll(await setting.send())
    expect(lines).toContainEqual(expect.objectContaining({ error_code: 'SERVICE_UNAVAILABLE', is_retryable: true }))
    await setting.agent.close()
    expect(ended).toMatchObject([{ status: 'failed', error: { code: 'SERVICE_UNAVAILABLE' } }])
  })

  test('arguments that do not fit are told to the model alone', async () => {
    const setting = await newSetting(
      [
        [{ call: { name: 'internal_search', input: { queries: {} } } }],
        [{ call: { name: 'internal_search', input: '{"queries": [' } }],
        ['I give up.'],
      ],
      { search },
    )
    expect(await inSession(setting)).toEqual([
      idLine,
      '0.0 search_tool_start internal',
      '0.0 section_end',
      '1.0 search_tool_start internal',
      '1.0 section_end',
      '2.0 message_start null',
      '2.0 message_delta "I give up."',
      '2.0 stop null',
    ])
    expect(setting.errors).toEqual([])
  })

  test('calls of the same search are merged, unknown ones are not told, the branching counts what was asked for', async () => {
    const setting = await newSetting(
      [
        [
          {
            calls: [
              { name: 'internal_search', input: { queries: ['one'] } },
              { name: 'fly', input: {} },
              { name: 'internal_search', input: { queries: ['two', 'three'] } },
            ],
          },
        ],
        ['Done.'],
      ],
      { search },
    )
    expect(await inSession(setting)).toEqual([
      idLine,
      '0.0 top_level_branching 3',
      '0.0 search_tool_start internal',
      '0.0 search_tool_queries_delta ["one","two","three"]',
      '0.0 search_tool_documents_delta [leave, carry]',
      '0.0 section_end',
      '1.0 message_start [leave, carry, old]',
      '1.0 message_delta "Done."',
      '1.0 stop null',
    ])
    expect(JSON.stringify(setting.model.requests[1]?.prompt)).toContain('fly')
  })

  test('the sixth step has no actions and has to answer', async () => {
    const look = (query: string) => [{ call: { name: 'internal_search', input: { queries: [query] } } }]
    const setting = await newSetting([...['a', 'b', 'c', 'd', 'e'].map(look), ['Enough.']], { search })
    const lines = await inSession(setting)
    expect(lines.filter((line) => line.includes('section_end'))).toHaveLength(5)
    expect(lines.slice(-3)).toEqual([
      expect.stringContaining('5.0 message_start'),
      '5.0 message_delta "Enough."',
      '5.0 stop null',
    ])
    const choices = setting.model.requests.map(({ toolChoice }) => toolChoice?.type)
    expect(choices).toEqual([...Array.from({ length: 5 }, () => 'auto'), 'none'])
    // The prompt contains calls, so their tools are still sent.
    expect(setting.model.requests[5]?.tools).toHaveLength(1)
    expect(JSON.stringify(setting.model.requests[5]?.prompt.at(-1))).toContain('no tool can be called')
  })

  test('a search that is repeated is not made again, and a model that only repeats has to answer', async () => {
    const look = { call: { name: 'internal_search', input: { queries: ['more'] } } }
    const setting = await newSetting([[look], [look], [look], ['Enough.']], { search })
    const lines = await inSession(setting)
    expect(lines.filter((line) => line.includes('search_tool_start'))).toHaveLength(1)
    expect(JSON.stringify(setting.model.requests[2]?.prompt.at(-1))).toContain('was made before')
    expect(setting.model.requests[3]?.toolChoice).toEqual({ type: 'none' })
    expect(lines.at(-2)).toContain('"Enough."')
  })

  test('an answer that reached the output limit says so', async () => {
    const setting = await newSetting([['Half an ans', { finish: 'length' }]])
    const { answer, error_msg: error } = await (await setting.send()).whole()
    expect(answer).toMatch(/^Half an ans\n\n.*output limit/)
    expect(error).toBeNull()
  })

  test('long results are followed by a reminder to cite, short ones are not', async () => {
    const long = newPassage('leave', 'Leave is 28 days. '.repeat(1_500))
    const look = { call: { name: 'internal_search', input: { queries: ['leave'] } } }
    const reminded = await newSetting([[look], ['28 [1].']], { search: findsAlways(long) })
    await (await reminded.send()).whole()
    expect(JSON.stringify(reminded.model.requests[1]?.prompt.at(-1))).toContain('Cite the results')
    const plain = await newSetting([[look], ['28 [1].']], { search })
    await (await plain.send()).whole()
    expect(plain.model.requests[1]?.prompt.at(-1)?.role).toBe('tool')
  })

  test('a set of results is bounded, and smaller in a small window', async () => {
    const many = Array.from({ length: 25 }, (_, index) => newPassage(`d${index}`, 'Leave is 28 days. '.repeat(300)))
    const look = { call: { name: 'internal_search', input: { queries: ['leave'] } } }
    for (const [contextTokens, most] of [
      [100_000, 10_500],
      [16_000, 5_500],
    ] as const) {
      const model = scriptedModel([[look], ['28 [1].']])
      const setting = await newSetting([], { models: providerOf(model, { contextTokens }), search: async () => many })
      await (await setting.send()).whole()
      expect(estimateTokens(JSON.stringify(model.requests[1]?.prompt.at(-1)))).toBeLessThan(most)
    }
  })

  test('a model that still wants to search in the last step fails the run', async () => {
    const look = { call: { name: 'internal_search', input: { queries: ['more'] } } }
    const setting = await newSetting([[look], [look]], { search, limits: { maxSteps: 2 } })
    expect((await inSession(setting)).at(-1)).toBe('error line EMPTY_LLM_RESPONSE')
    expect(setting.model.requests).toHaveLength(2)
  })

  test('with include_citations false there are neither markers nor citations, but the documents', async () => {
    const setting = await newSetting(
      [[{ call: { name: 'internal_search', input: { queries: ['q'] } } }], ['28 days [1].']],
      { search },
    )
    const run = await setting.send({ include_citations: false })
    expect(await run.whole()).toMatchObject({ answer: '28 days.', citation_info: [] })
    expect((await run.whole()).top_documents).toHaveLength(3)
  })

  test('an answer that is nothing but an unknown number is not empty', async () => {
    const setting = await newSetting([['[9]']])
    expect((await (await setting.send()).whole()).answer).toBe('[9]')
  })

  test('line breaks before a call are no message', async () => {
    const setting = await newSetting(
      [['\n\n', { call: { name: 'internal_search', input: { queries: ['q'] } } }], ['Yes.']],
      { search },
    )
    expect((await inSession(setting))[1]).toBe('0.0 search_tool_start internal')
  })

  test('a call that a model wrote as text runs, once', async () => {
    const markup =
      '<function_calls><invoke name="internal_search"><parameter name="queries">["leave"]</parameter></invoke></function_calls>'
    const setting = await newSetting(
      [
        [markup.slice(0, 20), markup.slice(20)],
        ['28 days [1].\n', markup],
      ],
      { search },
    )
    const lines = await inSession(setting)
    expect(lines[1]).toBe('0.0 search_tool_start internal')
    expect(lines).toContain('0.0 search_tool_queries_delta ["leave"]')
    expect(lines.filter((line) => line.includes('message_delta')).join('')).not.toContain('function_calls')
  })

  test('usage is told only when asked for', async () => {
    const script = [['a', { finish: 'stop', usage: { input: 12, output: 3 } } as const]]
    const silent = await newSetting(script)
    expect(packetsOf(await silent.lines()).at(-1)?.obj).toEqual({ type: 'stop', stop_reason: null })
    const withUsage = await newSetting(script)
    expect(packetsOf(await withUsage.lines({ include_usage: true })).at(-1)?.obj).toMatchObject({
      usage: { input_tokens: 12, output_tokens: 3 },
    })
  })
})
