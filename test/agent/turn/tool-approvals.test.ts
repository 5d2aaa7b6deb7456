import {
  type Agent,
  type ComingToolCall,
  type EndedToolCall,
  type ToolApprovalEvent,
  type ToolApprovalPolicy,
} from '@inlay/agent'
import { scriptedModel, type Script } from '@inlay/agent/testing'
import type { SendMessageInput } from '@inlay/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ana, ben, codeOf, inShort, newDatabase, providerOf, readAll, toRequest } from '../setting.ts'
import { createConversations, type ConversationsOptions } from '@inlay/conversations'
import { scriptedAction } from '../scripted-action.ts'

const remove = (id: number, name: string, more: object = {}) => {
  const action = scriptedAction({ id, name, result: { text: `${name} done.` } })
  return Object.assign(action, more)
}
const callOf = (name: string, input: object = { page: 7 }) => ({ call: { name, input } })

/** An agent over SQL whose model follows a script. */
async function mount(script: Script, options: Partial<ConversationsOptions> = {}) {
  const model = scriptedModel(script)
  const events: string[] = []
  let time = Date.parse('2026-11-29T12:00:00Z')
  const onApproval = ({ kind, caller, toolName }: ToolApprovalEvent): void => {
    events.push(`${kind} ${toolName} ${caller.id}`)
  }
  const db = await newDatabase()
  const open = (more: Partial<ConversationsOptions> = {}): ReturnType<typeof createConversations> => {
    const models = providerOf(model)
    const searchHelp = { expand: false }
    return createConversations({ db, models, searchHelp, now: () => time, onApproval, ...options, ...more })
  }
  const agent = open()
  onTestFinished(async () => {
    await agent.close()
    await db.destroy()
  })
  const send = (request: Partial<SendMessageInput>, caller = ana) => agent.send(toRequest(request), { caller })
  return { agent, open, model, events, send, pass: (ms: number) => void (time += ms) }
}

/** A session whose newest answer waits, and the ids of its calls. */
async function waiting({ send }: Awaited<ReturnType<typeof mount>>) {
  const whole = await (await send({ message: 'Remove page 7' })).whole()
  const ids = (whole.tool_approvals ?? []).map(({ tool_call_id: id }) => id)
  const decide = (approved: boolean, reason: string | null = null): Partial<SendMessageInput> => ({
    message: '',
    chat_session_id: whole.chat_session_id,
    parent_message_id: whole.message_id,
    tool_approvals: ids.map((id) => ({ tool_call_id: id, approved, reason })),
  })
  return { whole, ids, decide }
}

const asking = { needsApproval: true }

describe('a call that a person has to approve', () => {
  test('ends the answer with a request, and is made by the message that approves it', async () => {
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['It is removed.']], { actions: [action] })
    const run = await setting.send({ message: 'Remove page 7' })
    expect((await readAll(run)).map(inShort).slice(2)).toEqual([
      '0.0 custom_tool_start',
      '0.0 tool_approval_request',
      '0.0 stop null',
    ])
    const whole = await run.whole()
    expect(whole.tool_approvals).toMatchObject([
      { tool_name: 'remove', arguments: { page: 7 }, expires_at: '2026-11-30T12:00:00.000Z', server_name: null },
    ])
    expect(action.calls).toEqual([])
    const [request] = whole.tool_approvals ?? []
    const next = await setting.send({
      message: '',
      chat_session_id: run.sessionId,
      parent_message_id: run.messageId,
      tool_approvals: [{ tool_call_id: request!.tool_call_id, approved: true }],
    })
    expect((await readAll(next)).map(inShort).slice(1)).toEqual([
      '0.0 custom_tool_start',
      '0.0 tool_approval_response',
      '0.0 custom_tool_args',
      '0.0 custom_tool_delta',
      '0.0 section_end',
      '1.0 message_start null',
      '1.0 message_delta "It is removed."',
      '1.0 stop null',
    ])
    expect(action.calls.map(({ input }) => input)).toEqual([{ page: 7 }])
    expect(setting.events).toEqual(['requested remove ana', 'approved remove ana'])
    const prompt = setting.model.requests[1]?.prompt ?? []
    expect(JSON.stringify(prompt)).toContain('remove done.')
    // Providers refuse a user's message right behind results, and two calls with one id.
    const roles = prompt.map(({ role }) => role)
    expect(roles.slice(1)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'tool'])
    const ids = prompt.flatMap(({ role, content }) =>
      role === 'assistant' ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])) : [],
    )
    expect(new Set(ids).size).toBe(2)
  })

  test('is not made when it is declined, and the model reads why', async () => {
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['Then it stays.']], { actions: [action] })
    const { decide } = await waiting(setting)
    const answer = await (await setting.send(decide(false, 'still needed'))).whole()
    expect([answer.answer, action.calls]).toEqual(['Then it stays.', []])
    expect(answer.tool_calls[0]?.tool_result).toBe('The user declined: still needed')
    expect(JSON.stringify(setting.model.requests[1]?.prompt)).toContain('The user declined: still needed')
    expect(setting.events).toEqual(['requested remove ana', 'declined remove ana'])
  })

  test('is sent back to its model with the thoughts and signatures that it gave', async () => {
    const signed = { google: { thoughtSignature: 'sig-1' } }
    const input = JSON.stringify({ page: 7 })
    const part = { type: 'tool-call', toolCallId: 'c1', toolName: 'remove', input, providerMetadata: signed } as const
    const script: Script = [[{ reasoning: ['Hm.'] }, { part }], ['Done.'], ['Welcome.']]
    const setting = await mount(script, { actions: [remove(50, 'remove', asking)] })
    const { whole, decide } = await waiting(setting)
    await (await setting.send(decide(true))).whole()
    await (await setting.send({ message: 'Thanks', chat_session_id: whole.chat_session_id })).whole()
    // Once: OpenAI refuses two items with one id.
    for (const { prompt } of setting.model.requests.slice(1))
      for (const given of ['Hm.', 'sig-1']) expect(JSON.stringify(prompt).split(given)).toHaveLength(2)
    const message = setting.model.requests[1]?.prompt.findLast(({ role }) => role === 'assistant')
    expect(message?.content).toMatchObject([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool-call', toolName: 'remove', providerOptions: signed },
    ])
  })

  test('waits beside others of its step, which run at once', async () => {
    const [first, second] = [remove(50, 'remove', asking), remove(51, 'publish', asking)]
    const look = remove(52, 'look')
    const setting = await mount([[callOf('remove'), callOf('look'), callOf('publish')], ['Half done.']], {
      actions: [first, second, look],
    })
    const { ids, decide } = await waiting(setting)
    expect([ids.length, look.calls.length, first.calls.length, second.calls.length]).toEqual([2, 1, 0, 0])
    const { tool_approvals: decisions, ...request } = decide(true)
    const incomplete = setting.send({ ...request, tool_approvals: decisions?.slice(0, 1) })
    expect(await codeOf(incomplete)).toBe('VALIDATION_ERROR')
    const mixed = (decisions ?? []).map((decision, index) => ({ ...decision, approved: index === 0 }))
    await (await setting.send({ ...request, tool_approvals: mixed })).whole()
    expect([look.calls.length, first.calls.length, second.calls.length]).toEqual([1, 1, 0])
  })

  test.each([{ llm_overrides: [{}, {}] }, { deep_research: true }])('is made by one answer alone: %j', async (more) => {
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['Done.']], { actions: [action] })
    const { decide } = await waiting(setting)
    expect(await codeOf(setting.send({ ...decide(true), ...more }))).toBe('VALIDATION_ERROR')
    expect([action.calls, setting.events]).toEqual([[], ['requested remove ana']])
    await (await setting.send(decide(true))).whole()
    expect(action.calls).toHaveLength(1)
  })

  test.each(['stop', 'message'])('is not made when a %s comes while its approval is planned', async (kind) => {
    const { promise: isPlanned, resolve: goOn } = Promise.withResolvers<void>()
    const { promise: isPlanning, resolve: startPlanning } = Promise.withResolvers<void>()
    let isHeld = false
    const before = async (): Promise<undefined> => {
      if (!isHeld) return undefined
      isHeld = false
      startPlanning()
      await isPlanned
      return undefined
    }
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['Never mind.']], { actions: [action], hooks: { before } })
    const { whole, decide } = await waiting(setting)
    isHeld = true
    const approving = codeOf(setting.send(decide(true)))
    await isPlanning
    const session = whole.chat_session_id!
    if (kind === 'stop') await setting.agent.stop(session, ana)
    else await (await setting.send({ message: 'Wait', chat_session_id: session, parent_message_id: -1 })).whole()
    goOn()
    expect([await approving, action.calls]).toEqual(['CONFLICT', []])
  })

  test('is not made after a stop, however much was said beside it, and whichever version is read', async () => {
    const [action, look] = [remove(50, 'remove', asking), remove(51, 'look')]
    look.run = async () => ({ text: 'x'.repeat(1_200_000) })
    const setting = await mount(() => [callOf('look'), callOf('remove')], { actions: [action, look] })
    const { whole, decide } = await waiting(setting)
    const session = whole.chat_session_id!
    const { messages } = await setting.agent.sessions.get(session, ana)
    const again = { message: '', chat_session_id: session, parent_message_id: messages.at(-1)!.parentId }
    await (await setting.send(again)).whole()
    await setting.agent.sessions.selectBranch(whole.message_id!, ana)
    await setting.agent.stop(session, ana)
    expect([await codeOf(setting.send(decide(true))), action.calls]).toEqual(['CONFLICT', []])
  })

  test('is made once, however often and wherever it is approved', async () => {
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['It is removed.']], { actions: [action] })
    const { decide } = await waiting(setting)
    const other = setting.open()
    const approve = (agent: Agent) => agent.send(toRequest(decide(true)), { caller: ana })
    // The second process may find the first at it, and is told to ask again.
    const [first, second] = await Promise.all([
      approve(setting.agent),
      approve(setting.agent),
      approve(other).catch(() => {}),
    ])
    expect(second.messageId).toBe(first.messageId)
    await first.whole()
    const again = await approve(other)
    expect([again.messageId, (await again.whole()).answer]).toEqual([first.messageId, 'It is removed.'])
    expect(await codeOf(setting.send(decide(false)))).toBe('CONFLICT')
    expect(action.calls).toHaveLength(1)
    await other.close()
  })

  test('is made once although the model fails after it', async () => {
    const action = remove(50, 'remove', asking)
    const broken = () => {
      throw new Error('The model is away.')
    }
    const setting = await mount([[callOf('remove')], broken as never, broken as never, broken as never], {
      actions: [action],
      wait: async () => {},
    })
    const { decide } = await waiting(setting)
    expect((await (await setting.send(decide(true))).whole()).error_msg).not.toBeNull()
    expect(await codeOf(setting.send(decide(true)))).toBe('CONFLICT')
    expect(action.calls).toHaveLength(1)
  })

  test.each(['declined', 'of a missing tool'])(
    'is decided again after a failure of the model where it was %s',
    async (kind) => {
      const action = remove(50, 'remove', asking)
      const down = Object.assign(new Error('Service Unavailable'), { name: 'AI_APICallError', statusCode: 503 })
      const away = { reject: down }
      const setting = await mount([[callOf('remove')], away, away, away, ['Then so.']], {
        actions: [action],
        wait: async () => {},
      })
      const { decide } = await waiting(setting)
      const other = setting.open({ actions: kind === 'declined' ? [action] : [] })
      const request = toRequest(decide(kind !== 'declined'))
      expect((await (await other.send(request, { caller: ana })).whole()).error_msg).not.toBeNull()
      await other.close()
      const again = await (await setting.agent.send(request, { caller: ana })).whole()
      expect([again.error_msg, again.answer]).toEqual([null, 'Then so.'])
      expect([action.calls.length, setting.events.length]).toEqual([kind === 'declined' ? 0 : 1, 2])
    },
  )

  test('cannot be approved by another person, in another session, or with other ids', async () => {
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['Other.']], { actions: [action] })
    const { decide } = await waiting(setting)
    expect(await codeOf(setting.send(decide(true), ben))).toBe('SESSION_NOT_FOUND')
    const elsewhere = await setting.send({ message: 'Hello' })
    await elsewhere.whole()
    expect(await codeOf(setting.send({ ...decide(true), chat_session_id: elsewhere.sessionId }))).toBe('CONFLICT')
    const wrong = { ...decide(true), tool_approvals: [{ tool_call_id: 'x', approved: true }] }
    expect(await codeOf(setting.send(wrong))).toBe('VALIDATION_ERROR')
    expect(await codeOf(setting.send({ ...decide(true), parent_message_id: -1 }))).toBe('VALIDATION_ERROR')
    expect(action.calls).toEqual([])
  })

  test.each(['a new message', 'another answer', 'a stop', 'its time is over'])('is not made after %s', async (end) => {
    const action = remove(50, 'remove', asking)
    const setting = await mount([[callOf('remove')], ['Something else.']], { actions: [action] })
    const { whole, decide } = await waiting(setting)
    const sessionId = whole.chat_session_id ?? ''
    const question = (await setting.agent.sessions.get(sessionId, ana)).messages.find(({ role }) => role === 'user')
    if (end === 'a new message')
      await (await setting.send({ message: 'Never mind', chat_session_id: sessionId })).whole()
    if (end === 'another answer')
      await (await setting.send({ message: '', chat_session_id: sessionId, parent_message_id: question!.id })).whole()
    if (end === 'a stop') await setting.agent.stop(sessionId, ana)
    if (end === 'its time is over') setting.pass(86_400_000)
    expect(await codeOf(setting.send(decide(true)))).toBe('CONFLICT')
    expect(action.calls).toEqual([])
    if (end === 'its time is over') expect(setting.events.at(-1)).toBe('expired remove ana')
    if (end !== 'a stop') return
    const { packets } = await setting.agent.sessions.get(sessionId, ana)
    expect(packets[0]?.at(-1)?.obj).toMatchObject({ type: 'stop', stop_reason: 'user_cancelled' })
  })

  test('is not made by a tool that is gone, or by one that took its name', async () => {
    const ending: Script = [[callOf('remove')], ['It is gone.'], [callOf('remove')], ['It is gone.']]
    const setting = await mount(ending, { actions: [remove(50, 'remove', asking)] })
    const impostor = remove(51, 'remove')
    for (const actions of [[], [impostor]]) {
      const { decide } = await waiting(setting)
      const other = setting.open({ actions })
      expect((await (await other.send(toRequest(decide(true)), { caller: ana })).whole()).answer).toBe('It is gone.')
      await other.close()
    }
    expect(JSON.stringify(setting.model.requests[1]?.prompt)).toContain('Tool \\"remove\\" not found.')
    expect(impostor.calls).toEqual([])
  })

  test('is asked for by its arguments', async () => {
    const needsApproval = ({ page }: Record<string, unknown>): boolean => page === 7
    const action = remove(50, 'remove', { needsApproval })
    const setting = await mount([[callOf('remove', { page: 1 }), callOf('remove')], ['Done.']], { actions: [action] })
    const { ids } = await waiting(setting)
    expect([ids.length, action.calls.map(({ input }) => input)]).toEqual([1, [{ page: 1 }]])
  })

  test('is shown, made and stored with the arguments of the host, in whichever process it is approved', async () => {
    const action = remove(50, 'remove', { needsApproval: ({ page }: Record<string, unknown>) => page === 8 })
    const [before, after] = [[] as unknown[], [] as unknown[]]
    const hooks = {
      beforeToolCall: ({ arguments: input }: ComingToolCall) => (before.push(input), { arguments: { page: 8 } }),
      afterToolCall: ({ arguments: input }: EndedToolCall) => void after.push(input),
    }
    const setting = await mount([[callOf('remove')], ['Done.']], { actions: [action], hooks })
    const { whole, decide } = await waiting(setting)
    expect(whole.tool_approvals).toMatchObject([{ arguments: { page: 8 } }])
    // Replaced again, a person would have approved something else.
    const late = {
      ...hooks,
      beforeToolCall: (call: ComingToolCall) => (before.push(call.arguments), { arguments: {} }),
    }
    const other = setting.open({ hooks: late })
    onTestFinished(() => other.close())
    const { tool_calls: calls } = await (await other.send(toRequest(decide(true)), { caller: ana })).whole()
    expect([before, action.calls.map(({ input }) => input)]).toEqual([[{ page: 7 }, { page: 8 }], [{ page: 8 }]])
    expect([after, calls.map(({ tool_arguments: input }) => input)]).toEqual([[{ page: 8 }], [{ page: 8 }]])
    expect(JSON.stringify(setting.model.requests[1]?.prompt)).not.toContain('"page":7')
  })

  test.each([
    ['before anybody is asked', false, 0],
    ['after a person approved it', true, 1],
  ])('is refused by the host %s', async (_, isAfter, requests) => {
    const action = remove(50, 'remove', asking)
    let isRefused = !isAfter
    const beforeToolCall = vi.fn(() => (isRefused ? { reject: 'Not today.' } : undefined))
    const script: Script = [[callOf('remove')], ['It stays.']]
    const setting = await mount(script, { actions: [action], hooks: { beforeToolCall } })
    const { ids, decide } = await waiting(setting)
    expect([ids.length, beforeToolCall.mock.calls.length]).toEqual([requests, 1])
    isRefused = true
    if (isAfter) await (await setting.send(decide(true))).whole()
    expect(JSON.stringify(setting.model.requests[1]?.prompt)).toContain('Not today.')
    expect(action.calls).toEqual([])
  })

  test('fails where nobody can be asked', async () => {
    const action = remove(50, 'remove', asking)
    const script: Script = [[callOf('remove')], [callOf('remove')], ['Not done.'], ['Not done.']]
    const setting = await mount(script, { actions: [action] })
    const run = await setting.send({ message: 'Remove page 7', llm_overrides: [{}, {}], stream: true })
    await run.whole()
    const prompts = setting.model.requests.slice(2).map(({ prompt }) => JSON.stringify(prompt))
    for (const prompt of prompts) expect(prompt).toContain('A person would have to approve this call')
    expect(action.calls).toEqual([])
  })

  test('is asked for although its action fails to say whether', async () => {
    const errors: unknown[] = []
    const needsApproval = (): boolean => {
      throw new Error('No rule.')
    }
    const action = remove(50, 'remove', { needsApproval })
    const onError = (error: unknown): void => void errors.push(error)
    const setting = await mount([[callOf('remove')]], { actions: [action], onError })
    expect([(await waiting(setting)).ids.length, String(errors[0])]).toEqual([1, 'Error: No rule.'])
  })
})

/** Names of the calls that wait when a model calls one action of each kind. */
async function askedUnder(toolApproval: ToolApprovalPolicy, ofAgent: ToolApprovalPolicy | null = null) {
  const actions = [
    remove(50, 'own'),
    remove(51, 'reads', { isReadOnly: true }),
    remove(52, 'writes', { isReadOnly: false }),
    remove(53, 'asks', { needsApproval: true, isReadOnly: true }),
  ]
  const calls = actions.map(({ name }) => callOf(name))
  const setting = await mount([calls, ['Done.']], { actions, toolApproval })
  const persona = { name: 'P', description: '', document_set_ids: [], tool_ids: [50, 51, 52, 53], system_prompt: '' }
  const stored = await setting.agent.personas.create(
    { ...persona, task_prompt: '', datetime_aware: false, tool_approval: ofAgent },
    { id: 'ana', scopes: ['chat', 'admin'] },
  )
  const request = { message: 'Go', chat_session_info: { persona_id: stored.id } }
  const { tool_approvals: requests = [] } = await (await setting.send(request)).whole()
  return requests.map(({ tool_name: name }) => name)
}

describe('the setting of which calls a person approves', () => {
  test.each([
    ['never', null, ['asks']],
    ['writes', null, ['writes', 'asks']],
    ['always', null, ['own', 'reads', 'writes', 'asks']],
    ['never', 'writes', ['writes', 'asks']],
    ['always', 'never', ['own', 'reads', 'writes', 'asks']],
  ] as const)('%s, and %s of the agent', async (policy, ofAgent, names) => {
    expect(await askedUnder(policy, ofAgent)).toEqual(names)
  })
})
