import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type Json, type Service } from '../service.ts'
import { scriptedAction } from '../../agent/scripted-action.ts'

const remove = scriptedAction({ id: 50, name: 'remove_page', result: { text: 'Removed.' } })
let service: Service

beforeAll(async () => {
  service = await startService({ actions: [Object.assign(remove, { needsApproval: true })] })
  service.answerWith((prompt) =>
    prompt.includes('Removed.') || prompt.includes('The user declined')
      ? ['Done with it.']
      : [{ call: { name: 'remove_page', input: { page: 7, why: 'old' } } }],
  )
})
afterAll(() => service.close())

/** The message that answers what an answer asks. */
function decision(whole: Json, approved: boolean): Json {
  return {
    chat_session_id: whole.chat_session_id,
    parent_message_id: whole.message_id,
    message: '',
    tool_approvals: whole.tool_approvals.map(({ tool_call_id: id }: Json) => ({ tool_call_id: id, approved })),
  }
}

describe('approving a call over HTTP', () => {
  test('the answer names what waits, streamed and whole, and goes on once it is approved', async () => {
    const whole = await service.ask({ message: 'Remove page 7' })
    expect(whole.tool_approvals).toEqual([
      {
        type: 'tool_approval_request',
        tool_call_id: expect.any(String),
        tool_name: 'remove_page',
        display_name: 'remove_page',
        server_name: null,
        arguments: { page: 7, why: 'old' },
        expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ])
    const lines = await service.stream(decision(whole, true))
    const types = lines.flatMap(({ obj }) => (obj ? [obj.type] : []))
    expect(types.slice(0, 2)).toEqual(['custom_tool_start', 'tool_approval_response'])
    expect(types.at(-1)).toBe('stop')
    const resumed = await service.call('GET', `/chat/chat-session/${whole.chat_session_id}/resume-stream`)
    expect(resumed.text).toContain('Done with it.')
  })

  test('the same decisions get the same answer, and others a conflict', async () => {
    const whole = await service.ask({ message: 'Remove page 7' })
    const before = remove.calls.length
    const [first, second] = await Promise.all([
      service.ask(decision(whole, true)),
      service.ask({ ...decision(whole, true), message: 'Yes, do it' }),
    ])
    expect([second.message_id, remove.calls.length - before]).toEqual([first.message_id, 1])
    const other = await service.call('POST', '/chat/send-chat-message', { ...decision(whole, false), stream: false })
    expect([other.status, other.json.error_code]).toEqual([409, 'CONFLICT'])
  })

  test('a stored session shows what waits, and a shared one only that something was asked', async () => {
    const whole = await service.ask({ message: 'Remove page 7' })
    const path = `/chat/get-chat-session/${whole.chat_session_id}`
    const shown = (await service.call('GET', path)).json
    const request = shown.packets[0].find(({ obj }: Json) => obj.type === 'tool_approval_request')
    expect([request.obj.arguments, shown.messages.at(-1).failed_calls]).toEqual([{ page: 7, why: 'old' }, []])
    await service.call('PATCH', `/chat/chat-session/${whole.chat_session_id}`, { sharing_status: 'public' })
    const shared = await service.call('GET', `${path}?is_shared=true`)
    expect(shared.text).toContain('"tool_approval_request"')
    expect(shared.text).not.toMatch(/remove_page|"old"/)
  })

  test('the audit log has who was asked and what was decided, without arguments', async () => {
    const whole = await service.ask({ message: 'Remove page 7' })
    await service.ask(decision(whole, false))
    const { json, text } = await service.call('GET', '/admin/audit?limit=2')
    expect(json.map(({ operation }: Json) => operation)).toEqual(['toolCall.declined', 'toolCall.requested'])
    expect(json[0]).toMatchObject({
      caller_id: 'operator',
      target: { session_id: whole.chat_session_id, message_id: String(whole.message_id), tool: 'remove_page' },
    })
    expect(text).not.toContain('old')
  })

  test('an agent can ask for more calls than the deployment', async () => {
    const agent = {
      name: 'Careful',
      description: '',
      document_set_ids: [],
      tool_ids: [],
      system_prompt: '',
      task_prompt: '',
      datetime_aware: false,
      tool_approval: 'always',
    }
    const created = await service.call('POST', '/persona', agent)
    expect(created.json.tool_approval).toBe('always')
    const changed = await service.call('PATCH', `/persona/${created.json.id}`, { tool_approval: null })
    expect(changed.json.tool_approval).toBeNull()
    expect((await service.call('PATCH', `/persona/${created.json.id}`, { tool_approval: 'no' })).status).toBe(422)
  })
})
