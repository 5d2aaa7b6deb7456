import type { Packet, PacketType, StreamLine } from '@inlay/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { orderFaults } from '../../agent/packet-order.ts'
import { researchFaults } from '../../agent/research/research-packet-order.ts'
import { startKennel } from '../../stand-in/kennel.ts'
import { startEverything } from '../../stand-in/mcp-everything.ts'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { startImages } from '../../stand-in/images.ts'
import { startSearch } from '../../stand-in/web-search.ts'
import { startSite } from '../../stand-in/web-site.ts'
import { calls, openActionHarness, says, type ActionHarness } from './action-harness.ts'

/** The packet types of the API, by group. */
const table: readonly PacketType[] = [
  ...(['section_end', 'stop', 'top_level_branching', 'error'] as const),
  ...(['message_start', 'message_delta'] as const),
  ...(['search_tool_start', 'search_tool_queries_delta', 'search_tool_documents_delta'] as const),
  ...(['open_url_start', 'open_url_urls', 'open_url_documents'] as const),
  ...(['image_generation_start', 'image_generation_heartbeat', 'image_generation_final'] as const),
  ...(['python_tool_start', 'python_tool_delta'] as const),
  ...(['custom_tool_start', 'custom_tool_delta'] as const),
  ...(['reasoning_start', 'reasoning_delta', 'reasoning_done'] as const),
  'citation_info',
  ...(['deep_research_plan_start', 'deep_research_plan_delta', 'research_agent_start'] as const),
  ...(['intermediate_report_start', 'intermediate_report_delta', 'intermediate_report_cited_docs'] as const),
]

/** Types that were added later and are sent as well. */
const newer: readonly PacketType[] = [
  ...(['search_tool_filter_delta', 'custom_tool_args', 'tool_call_argument_delta'] as const),
  ...(['file_reader_start', 'file_reader_result', 'memory_tool_start', 'memory_tool_delta'] as const),
]

const seen = new Set<PacketType>()

/** The packets of a run in short, `turn.tab type`; the run has to keep the order of the stream. */
function record(lines: readonly StreamLine[]): string[] {
  expect(orderFaults(lines)).toEqual([])
  return note(lines)
}

function note(lines: readonly StreamLine[]): string[] {
  const packets = lines.filter((line): line is Packet => 'obj' in line)
  for (const { obj } of packets) seen.add(obj.type)
  return packets.map(({ placement, obj }) => `${placement.turn_index}.${placement.tab_index} ${obj.type}`)
}

const isOfCall =
  /^(?:search_tool|open_url|image_generation|python_tool|custom_tool|file_reader|memory_tool)_|^section_end$/
const isPassing = /_(?:filter_delta|heartbeat)$/

/** Packets of calls by place, as replayed: without momentary ones, with output in one piece. */
function callsIn(packets: readonly Packet[]): Record<string, string[]> {
  const received = packets.filter(({ obj }) => isOfCall.test(obj.type) && !isPassing.test(obj.type))
  const byPlace = Map.groupBy(received, ({ placement }) => `${placement.turn_index}.${placement.tab_index}`)
  const places = [...byPlace].map(([place, own]) => {
    const types = own.map(({ obj }) => obj.type)
    return [place, types.filter((type, at) => type !== 'python_tool_delta' || types[at - 1] !== type)] as const
  })
  // The text of an answer has an end of its own when it is shown again.
  return Object.fromEntries(places.filter(([, types]) => types.length > 1).toSorted())
}

/** The calls of a run are replayed with the packets that were sent. */
async function expectShownAgain({ fetch }: ActionHarness, lines: readonly StreamLine[]): Promise<void> {
  const session = lines.find((line) => 'chat_session_id' in line)?.chat_session_id
  const response = await fetch(`/chat/get-chat-session/${session}`)
  const { packets } = (await response.json()) as { packets: Packet[][] }
  expect(callsIn(packets[0] ?? [])).toEqual(callsIn(lines.filter((line): line is Packet => 'obj' in line)))
}

const bodyOf = <Type extends PacketType>(lines: readonly StreamLine[], type: Type) => {
  const match = lines.find((line): line is Packet => 'obj' in line && line.obj.type === type)
  if (match?.obj.type !== type) throw new Error(`There is no ${type}.`)
  return match.obj as Extract<Packet['obj'], { type: Type }>
}

async function ingest({ fetch }: ActionHarness, id: string, title: string, text: string): Promise<void> {
  const response = await fetch('/service-api/ingestion', {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'wait=60' },
    body: JSON.stringify({
      document: {
        id,
        semantic_identifier: title,
        source: 'confluence',
        sections: [{ text, link: `https://wiki.example.com/${id}` }],
        metadata: {},
      },
      cc_pair_id: 1,
    }),
  })
  expect(response.status).toBe(200)
}

const answer = says('Done.')

test('documents are searched, thought about and cited', async () => {
  const harness = await openActionHarness()
  await ingest(harness, 'leave', 'Leave policy', 'Full-time staff receive 25 days of paid leave.')
  const lines = await harness.ask(
    'How many days of leave?',
    [
      [
        { reasoning: 'The wiki ' },
        { reasoning: 'may tell.' },
        { calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['paid leave'] } }] },
      ],
      says('Full-time staff get 25 days [1].'),
    ],
    { internal_search_filters: { source_type: ['confluence'] } },
  )
  expect(record(lines)).toEqual([
    '0.0 reasoning_start',
    '0.0 reasoning_delta',
    '0.0 reasoning_delta',
    '0.0 reasoning_done',
    '1.0 search_tool_start',
    '1.0 search_tool_filter_delta',
    '1.0 search_tool_queries_delta',
    '1.0 search_tool_documents_delta',
    '1.0 section_end',
    '2.0 message_start',
    '2.0 message_delta',
    '2.0 citation_info',
    '2.0 message_delta',
    '2.0 message_delta',
    '2.0 stop',
  ])
  expect(bodyOf(lines, 'citation_info')).toMatchObject({ citation_number: 1, document_id: 'leave' })
  await expectShownAgain(harness, lines)
})

test('a file that is attached is read, and what a person says of themselves is remembered', async () => {
  const harness = await openActionHarness()
  const file = await harness.upload('minutes.txt', 'We met on Monday. '.repeat(100))
  const lines = await harness.ask(
    'What do the minutes say?',
    [
      calls(
        ['read_file', { file_id: file, num_chars: 600 }],
        ['add_memory', { memory: 'Writes the minutes of the board.' }],
      ),
      answer,
    ],
    { file_descriptors: [{ id: file }] },
  )
  expect(record(lines).toSorted()).toEqual(
    [
      '0.0 top_level_branching',
      '0.0 file_reader_start',
      '0.1 memory_tool_start',
      '0.0 file_reader_result',
      '0.0 section_end',
      '0.1 memory_tool_delta',
      '0.1 section_end',
      '1.0 message_start',
      '1.0 message_delta',
      '1.0 stop',
    ].toSorted(),
  )
  expect(bodyOf(lines, 'file_reader_result')).toMatchObject({ file_id: file, start_char: 0, end_char: 600 })
  expect(bodyOf(lines, 'memory_tool_delta')).toMatchObject({ operation: 'add', memory_id: null, index: null })
  await expectShownAgain(harness, lines)
  const next = await harness.ask('Who am I?', [answer])
  record(next)
  expect(JSON.stringify(harness.requests()[0]?.body)).toContain('Writes the minutes of the board.')
})

test('the web is searched beside the documents, and a page is opened', async () => {
  const site = await startSite({
    '/leave': {
      body: '<html><head><title>Statutory leave</title></head><body><p>The minimum is 20 days.</p></body></html>',
    },
  })
  const url = `${site.origin}/leave`
  const pages = [{ title: 'Statutory leave', url, snippet: 'The statutory minimum is 20 days.' }]
  const search = await startSearch('searxng', { mood: 'well', pages })
  onTestFinished(async () => void (await Promise.all([site.close(), search.close()])))
  const harness = await openActionHarness({
    webSearch: { service: 'searxng', baseUrl: search.baseUrl },
    egress: { allowHosts: [site.host] },
  })
  await ingest(harness, 'leave', 'Leave policy', 'Full-time staff receive 25 days of paid leave.')
  const lines = await harness.ask('How does our leave compare to the law?', [
    calls(['internal_search', { queries: ['paid leave'] }], ['web_search', { queries: ['statutory leave'] }]),
    calls(['open_url', { urls: [url] }]),
    says('We give 25 days [1], the law asks for 20 [101].'),
  ])
  const received = record(lines)
  expect(received[0]).toBe('0.0 top_level_branching')
  expect(received.slice(1, 3)).toEqual(['0.0 search_tool_start', '0.1 search_tool_start'])
  expect(received.filter((line) => line.startsWith('0.1'))).toEqual([
    '0.1 search_tool_start',
    '0.1 search_tool_queries_delta',
    '0.1 search_tool_documents_delta',
    '0.1 section_end',
  ])
  expect(received.filter((line) => line.startsWith('1.'))).toEqual([
    '1.0 open_url_start',
    '1.0 open_url_urls',
    '1.0 open_url_documents',
    '1.0 section_end',
  ])
  expect(bodyOf(lines, 'open_url_documents').documents).toMatchObject([
    { document_id: `WEB_SEARCH_DOC_${url}`, semantic_identifier: 'Statutory leave', source_type: 'web' },
  ])
  expect(received.filter((line) => line.endsWith('citation_info'))).toHaveLength(2)
  await expectShownAgain(harness, lines)
  expect([search.queries, site.seen]).toEqual([['statutory leave'], ['/leave']])
})

describe('a picture', () => {
  const png = Uint8Array.from(
    atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
    (sign) => sign.charCodeAt(0),
  )
  const paint = calls(['generate_image', { prompt: 'a heron', shape: 'portrait' }])
  const openPainting = async (options: Parameters<typeof startImages>[0]): ReturnType<typeof openActionHarness> => {
    const { baseUrl, close } = await startImages(options)
    onTestFinished(close)
    return openActionHarness({ imageGenerator: { name: 'paint-1', baseUrl, apiKey: 'k' } })
  }

  test('is drawn, kept and given back', async () => {
    const harness = await openPainting({ png, revisedPrompt: 'a heron in the reeds' })
    const lines = await harness.ask('Draw a heron.', [paint, answer])
    expect(record(lines)).toEqual([
      '0.0 image_generation_start',
      '0.0 image_generation_heartbeat',
      '0.0 image_generation_final',
      '0.0 section_end',
      '1.0 message_start',
      '1.0 message_delta',
      '1.0 stop',
    ])
    await expectShownAgain(harness, lines)
    const [image] = bodyOf(lines, 'image_generation_final').images
    expect(image).toMatchObject({ revised_prompt: 'a heron in the reeds', shape: 'portrait' })
    const fetched = await harness.fetch(image!.url.replace(/^\/api/, ''))
    expect([fetched.headers.get('content-type'), await fetched.bytes()]).toEqual(['image/png', png])
  })

  test('that cannot be drawn is an error at its place, and the run goes on', async () => {
    const harness = await openPainting({ png, mood: 'policy' })
    const lines = await harness.ask('Draw a heron.', [paint, answer])
    expect(record(lines)).toEqual([
      '0.0 image_generation_start',
      '0.0 image_generation_heartbeat',
      '0.0 error',
      '0.0 section_end',
      '1.0 message_start',
      '1.0 message_delta',
      '1.0 stop',
    ])
  })
})

test('a program computes over a file, shows what it prints, and leaves a file', async () => {
  const harness = await openActionHarness()
  const file = await harness.upload('sales.csv', 'month,sales\nMay,3\nJune,4\n')
  const code = [
    'import csv',
    "total = sum(int(row['sales']) for row in csv.DictReader(open('sales.csv')))",
    'print(total)',
    "with open('total.txt', 'w') as out: out.write(str(total))",
  ].join('\n')
  const lines = await harness.ask('How much did we sell?', [calls(['run_python', { code }]), says('Seven.')], {
    file_descriptors: [{ id: file }],
  })
  const received = record(lines)
  expect(received.slice(received.indexOf('0.0 python_tool_start'))).toEqual([
    '0.0 python_tool_start',
    '0.0 python_tool_delta',
    '0.0 python_tool_delta',
    '0.0 section_end',
    '1.0 message_start',
    '1.0 message_delta',
    '1.0 stop',
  ])
  await expectShownAgain(harness, lines)
  expect(bodyOf(lines, 'tool_call_argument_delta')).toMatchObject({ tool_type: 'run_python' })
  expect(bodyOf(lines, 'python_tool_start').code).toBe(code)
  const deltas = lines.flatMap((line) => ('obj' in line && line.obj.type === 'python_tool_delta' ? [line.obj] : []))
  expect(deltas).toMatchObject([
    { stdout: '7\n', file_ids: [] },
    { stdout: '', file_ids: [expect.any(String)] },
  ])
  expect(await (await harness.fetch(`/chat/file/${deltas[1]!.file_ids[0]}`)).text()).toBe('7')
})

test('services of others are used: one described by a document, and one that speaks MCP', async () => {
  const [kennel, everything] = await Promise.all([startKennel(), startEverything('http')])
  onTestFinished(async () => void (await Promise.all([kennel.close(), everything.close()])))
  const harness = await openActionHarness({
    egress: { allowHosts: ['127.0.0.1'] },
    mcpServers: [{ name: 'everything', url: everything.url, allowPrivate: true }],
  })
  const created = await harness.fetch('/admin/tool/custom', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Kennel',
      description: 'Dogs.',
      definition: kennel.document,
      custom_headers: [{ key: 'X-Kennel-Key', value: 'bone' }],
      passthrough_auth: false,
      default_enabled: true,
    }),
  })
  expect(created.status).toBe(200)
  const { id } = (await created.json()) as { id: number }
  const lines = await harness.ask('Who is dog 7?', [
    calls(['getDog', { dogId: '7' }], ['echo', { message: 'Hello from here.' }]),
    answer,
  ])
  expect(
    record(lines)
      .filter((line) => line.startsWith('0.') && !line.endsWith('custom_tool_args'))
      .toSorted(),
  ).toEqual([
    '0.0 custom_tool_delta',
    '0.0 custom_tool_start',
    '0.0 section_end',
    '0.0 top_level_branching',
    '0.1 custom_tool_delta',
    '0.1 custom_tool_start',
    '0.1 section_end',
  ])
  await expectShownAgain(harness, lines)
  const deltas = lines.flatMap((line) => ('obj' in line && line.obj.type === 'custom_tool_delta' ? [line.obj] : []))
  expect(deltas.toSorted((left, right) => (left.tool_name < right.tool_name ? -1 : 1))).toMatchObject([
    {
      tool_name: 'echo',
      tool_id: null,
      response_type: 'json',
      data: { tool_result: expect.stringContaining('Hello') },
    },
    { tool_name: 'getDog', tool_id: id, response_type: 'json', data: { id: 7, name: 'Rex' } },
  ])
})

/** Plays every role of a research: two agents side by side, one that looks into documents twice. */
function researcher(): (request: RecordedRequest) => Reply {
  let requests = 0
  let hasPlan = false
  return ({ body }) => {
    const tools = JSON.stringify(body['tools'] ?? [])
    const prompt = JSON.stringify(body['messages'])
    if (tools.includes('generate_plan')) return calls(['generate_plan', {}])
    if (tools.includes('research_agent')) {
      if (requests++ > 0) return calls(['generate_report', {}])
      return calls(
        ['research_agent', { task: 'Find the leave.' }],
        ['research_agent', { task: 'Find the carry-over.' }],
      )
    }
    if (tools.includes('internal_search')) {
      const hasSearched = prompt.includes('"role":"tool"')
      const query = prompt.includes('Find the leave.') ? 'paid leave' : 'unused days'
      return hasSearched ? calls(['generate_report', {}]) : calls(['internal_search', { queries: [query] }])
    }
    if (!hasPlan) {
      hasPlan = true
      return says('1. Find the leave.\n', '2. Find the carry-over.')
    }
    if (prompt.includes('Reports of the research')) return says('Staff get 25 days [1] and carry over five [2].')
    return prompt.includes('Find the leave.') ? says('Leave is 25 days [1].') : says('Five days carry over [1].')
  }
}

test('a question is researched by two agents side by side', async () => {
  const harness = await openActionHarness()
  await ingest(harness, 'leave', 'Leave policy', 'Full-time staff receive 25 days of paid leave.')
  await ingest(harness, 'carry', 'Carry-over rules', 'Up to five unused days carry over.')
  const lines = await harness.ask('Tell all about our leave.', researcher(), { deep_research: true })
  expect(researchFaults(lines)).toEqual([])
  const received = note(lines)
  expect(received.filter((line) => line.endsWith('research_agent_start'))).toEqual([
    '1.0 research_agent_start',
    '1.1 research_agent_start',
  ])
  expect(bodyOf(lines, 'intermediate_report_cited_docs').cited_docs).toHaveLength(1)
  expect(bodyOf(lines, 'message_start').final_documents?.map(({ document_id: id }) => id)).toEqual(['leave', 'carry'])
})

test('with all of that every packet type of the API has been told by the real thing', () => {
  expect([...table, ...newer].filter((type) => !seen.has(type))).toEqual([])
})
