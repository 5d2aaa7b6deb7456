import { afterAll, beforeAll, expect, test } from 'vitest'
import { heron, startService, type Json, type Service } from '../service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.ingest(heron('a'))
})
afterAll(() => service.close())

const typesOf = (lines: readonly Json[]): string[] => lines.flatMap(({ obj }) => (obj ? [obj.type] : []))

/** One agent researches one task, after a question back when the message is short. */
function research(): void {
  let cycles = 0
  service.answerWith((prompt, tools) => {
    const call = (name: string, input: object): [{ call: { name: string; input: object } }] => [
      { call: { name, input } },
    ]
    if (tools.includes('generate_plan'))
      return prompt.includes('Tell me more') ? ['Which heron do you mean?'] : call('generate_plan', {})
    if (tools.includes('research_agent'))
      return cycles++ === 0 ? call('research_agent', { task: 'Find where herons wait.' }) : call('generate_report', {})
    if (tools.includes('internal_search'))
      return prompt.includes('"role":"tool"')
        ? call('generate_report', {})
        : call('internal_search', { queries: ['heron'] })
    if (prompt.includes('Reports of the research')) return ['Herons wait in the reeds [1].']
    return prompt.includes('Find where herons wait.') ? ['In the reeds [1].'] : ['1. Find where they wait.']
  })
}

test('a question back ends the run like an answer, and is not asked a second time', async () => {
  research()
  const first = await service.stream({ message: 'Tell me more', deep_research: true })
  expect(typesOf(first)).toEqual(['message_start', 'message_delta', 'stop'])
  const chat_session_id = first[0].chat_session_id
  const second = await service.stream({ message: 'Tell me more', deep_research: true, chat_session_id })
  expect(typesOf(second)[0]).toBe('deep_research_plan_start')
})

test('plan, agents and report follow one another; inner steps are told below their agent', async () => {
  research()
  const lines = await service.stream({ message: 'Where do herons wait, and why?', deep_research: true })
  const packets = lines.filter(({ obj }) => obj)
  const place = ({ placement: at, obj }: Json): string =>
    `${at.turn_index}${at.sub_turn_index === null ? '' : `/${at.sub_turn_index}`} ${obj.type}`
  const order = packets.map(place).filter((line, at, all) => line !== all[at - 1])
  expect(order).toEqual([
    '0 deep_research_plan_start',
    '0 deep_research_plan_delta',
    '0 section_end',
    '1 research_agent_start',
    '1/0 search_tool_start',
    '1/0 search_tool_queries_delta',
    '1/0 search_tool_documents_delta',
    '1/0 section_end',
    '1 intermediate_report_start',
    '1 intermediate_report_delta',
    '1 intermediate_report_cited_docs',
    '1 section_end',
    '2 message_start',
    '2 message_delta',
    '2 citation_info',
    '2 message_delta',
    '2 stop',
  ])
  const report = packets.find(({ obj }) => obj.type === 'intermediate_report_delta')
  expect(report.obj.content).toContain('[1]')
  const cited = packets.find(({ obj }) => obj.type === 'intermediate_report_cited_docs')
  expect(cited.obj.cited_docs.map((document: Json) => document.document_id)).toEqual(['a'])
  const start = packets.find(({ obj }) => obj.type === 'message_start')
  expect(start.obj.final_documents.map((document: Json) => document.document_id)).toEqual(['a'])
})

test('shown again, a research has its plan and the inner steps of its agents', async () => {
  research()
  const lines = await service.stream({ message: 'Where do herons wait, and why?', deep_research: true })
  const { json } = await service.call('GET', `/chat/get-chat-session/${lines[0].chat_session_id}`)
  const typesInRow = (of: readonly Json[]): string[] => typesOf(of).filter((type, at, all) => type !== all[at - 1])
  expect(typesInRow(json.packets[0])).toEqual(typesInRow(lines))
  const inner = json.packets[0].find(({ obj }: Json) => obj.type === 'search_tool_documents_delta')
  expect(inner.placement).toMatchObject({ turn_index: 1, sub_turn_index: 0, model_index: null })
})

test('the whole answer lists the agent with its report, and its inner call', async () => {
  research()
  const whole = await service.ask({ message: 'Where do herons wait, and why?', deep_research: true })
  const calls = whole.tool_calls as Json[]
  expect(calls.map(({ tool_name: name }) => name).toSorted()).toEqual(['internal_search', 'research_agent'])
  const agent = calls.find(({ tool_name: name }) => name === 'research_agent')
  expect(agent).toMatchObject({ tool_arguments: { task: 'Find where herons wait.' } })
  expect(agent.tool_result).toContain('In the reeds')
})

test('several models are refused for research, and so is a project', async () => {
  const both = await service.call('POST', '/chat/send-chat-message', {
    message: 'x',
    deep_research: true,
    llm_overrides: [{ model_version: 's' }, { model_version: 's' }],
  })
  expect([both.status, both.json?.error_code]).toEqual([400, 'VALIDATION_ERROR'])
  const project = await service.call('POST', '/user/projects/create?name=Marsh')
  const inside = await service.call('POST', '/chat/send-chat-message', {
    message: 'x',
    deep_research: true,
    chat_session_info: { project_id: project.json.id },
  })
  expect(inside.status).toBe(400)
})
