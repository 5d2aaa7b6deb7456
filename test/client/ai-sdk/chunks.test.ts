import { inlayTransport, type InlayUIMessage } from '@inlay/client/ai-sdk'
import type { PacketBody, Placement, StreamLine } from '@inlay/protocol'
import { readUIMessageStream } from 'ai'
import { expect, test } from 'vitest'
import { service, stream } from '../service.ts'

const at = (turn: number, more: Partial<Placement> = {}): Placement => ({
  turn_index: turn,
  tab_index: 0,
  sub_turn_index: null,
  model_index: 0,
  ...more,
})
const lines = (...packets: readonly (readonly [Placement, PacketBody])[]): StreamLine[] => [
  { chat_session_id: '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11', incognito: false },
  { user_message_id: 1, reserved_assistant_message_id: 2 },
  ...packets.map(([placement, obj]) => ({ placement, obj })),
  { placement: at(9), obj: { type: 'stop', stop_reason: null } },
]

/** Every state of the message while the lines come in. */
async function statesOf(answer: readonly StreamLine[]): Promise<InlayUIMessage[]> {
  const { fetch } = service(() => stream(answer))
  const chunks = await inlayTransport({ baseUrl: '/api', fetch }).sendMessages({
    trigger: 'submit-message',
    chatId: 'c',
    messageId: undefined,
    messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
    abortSignal: undefined,
  })
  const states: InlayUIMessage[] = []
  for await (const state of readUIMessageStream<InlayUIMessage>({ stream: chunks })) states.push(state)
  return states
}

test('arguments are shown while the model writes them, and output while it comes', async () => {
  const states = await statesOf(
    lines(
      [at(0), { type: 'tool_call_argument_delta', tool_type: 'run_python', argument_deltas: { code: 'print("a\\' } }],
      [at(0), { type: 'tool_call_argument_delta', tool_type: 'run_python', argument_deltas: { code: 'n")' } }],
      [at(0), { type: 'python_tool_start', code: 'print("a\\n")' }],
      [at(0), { type: 'python_tool_delta', stdout: 'a\n', stderr: '', file_ids: [] }],
      [at(0), { type: 'python_tool_delta', stdout: 'b\n', stderr: 'oh', file_ids: [] }],
      [at(0), { type: 'section_end' }],
    ),
  )
  const calls = states.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-run_python'))
  const drafts = calls.filter(({ state }) => state === 'input-streaming').map(({ input }) => input?.code)
  expect(drafts).toContain('print("a\\')
  expect(drafts.at(-1)).toBe('print("a\\n")')
  expect(calls.some((call) => call.state === 'output-available' && call.preliminary === true)).toBe(true)
  expect(calls.at(-1)).toMatchObject({
    state: 'output-available',
    preliminary: false,
    input: { code: 'print("a\\n")' },
    output: { stdout: 'a\nb\n', stderr: 'oh' },
  })
})

test('a research shows its plan, its agents with their searches, and the answer after them', async () => {
  const agent = (tab: number, step: number | null = null): Placement => at(1, { tab_index: tab, sub_turn_index: step })
  const states = await statesOf(
    lines(
      [at(0), { type: 'deep_research_plan_start' }],
      [at(0), { type: 'deep_research_plan_delta', content: '1. Look.' }],
      [at(0), { type: 'section_end' }],
      [at(1), { type: 'top_level_branching', num_parallel_branches: 2 }],
      [agent(0), { type: 'research_agent_start', research_task: 'Leave' }],
      [agent(1), { type: 'research_agent_start', research_task: 'Pay' }],
      [agent(0, 0), { type: 'reasoning_delta', reasoning: 'Not for the reader.' }],
      [agent(0, 1), { type: 'search_tool_start', is_internet_search: false }],
      [agent(0, 1), { type: 'search_tool_queries_delta', queries: ['leave'] }],
      [agent(0, 1), { type: 'section_end' }],
      [agent(1), { type: 'intermediate_report_delta', content: 'Paid.' }],
      [agent(0), { type: 'intermediate_report_start' }],
      [agent(0), { type: 'intermediate_report_delta', content: 'Twenty-five.' }],
      [agent(0), { type: 'section_end' }],
      [agent(1), { type: 'error', exception: 'No pay.', error_code: null, is_retryable: false }],
      [at(2), { type: 'message_start', final_documents: null, pre_answer_processing_seconds: 1 }],
      [at(2), { type: 'message_delta', content: 'Done.' }],
    ),
  )
  const parts = states.at(-1)?.parts ?? []
  expect(parts.map(({ type }) => type)).toEqual([
    'data-plan',
    'data-research',
    'data-research',
    'tool-internal_search',
    'text',
  ])
  expect(parts).toMatchObject([
    { data: { text: '1. Look.', isDone: true } },
    { data: { task: 'Leave', report: 'Twenty-five.', progress: 'done' } },
    { data: { task: 'Pay', report: 'Paid.', progress: 'failed' } },
    { input: { queries: ['leave'] }, toolMetadata: { turn: 1, tab: 0, step: 1 } },
    { text: 'Done.', state: 'done' },
  ])
  expect(JSON.stringify(parts)).not.toContain('Not for the reader')
})
