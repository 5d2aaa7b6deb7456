import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import type { CodeRunner, HostAgent } from '@inlay/agent'
import type { Script } from '@inlay/agent/testing'
import type { Packet, StreamLine } from '@inlay/protocol'
import { newResearch, asking } from '../research/research-script.ts'
import { ana, ben, eventually, newPassage, newSetting, packetsOf, readAll, type Setting } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))

/** A model that calls one tool, then answers. */
const callThenSay =
  (name: string, input: object): Script =>
  ({ prompt }) =>
    prompt.at(-1)?.role === 'user'
      ? [{ reasoning: 'Hm, ' }, { reasoning: 'a tool.' }, { call: { name, input, pieces: 3 } }]
      : [{ reasoning: 'Now ' }, { reasoning: 'I know.' }, 'It is ', 'so [1]. ', 'Really.']

const codeRunner: CodeRunner = {
  packages: [],
  async run({ onOutput }) {
    onOutput?.({ stream: 'stdout', text: '1' })
    onOutput?.({ stream: 'stderr', text: 'warned' })
    return { exitCode: 0, timedOut: false, error: null, files: [], droppedFiles: [], isOutputCut: false }
  },
}

const booking = scriptedAction({
  id: 1001,
  name: 'book_room',
  displayName: 'Booking',
  start: { type: 'custom_tool_start', tool_name: 'book_room', tool_id: 1001 },
  packets: [
    { type: 'custom_tool_args', tool_name: 'book_room', tool_args: { room: 'A' } },
    {
      type: 'custom_tool_delta',
      tool_name: 'book_room',
      tool_id: 1001,
      response_type: 'json',
      data: { free: true },
      file_ids: null,
      error: null,
    },
  ],
})
const broken = scriptedAction({
  id: 1002,
  name: 'broken',
  start: { type: 'custom_tool_start', tool_name: 'broken', tool_id: 1002 },
  fails: new Error('It broke.'),
})

const search = async () => [newPassage('leave', 'Leave is 25 days.'), newPassage('other', 'Nothing.')]

interface Kind {
  readonly kind: string
  readonly setting: () => Promise<Setting>
  readonly ask?: Parameters<Setting['send']>[0]
}

const kinds: Kind[] = [
  { kind: 'a plain answer', setting: () => newSetting([['It is ', '25.']]) },
  { kind: 'reasoning', setting: () => newSetting([[{ reasoning: 'Hm, ' }, { reasoning: 'well.' }, 'It is 25.']]) },
  {
    kind: 'a search',
    setting: () => newSetting(callThenSay('internal_search', { queries: ['leave'] }), { search }),
  },
  {
    kind: 'a search with its help',
    setting: () =>
      newSetting(
        ({ prompt, tools }) =>
          !tools && JSON.stringify(prompt).includes('You prepare a search')
            ? ['{"question": "How long is leave?", "keywords": ["holiday"]}']
            : prompt.some(({ role }) => role === 'tool')
              ? ['25 [1].']
              : [{ call: { name: 'internal_search', input: { queries: ['leave'], sources: ['web'] } } }],
        { search, searchHelp: {} },
      ),
  },
  {
    kind: 'tool calls side by side, with text before',
    setting: () =>
      newSetting(
        [
          ['Let me see. ', { call: { name: 'book_room', input: {} } }, { call: { name: 'broken', input: {} } }],
          ['Booked.'],
        ],
        { actions: [booking, broken] },
      ),
  },
  {
    kind: 'custom tools',
    setting: () => newSetting(callThenSay('book_room', { room: 'A' }), { actions: [booking] }),
  },
  {
    kind: 'a failed tool',
    setting: () => newSetting(callThenSay('broken', {}), { actions: [broken] }),
  },
  {
    kind: 'Python',
    setting: () => newSetting(callThenSay('run_python', { code: 'print(1)\nprint(2)' }), { codeRunner }),
  },
  {
    kind: 'an image',
    setting: () =>
      newSetting(callThenSay('generate_image', { prompt: 'a heron' }), {
        storage: createStorage(),
        imageGenerator: async () => [{ bytes: png, mediaType: 'image/png' }],
      }),
  },
  {
    kind: 'deep research with a plan and agents',
    setting: () => newResearch(),
    ask: asking,
  },
  {
    kind: 'an answer that fails in its middle',
    setting: () =>
      newSetting([['It is ', { error: new Error('The model broke.') }]], { limits: { maxModelAttempts: 1 } }),
  },
]

const merged: Readonly<Record<string, string>> = {
  message_delta: 'content',
  reasoning_delta: 'reasoning',
  deep_research_plan_delta: 'content',
  intermediate_report_delta: 'content',
}

/** Signs of life say nothing afterwards. */
const isKept = ({ obj }: Packet): boolean => !obj.type.endsWith('_heartbeat')

/** Packets by their place, in order, with texts in one piece and without the position of the model. */
function byPlace(lines: readonly StreamLine[]): Record<string, Packet['obj'][]> {
  const places: Record<string, Record<string, unknown>[]> = {}
  for (const { placement, obj } of packetsOf(lines).filter(isKept)) {
    const { turn_index: turn, tab_index: tab, sub_turn_index: sub } = placement
    const packets = (places[`${turn}.${tab}.${sub}`] ??= [])
    const before = packets.at(-1)
    const given = { ...obj } as Record<string, unknown>
    const field = merged[obj.type]
    if (before?.['type'] !== obj.type) packets.push(given)
    else if (field !== undefined) before[field] = String(before[field]) + String(given[field])
    else if (obj.type === 'python_tool_delta')
      Object.assign(before, {
        stdout: String(before['stdout']) + obj.stdout,
        stderr: String(before['stderr']) + obj.stderr,
        file_ids: [...(before['file_ids'] as string[]), ...obj.file_ids],
      })
    else if (obj.type === 'tool_call_argument_delta')
      for (const [name, delta] of Object.entries(obj.argument_deltas)) {
        const deltas = (before['argument_deltas'] = { ...(before['argument_deltas'] as Record<string, unknown>) })
        deltas[name] = String(deltas[name] ?? '') + String(delta)
      }
    else packets.push(given)
  }
  return places as Record<string, Packet['obj'][]>
}

/** What a reload gives for the only answer of a session. */
async function reloadOf({ agent }: Setting, sessionId: string): Promise<readonly Packet[]> {
  const { packets } = await agent.sessions.get(sessionId, ana)
  expect(packets).toHaveLength(1)
  for (const { placement } of packets[0]!) expect(placement.model_index).toBeNull()
  return packets[0]!
}

test.each(kinds)('a reload shows what was streamed: $kind', async ({ setting, ask }) => {
  const chat = await setting()
  const run = await chat.send(ask)
  const lines = await readAll(run)
  const reload = await reloadOf(chat, run.sessionId)
  expect(byPlace(reload)).toEqual(byPlace(lines))
  const types = (packets: readonly Packet[]): string[] => [...new Set(packets.map(({ obj }) => obj.type))]
  expect(types(reload)).toEqual(types(packetsOf(lines).filter(isKept)))
  // Texts are in one piece.
  const deltas = reload.filter(({ obj }) => obj.type in merged)
  const places = deltas.map(({ placement, obj }) => JSON.stringify([placement, obj.type]))
  if (!reload.some(({ obj }) => obj.type === 'citation_info')) expect(new Set(places).size).toBe(places.length)
})

test('a reload shows what was streamed: a stopped answer', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = scriptedAction({
    id: 1003,
    name: 'wait',
    start: { type: 'custom_tool_start', tool_name: 'wait', tool_id: 1003 },
    pause: async ({ signal }) => {
      resolve()
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
  })
  const chat = await newSetting([['Wait. ', { call: { name: 'wait', input: {} } }]], { actions: [waiting] })
  const run = await chat.send()
  await promise
  await chat.agent.stop(run.sessionId, ana)
  const lines = await readAll(run)
  expect(byPlace(await reloadOf(chat, run.sessionId))).toEqual(byPlace(lines))
})

test('a reload shows each of several models what it streamed', async () => {
  const chat = await newSetting(({ prompt }) => [`${prompt.length} `, 'is it.'])
  const overrides = [{ model_version: 'one' }, { model_version: 'two' }]
  const run = await chat.send({ llm_overrides: overrides })
  const lines = packetsOf(await readAll(run))
  const { packets } = await chat.agent.sessions.get(run.sessionId, ana)
  expect(packets).toHaveLength(2)
  for (const [index, reload] of packets.entries())
    expect(byPlace(reload)).toEqual(byPlace(lines.filter(({ placement }) => placement.model_index === index)))
})

test('several models that were stopped end with one stop, also when their send is repeated', async () => {
  const first = await newSetting([
    ['One', { hang: true }],
    ['Two', { hang: true }],
  ])
  const input = { llm_overrides: [{ model_version: 'one' }, { model_version: 'two' }] }
  const run = await first.send(input, { idempotencyKey: 'k' })
  const said = new Set<number | null>()
  for await (const entries of run.read()) {
    for (const { json } of entries) if (json.includes('message_delta')) said.add(JSON.parse(json).placement.model_index)
    if (said.size === 2) break
  }
  await first.agent.stop(run.sessionId, ana)
  const lines = await readAll(run)
  await first.agent.close()
  // As after the time in which its run can be resumed.
  await first.db.withTables<{ inlay_chat_runs: object }>().deleteFrom('inlay_chat_runs').execute()
  const second = await newSetting([['never']], { db: first.db })
  const again = await readAll(await second.send(input, { idempotencyKey: 'k' }))
  expect(byPlaceOfModels(again)).toEqual(byPlaceOfModels(lines))
  expect(again.filter((line) => 'obj' in line && line.obj.type === 'stop')).toEqual([lines.at(-1)])
  expect(again.at(-1)).toEqual(lines.at(-1))
})

const byPlaceOfModels = (lines: readonly StreamLine[]): unknown[] =>
  [0, 1, null].map((index) => byPlace(packetsOf(lines).filter(({ placement }) => placement.model_index === index)))

/** A run that loses its beginning is stored without lines. */
const keepingNoLines = { limits: { maxRunBytes: 1 } }

test('an answer without kept lines is shown by its text and its calls', async () => {
  const chat = await newSetting(callThenSay('internal_search', { queries: ['leave'] }), { search, ...keepingNoLines })
  const run = await chat.send()
  await readAll(run)
  await eventually(() => run.finished)
  const types = (await reloadOf(chat, run.sessionId)).map(({ obj }) => obj.type)
  expect(types).toEqual(expect.arrayContaining(['search_tool_start', 'message_delta', 'citation_info', 'stop']))
})

test('an answer with very many lines keeps none, and is shown by its text', async () => {
  const text = 'So it is. '.repeat(110_000).trim()
  const chat = await newSetting([[text]])
  const run = await chat.send()
  await readAll(run)
  await eventually(() => run.finished)
  const db = chat.db.withTables<{ inlay_chat_messages: { lines: string | null } }>()
  const stored = await db.selectFrom('inlay_chat_messages').select('lines').execute()
  expect(stored.every(({ lines }) => lines === null)).toBe(true)
  const shown = (await reloadOf(chat, run.sessionId)).flatMap(({ obj }) =>
    obj.type === 'message_delta' ? [obj.content] : [],
  )
  expect(shown.join('') === text).toBe(true)
})

/** A shared research as ben reads it, who may see these of its documents. */
async function sharedResearch(
  readable: readonly string[],
): Promise<{ own: readonly Packet[]; shared: readonly Packet[] }> {
  const chat = await newResearch(
    {},
    { readableDocuments: async (ids) => new Set(ids.filter((id) => readable.includes(id))) },
  )
  const run = await chat.send(asking)
  await readAll(run)
  await chat.agent.sessions.share(run.sessionId, 'public', ana)
  const { packets } = await chat.agent.sessions.get(run.sessionId, ben, { shared: 'public' })
  return { own: await reloadOf(chat, run.sessionId), shared: packets[0]! }
}

test('a shared research shows its steps as its owner sees them, without what was searched for', async () => {
  const { own, shared } = await sharedResearch(['about find one.', 'about find two.'])
  const isKeptBack = ({ obj }: Packet): boolean =>
    obj.type === 'search_tool_queries_delta' || obj.type === 'top_level_branching'
  expect(byPlace(shared)).toEqual(byPlace(own.filter((packet) => !isKeptBack(packet))))
  expect(shared.map(({ obj }) => obj.type)).toEqual(
    expect.arrayContaining(['deep_research_plan_delta', 'intermediate_report_delta', 'intermediate_report_cited_docs']),
  )
})

test('a shared research keeps tasks and reports back from a reader who may not see all of its documents', async () => {
  const { shared } = await sharedResearch(['about find one.'])
  const types = shared.map(({ obj }) => obj.type)
  expect(types.filter((type) => type === 'research_agent_start')).toHaveLength(2)
  expect(types.filter((type) => type === 'search_tool_documents_delta')).toHaveLength(1)
  expect(types.some((type) => type.startsWith('intermediate_report'))).toBe(false)
  expect(JSON.stringify(shared)).not.toMatch(/find two|Find two|Report on/)
})

/** The only answer of a chat as ben reads it after sharing, who may see these documents. */
async function sharedAnswer(
  open: (options: NonNullable<Parameters<typeof newSetting>[1]>) => Promise<Setting>,
  {
    isCut = false,
    readable = [],
    ask,
  }: {
    readonly readable?: readonly string[]
    readonly isCut?: boolean
    readonly ask?: (chat: Setting) => Promise<Parameters<Setting['send']>[0]>
  } = {},
): Promise<readonly Packet[]> {
  const readableDocuments = async (ids: readonly string[]) => new Set(ids.filter((id) => readable.includes(id)))
  const chat = await open({ readableDocuments, ...(isCut && keepingNoLines) })
  const run = await chat.send(await ask?.(chat))
  await readAll(run)
  await eventually(() => run.finished)
  await chat.agent.sessions.share(run.sessionId, 'public', ana)
  const { packets } = await chat.agent.sessions.get(run.sessionId, ben, { shared: 'public' })
  expect(packets).toHaveLength(1)
  return packets[0]!
}

test('a shared research without kept lines keeps tasks and reports back: what its agents read is not known', async () => {
  const packets = await sharedAnswer((options) => newResearch({}, options), {
    readable: ['about find one.', 'about find two.'],
    isCut: true,
    ask: async () => asking,
  })
  expect(packets.map(({ obj }) => obj.type)).toContain('research_agent_start')
  expect(JSON.stringify(packets)).not.toMatch(/Find one|Find two|Report on/)
})

test.each(['alone', 'after a search', 'after a tool'])(
  'a shared answer keeps back the task and report of a sub-agent of the host without sources: %s',
  async (kind) => {
    const hostAgent: HostAgent = {
      id: 7,
      name: 'Guide',
      actions: 'all',
      async *respond({ tools }) {
        yield { type: 'step' }
        if (kind === 'after a search')
          await tools.find(({ name }) => name === 'internal_search')?.run('s', { queries: ['leave'] })
        if (kind === 'after a tool') {
          yield { type: 'call', callId: 'own', name: 'ledger', input: { of: 'Kim' } }
          yield { type: 'result', callId: 'own', text: 'Kim is in debt.' }
        }
        yield { type: 'call', callId: 'sub', name: 'reader', input: {}, task: 'Look Kim up.' }
        yield { type: 'text', delta: 'Kim owes 900.', parentId: 'sub' }
        yield { type: 'result', callId: 'sub', text: 'Kim owes 900.' }
        yield { type: 'step' }
        yield { type: 'text', delta: 'Done.' }
      },
    }
    const packets = await sharedAnswer((options) => newSetting([], { ...options, search, hostAgents: [hostAgent] }), {
      readable: ['leave', 'other'],
      ask: async ({ agent }) => {
        const listed = await agent.personas.list(ana)
        return { chat_session_info: { persona_id: listed.find((each) => each.hostAgent)!.id } }
      },
    })
    const types = packets.map(({ obj }) => obj.type)
    expect(types).toContain('research_agent_start')
    expect(types.includes('search_tool_documents_delta')).toBe(kind === 'after a search')
    expect(JSON.stringify(packets)).toContain('Done.')
    expect(JSON.stringify(packets)).not.toMatch(/Kim/)
  },
)

test('a shared answer shows its text without what the model said before its calls', async () => {
  const script = [
    ['I look Kim up. ', { call: { name: 'book_room', input: {} } }],
    ['It is ', 'booked.'],
  ]
  const packets = await sharedAnswer((options) => newSetting(script, { ...options, actions: [booking] }))
  expect(packets.map(({ obj }) => obj.type)).toEqual(['message_start', 'message_delta', 'stop'])
  expect(JSON.stringify(packets)).not.toMatch(/Kim/)
})
