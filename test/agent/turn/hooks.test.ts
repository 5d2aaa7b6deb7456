import { describe, expect, test } from 'vitest'
import type { ComingTurn, EndedTurn } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { ana, codeOf, eventually, findsAlways, newPassage, newSetting } from '../setting.ts'
import { scriptedAction } from '../scripted-action.ts'

describe('a hook before a turn', () => {
  test('sees the message and who sends it, before anything is stored', async () => {
    const seen: ComingTurn[] = []
    const { agent, send } = await newSetting(() => ['x'], { hooks: { before: (turn) => void seen.push(turn) } })
    const first = await send({ message: 'One?', origin: 'widget', internal_search_filters: { source_type: ['web'] } })
    await (await send({ message: 'Two?', chat_session_id: first.sessionId })).whole()
    expect(seen).toMatchObject([
      {
        caller: ana,
        message: 'One?',
        sessionId: null,
        personaId: 0,
        projectId: null,
        origin: 'widget',
        filters: { source_type: ['web'] },
      },
      { message: 'Two?', sessionId: first.sessionId, origin: 'unset', filters: null },
    ])
    await agent.close()
  })

  test('refuses a message with its own words; nothing of it is kept', async () => {
    const { agent, send, model } = await newSetting(() => ['x'], {
      hooks: { before: async ({ message }) => (message.includes('secret') ? { reject: 'Ask something else.' } : {}) },
    })
    await expect(send({ message: 'The secret?' })).rejects.toMatchObject({
      code: 'QUERY_REJECTED',
      message: 'Ask something else.',
    })
    expect(await agent.sessions.list(ana)).toEqual({ sessions: [], hasMore: false })
    expect(model.requests).toEqual([])
    expect((await (await send({ message: 'The time?' })).whole()).answer).toBe('x')
  })

  test('tells the model more, for this message alone', async () => {
    const { send, model } = await newSetting(() => ['x'], {
      hooks: { before: ({ message }) => (message === 'One?' ? { context: 'They work in Oslo.' } : undefined) },
    })
    const first = await send({ message: 'One?', additional_context: 'The page is about bees.' })
    await first.whole()
    await (await send({ message: 'Two?', chat_session_id: first.sessionId })).whole()
    const [initial, second] = model.requests.map(({ prompt }) => JSON.stringify(prompt))
    expect(initial).toContain('Oslo')
    expect(initial).toContain('bees')
    expect(second).not.toContain('Oslo')
  })

  test('that fails refuses the message without telling why; an error of ours is passed on', async () => {
    let thrown: unknown = new Error('password of the moderation service: 1234')
    const { send, errors } = await newSetting(() => ['x'], {
      hooks: {
        before: () => {
          throw thrown
        },
      },
    })
    const failure = await send().then(undefined, (error: InlayError) => error)
    expect(failure).toMatchObject({ code: 'HOOK_EXECUTION_FAILED', status: 502 })
    expect((failure as InlayError).message).not.toContain('1234')
    expect(errors).toEqual([thrown])
    thrown = new InlayError('RATE_LIMITED')
    expect(await codeOf(send())).toBe('RATE_LIMITED')
  })

  test('is not asked again for a repeated send', async () => {
    let count = 0
    const { send } = await newSetting(() => ['x'], { hooks: { before: () => void count++ } })
    await send({}, { idempotencyKey: 'k' })
    await send({}, { idempotencyKey: 'k' })
    expect(count).toBe(1)
  })
})

describe('instructions that a function writes', () => {
  test('are those of one message and its caller, and count against the free tokens', async () => {
    const { agent, send, model } = await newSetting(() => ['x'], {
      systemPrompt: async ({ caller, message }) => `You help ${caller.id}${message && `, who says ${message}`}.`,
    })
    const run = await send({ message: 'One?' })
    await run.whole()
    await (await send({ message: 'Two?', chat_session_id: run.sessionId })).whole()
    const texts = model.requests.map(({ prompt }) => String(prompt[0]?.content))
    expect(texts.map((text) => text.split('.')[0])).toEqual([
      `You help ${ana.id}, who says One?`,
      `You help ${ana.id}, who says Two?`,
    ])
    const { agent: wordy } = await newSetting(() => ['x'], { systemPrompt: () => 'word '.repeat(1_000) })
    const [few, many] = await Promise.all([wordy, agent].map(({ freeTokens }) => freeTokens({ personaId: 0 }, ana)))
    expect(few).toBeLessThan((many ?? 0) - 500)
  })

  test('refuse the message if they cannot be written; nothing of it is kept', async () => {
    let written: unknown = 7
    const { agent, send, errors } = await newSetting(() => ['x'], { systemPrompt: () => written as string })
    await expect(send()).rejects.toMatchObject({
      code: 'HOOK_EXECUTION_FAILED',
      message: expect.stringContaining('instructions'),
    })
    expect(errors).toEqual([new TypeError('systemPrompt must return a text, or undefined for none')])
    expect(await agent.sessions.list(ana)).toEqual({ sessions: [], hasMore: false })
    written = undefined
    expect((await (await send()).whole()).answer).toBe('x')
  })
})

describe('a hook after a turn', () => {
  test('sees each answer as it was stored', async () => {
    const seen: EndedTurn[] = []
    const { agent, send, clock } = await newSetting(
      [
        [
          {
            calls: [
              { name: 'internal_search', input: { queries: ['q'] } },
              { name: 'break', input: {} },
            ],
          },
        ],
        ['28 days [1].'],
        ['Half', { cut: new Error('gone') }],
        ['Kept', { hang: true }],
      ],
      {
        search: findsAlways(newPassage('leave', '28 days')),
        actions: [scriptedAction({ id: 9, name: 'break', fails: new Error('no') })],
        hooks: {
          after: async (turn) => {
            await new Promise((resolve) => setImmediate(resolve))
            seen.push(turn)
          },
        },
      },
    )
    const run = await send({ message: 'How many?' })
    await run.whole()
    await eventually(() => seen.length === 1)
    clock.time += 1_000
    await (await send({ message: 'Again?' })).whole()
    await eventually(() => seen.length === 2)
    const third = await send({ message: 'Stop!' })
    for await (const entries of third.read()) if (entries.some(({ json }) => json.includes('Kept'))) break
    await agent.stop(third.sessionId, ana)
    await agent.close()
    expect(seen).toMatchObject([
      {
        caller: ana,
        sessionId: run.sessionId,
        messageId: run.messageId,
        userMessage: 'How many?',
        answer: '28 days [[1]](https://wiki.example/leave).',
        status: 'done',
        error: null,
        citations: [{ number: 1, documentId: 'leave' }],
        calls: [
          { name: 'internal_search', failed: false },
          { name: 'break', failed: true },
        ],
        model: { provider: 'scripted', name: 'script-1' },
        durationMs: 0,
      },
      { userMessage: 'Again?', answer: 'Half', status: 'failed', error: { code: expect.any(String) } },
      { userMessage: 'Stop!', answer: 'Kept', status: 'cancelled', error: null },
    ])
  })

  test('that fails is reported and disturbs nothing', async () => {
    const broken = new Error('ledger is down')
    const { agent, send, errors } = await newSetting(() => ['x'], {
      hooks: {
        after: () => {
          throw broken
        },
      },
    })
    expect((await (await send()).whole()).error_msg).toBeNull()
    await agent.close()
    expect(errors).toEqual([broken])
  })
})
