import { describe, expect, test } from 'vitest'
import { cleanQueries, expandQueries, readJson } from '@inlay/agent/internal/actions/internal-search/query-expansion'
import { joinHistory } from '@inlay/agent/internal/actions/internal-search/joined-history'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import type { ModelQuestion, PassageSearch } from '@inlay/agent'
import { cpuMsOf } from '../../../cpu-time.ts'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

const answering = (answer: string) => {
  const requests: ModelQuestion[] = []
  return { requests, ask: async (question: ModelQuestion) => (requests.push(question), answer) }
}

/** Of a first question, the queries of the model stand. */
const earlier = [{ role: 'user', text: 'Hello.' } as const]

describe('further queries', () => {
  test('are a whole question and words that documents use, told by falling weight before anything is found', async () => {
    const { ask } = answering('{"question": "How many days of annual leave do staff get?", "keywords": ["PTO"]}')
    const searched: string[] = []
    const search: PassageSearch = async ({ text }) => (searched.push(text), [newPassage(text, text)])
    const { turn, packets } = newTurn({ ask, messages: earlier })
    await createInternalSearch({ search }).run({ queries: ['annual leave'] }, turn)
    expect(packets.map(({ type }) => type)).toEqual(['search_tool_queries_delta', 'search_tool_documents_delta'])
    expect(packets[0]).toMatchObject({
      queries: ['How many days of annual leave do staff get?', 'annual leave', 'PTO'],
    })
    expect(searched).toEqual(['annual leave', 'How many days of annual leave do staff get?', 'PTO'])
  })

  test('weigh by where they come from: what the whole question finds first beats what a lone keyword does', async () => {
    const { ask } = answering('{"question": "whole", "keywords": ["word"]}')
    const search: PassageSearch = async ({ text }) => [newPassage(`by ${text}`, text)]
    const { result } = await run({ ask }, search)
    expect(result.foundDocuments?.map(({ document_id: id }) => id)).toEqual(['by whole', 'by given', 'by word'])
  })

  test('come from the conversation, which is shown as data', async () => {
    const { ask, requests } = answering('{}')
    const messages = [{ role: 'user', text: 'Tell me of Ana.' } as const]
    await expandQueries(['holiday'], newTurn({ ask, messages, userMessage: 'And hers?' }).turn, 1_000)
    expect(JSON.parse(requests[0]?.text ?? '')).toEqual({
      said_before: messages,
      newest_message: 'And hers?',
      queries: ['holiday'],
    })
  })

  test('that were there already are not asked twice', async () => {
    const { ask } = answering('{"question": "Holiday ", "keywords": ["vacation", "VACATION", ""]}')
    const results = await expandQueries(['holiday'], newTurn({ ask }).turn, 1_000)
    expect(results.map(({ text }) => text)).toEqual(['vacation'])
  })

  test('are asked for while the given ones are searched', async () => {
    const order: string[] = []
    const searched = Promise.withResolvers<void>()
    const ask = async () => (order.push('asked'), await searched.promise, '{}')
    await run({ ask }, async ({ text }) => (order.push(`searched ${text}`), searched.resolve(), []), ['a'])
    expect(order).toEqual(['searched a', 'asked'])
  })

  test.each([
    ['no JSON', 'I would search for holidays.'],
    ['another shape', '["holiday"]'],
    ['broken JSON', '{"question": '],
    ['numbers', '{"question": 3, "keywords": [1, null]}'],
    ['nothing', ''],
  ])('are none when the answer holds %s', async (_name, answer) => {
    const { packets } = await run({ ask: answering(answer).ask }, async () => [], ['a'])
    expect(packets).toEqual([{ type: 'search_tool_queries_delta', queries: ['a'] }])
  })

  test('are none when the model fails or does not answer in time', async () => {
    const failing = async () => Promise.reject(new Error('down'))
    const hanging = ({ signal }: ModelQuestion) =>
      new Promise<string>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    for (const ask of [failing, hanging]) {
      const { packets } = await run({ ask }, async () => [], ['a'], { timeoutMs: 1 })
      expect(packets).toEqual([{ type: 'search_tool_queries_delta', queries: ['a'] }])
    }
  })

  test('are not asked of a model that only quotes, one that gave enough, or where the host wants none', async () => {
    const { ask, requests } = answering('{"question": "more"}')
    const queriesOf = async (...args: Parameters<typeof run>) => (await run(...args)).packets[0]
    const none: PassageSearch = async () => []
    expect(await queriesOf({}, none, ['a'])).toMatchObject({ queries: ['a'] })
    expect(await queriesOf({ ask }, none, ['a', 'b', 'c', 'd'])).toMatchObject({ queries: ['a', 'b', 'c', 'd'] })
    expect(await queriesOf({ ask }, none, ['a'], { expand: false })).toMatchObject({ queries: ['a'] })
    expect(requests).toEqual([])
  })

  test('end with the run', async () => {
    const stop = new AbortController()
    const ask = async () => (stop.abort(new Error('stopped')), Promise.reject(new Error('aborted')))
    await expect(run({ ask, signal: stop.signal }, async () => [], ['a'])).rejects.toThrow('stopped')
  })
})

test('JSON is found whatever a model puts around it', () => {
  expect(readJson('Sure!\n```json\n{"a": 1}\n```')).toEqual({ a: 1 })
  expect(readJson('<think>maybe {"a": 0}?</think>[2, 1]')).toEqual([2, 1])
  expect(readJson('Sections [1] and [2] are best: [1, 2].')).toEqual([1, 2])
  expect(readJson('As {asked}: {"a": "b]}\\"", "c": [1]} done')).toEqual({ a: 'b]}"', c: [1] })
  expect(readJson('['.repeat(20_000))).toBeUndefined()
  expect(readJson('no')).toBeUndefined()
})

async function run(
  more: Parameters<typeof newTurn>[0],
  search: PassageSearch,
  queries = ['given'],
  help: { expand?: boolean; timeoutMs?: number } = {},
) {
  const { turn, packets } = newTurn({ messages: earlier, ...more })
  return { packets, result: await createInternalSearch({ search, help }).run({ queries }, turn) }
}

test('what no index takes as a query is left out of it', () => {
  expect(cleanQueries(['le\u0000ave\uD83E', '\u0000'], 'the question')).toEqual(['leave'])
})

describe('the order to summarise', () => {
  test.each([
    ['Summarise the rules on sick leave.', 'the rules on sick leave.'],
    ['Could you please summarize our travel policy', 'our travel policy'],
    ['Fasse die Regeln zum Urlaub zusammen.', 'die Regeln zum Urlaub'],
    ['Fassen Sie bitte die Reiseregeln kurz zusammen', 'die Reiseregeln kurz'],
  ])('is not searched for: %s', (query, rest) => {
    expect(cleanQueries([query], '')).toEqual([rest])
    expect(cleanQueries([], query)).toEqual([rest])
  })

  test.each([
    ['Summarise the travel policy in three bullet points.', 'the travel policy'],
    ['Explain the notice period in one short sentence', 'Explain the notice period'],
    ['Nenne die Regeln zum Urlaub in drei Stichpunkten.', 'Nenne die Regeln zum Urlaub'],
  ])('is not searched for, nor the form of its answer: %s', (query, rest) => {
    expect(cleanQueries([], query)).toEqual([rest])
  })

  test.each([
    'How do I print in two lines?',
    'summarize function in pandas',
    'How does it summarise the data?',
    'Summary of the policy',
  ])('is none: %s', (query) => expect(cleanQueries([query], '')).toEqual([query]))

  test('is no reason to ask for more queries', async () => {
    const { ask, requests } = answering('{}')
    const { turn } = newTurn({ ask, userMessage: 'Summarise the rules.', messages: [] })
    await createInternalSearch({ search: async () => [] }).run({ queries: ['Summarise the rules.'] }, turn)
    expect(requests).toEqual([])
  })
})

test('small talk adds no words to a follow-up', () => {
  const messages = ['Where is the paint booth key?', 'great, thank you!'].map((text) => ({
    role: 'user' as const,
    text,
  }))
  expect(joinHistory('And who keeps it?', messages)).toBe('And who keeps it? paint booth key')
})

test('only words with content join a follow-up, in any language', () => {
  const messages = ['Wie lange darf ich Werkzeug ausleihen?', 'Was kostet es, wenn ich es später zurückbringe?'].map(
    (text) => ({ role: 'user' as const, text }),
  )
  const joined = joinHistory('Und in welchem Schrank steht es?', messages)
  expect(joined).toContain('Werkzeug ausleihen')
  expect(joined).not.toMatch(/\b(?:wenn|ich|Wie)\b/)
})

describe('a follow-up', () => {
  const messages = [
    { role: 'user' as const, text: 'What does the tool trolley cost?' },
    { role: 'assistant' as const, text: 'It costs 412 euros.' },
  ]
  const userMessage = 'How long does it take to deliver?'
  // Manuals share the few words of the message; the price list is found by what the conversation is about.
  const search: PassageSearch = async ({ text }) =>
    (text.includes('trolley') ? ['prices', 'find', 'tar'] : ['tar', 'find', 'deliver']).map((id) => newPassage(id, id))
  const foundFor = async (ask: (question: ModelQuestion) => Promise<string>): Promise<string[]> => {
    const { result } = await run({ ask, messages, userMessage }, search, [userMessage])
    return result.foundDocuments?.map(({ document_id: id }) => id) ?? []
  }

  test.each([
    ['joined by words of the conversation', '{}'],
    ['rewritten by a model', '{"question": "How long does the tool trolley take to be delivered?"}'],
  ])('%s finds first what it is about', async (_, answer) => {
    expect(await foundFor(answering(answer).ask)).toEqual(['prices', 'tar', 'find', 'deliver'])
  })

  test('still finds what its own words name', async () => {
    const { result } = await run(
      { ask: answering('{}').ask, messages, userMessage: 'K-340?' },
      async ({ text }) => [text.includes('trolley') ? 'prices' : 'lamps', 'other'].map((id) => newPassage(id, id)),
      ['K-340?'],
    )
    expect(result.foundDocuments?.map(({ document_id: id }) => id)).toEqual(['prices', 'lamps', 'other'])
  })
})

test('thoughts that do not end cost no more than their length, and those that do are left out', async () => {
  expect(await cpuMsOf(() => readJson('<think>'.repeat(50_000)))).toBeLessThan(150)
  expect(readJson('<think>["a"]</think> ["b", "c"] <think>["d"]</think>')).toEqual(['b', 'c'])
  expect(readJson('<think>["a"] and <think></think>["b"]</think>')).toEqual(['b'])
})
