import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import {
  chatFullResponseSchema,
  createFold,
  createLineDecoder,
  encodeLine,
  fold,
  type FoldContext,
  packetTable,
  packetTypes,
  splitLine,
  type StreamLine,
} from '@inlay/protocol'
import { archive, nights, press, swaps } from '../fixtures/documents.ts'
import * as fixtures from '../fixtures/streams.ts'

function received(lines: readonly unknown[]): StreamLine[] {
  const decoder = createLineDecoder('lines')
  return decoder.push(lines.map((line) => `${JSON.stringify(line)}\n`).join('')).map((each) => each.line)
}

const folded = (lines: readonly unknown[], beside?: FoldContext): ReturnType<typeof fold> =>
  fold(received(lines), beside)

describe('the whole answer', () => {
  it.each(Object.entries(fixtures.streams))('of %s has the documented shape', (_name, lines) => {
    const answer = folded(lines)
    expect(v.parse(chatFullResponseSchema, answer)).toEqual(answer)
  })

  it.each(Object.entries(fixtures.streams))(
    'of %s is the same folded at once, line by line, and split',
    (_name, lines) => {
      const whole = folded(lines)
      const live = createFold()
      for (const line of received(lines)) {
        live.add(line)
        // Looking on the way changes nothing.
        live.result()
      }
      expect(live.result()).toEqual(whole)
      expect(fold(received(lines).flatMap((line) => splitLine(line, 1200)))).toMatchObject({
        answer: whole.answer,
        pre_answer_reasoning: whole.pre_answer_reasoning,
        citation_info: whole.citation_info,
      })
    },
  )

  it('of a plain answer in a new session names the session', () => {
    expect(folded(fixtures.plainAnswer)).toEqual({
      answer: 'Good evening!',
      answer_citationless: 'Good evening!',
      pre_answer_reasoning: null,
      tool_calls: [],
      top_documents: [],
      citation_info: [],
      message_id: 3,
      chat_session_id: '0d9f3a52-41f7-4f0c-8f49-5c1be6a3d7e0',
      incognito: false,
      error_msg: null,
    })
  })

  it('has the reasoning of the last step that reasoned', () => {
    expect(folded(fixtures.reasonedAnswer)).toMatchObject({
      answer: '9 × 11 = 99 hours.',
      pre_answer_reasoning: 'Nine nights of eleven hours.',
    })
  })

  it('has the documents gathered, those shown with the call, and the citations in order', () => {
    expect(folded(fixtures.citedSearch)).toMatchObject({
      answer:
        'A group may book twelve nights [[1]](https://wiki.observatory.example/time) and swap them [[2]](https://wiki.observatory.example/swap).',
      answer_citationless: 'A group may book twelve nights and swap them.',
      top_documents: [nights, swaps, archive],
      tool_calls: [
        {
          tool_name: 'internal_search',
          tool_arguments: { queries: ['nights a group may book', 'telescope nights'] },
          search_docs: [nights, swaps],
          generated_images: null,
          pre_reasoning: null,
        },
      ],
      citation_info: [
        { type: 'citation_info', citation_number: 1, document_id: nights.document_id },
        { type: 'citation_info', citation_number: 2, document_id: swaps.document_id },
      ],
    })
  })

  it('has the text of the last step only, and the reasoning that led to each call', () => {
    const answer = folded(fixtures.parallelTools)
    expect(answer.answer_citationless).toBe('Twelve nights here, eight elsewhere.')
    expect(answer.tool_calls.map((call) => [call.tool_name, call.search_docs, call.pre_reasoning])).toEqual([
      ['internal_search', [nights], 'Our rules and those of others.'],
      ['web_search', [press], 'Our rules and those of others.'],
    ])
    expect(answer.citation_info.map((each) => each.citation_number)).toEqual([1, 101])
  })

  it('tells what a custom action answered', () => {
    expect(folded(fixtures.refusedAction).tool_calls).toMatchObject([
      { tool_name: 'findBooking', tool_arguments: { dome: 'north' }, tool_result: '{"reason":"token expired"}' },
    ])
    expect(folded(fixtures.repeatedAction).tool_calls).toMatchObject([
      { tool_arguments: {}, tool_result: '' },
      { tool_arguments: { dome: 'north' }, tool_result: '{"free":true}' },
    ])
  })

  it('counts code as one call though its text came before its start', () => {
    expect(folded(fixtures.pythonRun).tool_calls).toMatchObject([
      { tool_name: 'run_python', tool_arguments: { code: 'print(9*11)' }, tool_result: '99\n' },
    ])
  })

  it('of a deep research lists each agent after its own calls', () => {
    const answer = folded(fixtures.deepResearch)
    expect(answer.tool_calls.map((call) => [call.tool_name, call.tool_result])).toEqual([
      ['internal_search', ''],
      ['research_agent', 'Here it is twelve [1].'],
      ['web_search', ''],
      ['research_agent', 'Elsewhere it is eight [1].'],
    ])
    expect(answer).toMatchObject({
      pre_answer_reasoning: 'Both tasks are done.',
      top_documents: [nights, press],
      answer_citationless: 'Twelve nights, four more than elsewhere.',
    })
  })

  it('of a failed run keeps what was said, and why it failed', () => {
    expect(folded(fixtures.failedMidway)).toMatchObject({
      answer: 'The two domes are',
      message_id: 19,
      error_msg: 'The model provider limits the rate of requests.',
    })
    expect(folded(fixtures.emptyAnswer)).toMatchObject({ answer: '', error_msg: 'The model ended without an answer.' })
  })

  it('of a stopped run keeps what was said without an error', () => {
    expect(folded(fixtures.stopped)).toMatchObject({ answer: 'In the beginning there was', error_msg: null })
  })

  it('of two models is that of the one asked for', () => {
    expect(folded(fixtures.twoModels)).toMatchObject({ answer: 'It is so.', message_id: 24 })
    expect(folded(fixtures.twoModels, { modelIndex: 1 })).toMatchObject({ answer: 'Yes.', message_id: 25 })
  })

  it('is not touched by the failure of another model', () => {
    const [names, ...rest] = fixtures.twoModels
    const failure = { error: 'gone', details: { model_index: 1 } }
    expect(folded([names, failure, ...rest])).toMatchObject({ answer: 'It is so.', error_msg: null })
    expect(folded([names, ...rest.slice(0, 3), failure], { modelIndex: 1 })).toMatchObject({
      answer: 'Yes',
      error_msg: 'gone',
    })
  })

  it('of a replay is that of the stored answer, named from beside', () => {
    const answer = folded(fixtures.replayedSearch, { chatSessionId: 's', messageId: 7 })
    expect(answer).toMatchObject({
      answer_citationless: 'Twelve.',
      message_id: 7,
      chat_session_id: 's',
      top_documents: [nights, swaps, archive],
      citation_info: [{ citation_number: 1, document_id: nights.document_id }],
    })
  })

  it('takes arguments and results of calls from beside', () => {
    const toolCalls = [
      { turn_index: 1, tab_index: 2, tool_name: 'web_search', tool_arguments: { queries: ['q'] }, tool_result: 'W' },
      {
        turn_index: 1,
        tab_index: 1,
        tool_name: 'internal_search',
        tool_arguments: { queries: ['p'] },
        tool_result: 'I',
        search_docs: null,
      },
      { turn_index: 1, tab_index: 3, tool_name: 'silent', tool_arguments: { a: 1 }, tool_result: 'S' },
    ]
    expect(folded(fixtures.parallelTools, { toolCalls }).tool_calls).toEqual([
      {
        tool_name: 'internal_search',
        tool_arguments: { queries: ['p'] },
        tool_result: 'I',
        search_docs: null,
        generated_images: null,
        pre_reasoning: 'Our rules and those of others.',
      },
      expect.objectContaining({ tool_name: 'web_search', tool_result: 'W', search_docs: [press] }),
      expect.objectContaining({ tool_name: 'silent', tool_arguments: { a: 1 }, search_docs: null }),
    ])
  })

  it('has what was consumed only when the stream tells it', () => {
    const usage = { input_tokens: 9, output_tokens: 2, reasoning_tokens: null, cached_input_tokens: null }
    const [last, ...before] = [...fixtures.plainAnswer].reverse()
    const lines = [...before.reverse(), { ...last, obj: { type: 'stop', stop_reason: null, usage } }]
    expect(folded(lines)).toMatchObject({ usage })
    expect(folded(fixtures.plainAnswer)).not.toHaveProperty('usage')
  })
})

describe('the answer on its way', () => {
  it('grows with each line and tells how far it is', () => {
    const live = createFold()
    const seen = received(fixtures.citedSearch).map((line) => {
      live.add(line)
      const [first] = live.state.blocks
      return [live.state.phase, first?.kind === 'tool' ? first.progress : null, live.answer] as const
    })
    expect(seen[0]).toEqual(['running', null, ''])
    expect(seen[1]).toEqual(['running', 'running', ''])
    expect(seen[5]).toEqual(['running', 'done', ''])
    expect(seen[7]).toEqual(['running', 'done', 'A group may book twelve nights'])
    expect(seen.at(-1)?.[0]).toBe('done')
  })

  it('rises in revision with every line but heartbeats and what is not known', () => {
    const live = createFold()
    const lines = received([...fixtures.deepResearch.slice(0, 3), { fresh: 1 }])
    const heartbeat = received(fixtures.deepResearch).find((line) => encodeLine(line).includes('chat_heartbeat'))
    for (const line of lines) live.add(line)
    expect(live.state.revision).toBe(3)
    if (heartbeat) live.add(heartbeat)
    expect(live.state.revision).toBe(3)
  })

  it('shows plan, agents, their steps and reports', () => {
    const live = createFold()
    for (const line of received(fixtures.deepResearch)) live.add(line)
    expect(live.state.blocks.map((block) => block.kind)).toEqual([
      'plan',
      'research',
      'research',
      'tool',
      'tool',
      'reasoning',
      'reasoning',
      'text',
    ])
    expect(live.state.blocks[0]).toMatchObject({ text: '1. Rules here\n2. Rules elsewhere', isDone: true })
    expect(live.state.blocks[1]).toMatchObject({
      task: 'Find how many nights a group gets here.',
      report: 'Here it is twelve [1].',
      citedDocuments: [nights],
      progress: 'done',
    })
    expect(live.reasoning).toBe('Both tasks are done.')
  })

  it('shows what a search was narrowed to and a refused credential', () => {
    const search = createFold()
    for (const line of received(fixtures.citedSearch.slice(0, 4))) search.add(line)
    expect(search.state.blocks[0]).toMatchObject({
      filter: { sources: ['confluence'], time_filter_start: null, time_filter_end: null },
      progress: 'running',
    })
    const action = createFold()
    for (const line of received(fixtures.refusedAction)) action.add(line)
    expect(action.state.blocks[0]).toMatchObject({
      toolId: 14,
      credentialError: { status_code: 401 },
      progress: 'done',
    })
  })

  it('marks a failed call and goes on', () => {
    const placement = { turn_index: 0, tab_index: 1, sub_turn_index: null, model_index: 0 }
    const live = createFold()
    live.add({ placement, obj: { type: 'image_generation_start' } })
    live.add({ placement, obj: { type: 'error', exception: 'No image.', error_code: 'API_ERROR', is_retryable: true } })
    live.add({ placement, obj: { type: 'section_end' } })
    expect(live.state).toMatchObject({
      phase: 'running',
      failures: [],
      blocks: [{ progress: 'failed', failure: { exception: 'No image.', errorCode: 'API_ERROR', isRetryable: true } }],
    })
    expect(live.result()).toMatchObject({ tool_calls: [{ tool_result: 'No image.' }], error_msg: null })
  })

  it('keeps an error packet of the run itself apart from the calls', () => {
    const live = createFold()
    const placement = { turn_index: 2, tab_index: 0, sub_turn_index: null, model_index: 0 }
    live.add({ placement, obj: { type: 'error', exception: 'Gone.', error_code: null, is_retryable: false } })
    expect(live.state.failures).toEqual([{ exception: 'Gone.', errorCode: null, isRetryable: false }])
  })

  it('leaves nothing running after a stop or a failure', () => {
    const start = fixtures.citedSearch.slice(0, 4)
    const cancel = fixtures.stopped.at(-1)
    const failure = fixtures.failedMidway.at(-1)
    for (const [last, phase] of [
      [cancel, 'stopped'],
      [failure, 'failed'],
    ] as const) {
      const live = createFold()
      for (const line of received([...start, last])) live.add(line)
      expect(live.state).toMatchObject({ phase, blocks: [{ progress: 'stopped' }] })
    }
  })

  it('changes nothing after its end', () => {
    const live = createFold()
    for (const line of received([...fixtures.stopped, ...fixtures.plainAnswer.slice(2)])) live.add(line)
    expect(live.state.phase).toBe('stopped')
    expect(live.answer).toBe('In the beginning there was')
  })

  it.each(packetTypes)('takes %s at any place, also without a start', (type) => {
    const placement = { turn_index: 3, tab_index: 1, sub_turn_index: 2, model_index: 0 }
    const live = createFold()
    live.add({ placement, obj: packetTable[type].example })
    expect(v.is(chatFullResponseSchema, live.result())).toBe(true)
  })
})

describe('a stopped run', () => {
  const at = (turn: number, tab: number, subTurn: number | null, obj: object): object => ({
    placement: { turn_index: turn, tab_index: tab, sub_turn_index: subTurn, model_index: 0 },
    obj,
  })
  const stop = { type: 'stop', stop_reason: 'user_cancelled' }

  it('stopped the search and the research that it ended without a result', () => {
    const live = createFold()
    const lines = [
      at(0, 0, null, { type: 'research_agent_start', research_task: 'Gates' }),
      at(0, 0, 0, { type: 'search_tool_start', is_internet_search: false }),
      at(0, 0, 0, { type: 'section_end' }),
      at(0, 0, 1, { type: 'search_tool_start', is_internet_search: false }),
      at(0, 0, 1, { type: 'section_end' }),
      at(0, 0, null, { type: 'section_end' }),
      at(0, 0, null, stop),
    ]
    for (const line of received(lines)) live.add(line)
    const progress = live.state.blocks.map((block) => 'progress' in block && block.progress)
    // The first search found nothing: another one followed it.
    expect(progress).toEqual(['stopped', 'done', 'stopped'])
  })

  it('keeps a search that found nothing before the answer began', () => {
    const live = createFold()
    const lines = [
      at(0, 0, null, { type: 'search_tool_start', is_internet_search: false }),
      at(0, 0, null, { type: 'section_end' }),
      at(1, 0, null, { type: 'message_start', final_documents: null, pre_answer_processing_seconds: 0 }),
      at(1, 0, null, { type: 'message_delta', content: 'Nothing is' }),
      at(1, 0, null, stop),
    ]
    for (const line of received(lines)) live.add(line)
    expect(live.state.blocks[0]).toMatchObject({ progress: 'done' })
  })
})
