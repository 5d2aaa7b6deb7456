import { describe, expect, test } from 'vitest'
import { createRuns } from '@inlay/agent/internal/run/live-runs'
import { scriptedModel } from '@inlay/agent/testing'
import type { InlayError } from '@inlay/protocol'
import {
  ana,
  ben,
  codeOf,
  eventually,
  findsAlways,
  inShort,
  newPassage,
  newSetting,
  providerOf,
  readAll,
} from '../setting.ts'
import { leastCpuMsOf } from '../../cpu-time.ts'
import { scriptedAction } from '../scripted-action.ts'

const search = findsAlways(newPassage('leave', '28 days'))

function newRuns(maxFinishedBytes = 1_000_000) {
  const clock = { time: 0 }
  const runs = createRuns({ now: () => clock.time, resumableMs: 600_000, maxRunBytes: 100_000, maxFinishedBytes })
  return { clock, runs }
}

test('the newest run of a session stays readable for ten minutes after its end', async () => {
  const { clock, runs } = newRuns()
  runs.open({ sessionId: 's', messageId: 1 }).end()
  const second = runs.open({ sessionId: 's', messageId: 2 })
  expect(runs.newest('s')).toBe(second)
  second.end()
  await second.ended
  clock.time += 599_999
  expect(runs.newest('s')).toBe(second)
  clock.time += 1
  expect(runs.newest('s')).toBeUndefined()
  expect(runs.ofMessage(2)).toBeUndefined()
})

test('an older run that is forgotten leaves the newer one of its session', async () => {
  const { clock, runs } = newRuns()
  const first = runs.open({ sessionId: 's', messageId: 1 })
  first.end()
  await first.ended
  const second = runs.open({ sessionId: 's', messageId: 2 })
  clock.time += 600_000
  expect(runs.newest('s')).toBe(second)
  expect(runs.ofMessage(1)).toBeUndefined()
})

test('asking for running ones costs the same however many have finished', async () => {
  const costAfter = async (count: number): Promise<number> => {
    const { runs } = newRuns()
    const running = runs.open({ sessionId: 's', messageId: 0 })
    for (let id = 1; id <= count; id++) runs.open({ sessionId: `s${id}`, messageId: id }).end()
    await Promise.resolve()
    return leastCpuMsOf(() => {
      for (let time = 0; time < 200; time++) expect(runs.active('s')[0]).toBe(running)
    })
  }
  const few = await costAfter(10)
  expect(await costAfter(10_000)).toBeLessThan(5 * few + 20)
})

test('finished runs hold a bounded amount of lines: the oldest are forgotten first', async () => {
  const { runs } = newRuns(20_000)
  for (let id = 1; id <= 10; id++) {
    const run = runs.open({ sessionId: `s${id}`, messageId: id })
    run.write({ error: 'x'.repeat(2_000), stack_trace: null, error_code: null, is_retryable: true, details: null })
    run.end()
    await run.ended
  }
  const kept = Array.from({ length: 10 }, (_, index) => runs.newest(`s${index + 1}`) !== undefined)
  expect(kept).toEqual([false, false, false, false, false, false, true, true, true, true])
})

describe('a run is no matter of its readers', () => {
  test('resuming from every cursor gives the rest of the same lines', async () => {
    const { agent, send } = await newSetting(
      [
        [
          { reasoning: 'Hm.' },
          'Looking.',
          {
            calls: [
              { name: 'internal_search', input: { queries: ['a'] } },
              { name: 'look', input: {} },
            ],
          },
        ],
        ['28 days [1].', ' Yes.'],
      ],
      { search, actions: [scriptedAction({ id: 2, name: 'look', start: { type: 'open_url_start' } })] },
    )
    const run = await send()
    const all = await readAll(run)
    const resumed = await agent.resume(run.sessionId, ana)
    for (let cursor = 0; cursor <= all.length; cursor++) {
      expect(await readAll(resumed, cursor)).toEqual(all.slice(cursor))
    }
  })

  test('it goes on without any reader and can be resumed while it runs', async () => {
    let release = (): void => {}
    const { agent, send } = await newSetting([
      ['One', { pause: () => new Promise<void>((resolve) => (release = resolve)) }, ' two.'],
    ])
    const run = await send()
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('One'))) break
    expect(run.finished).toBe(false)
    const resumed = readAll(await agent.resume(run.sessionId, ana))
    release()
    expect((await resumed).map(inShort).at(-1)).toBe('0.0 stop null')
  })

  test('only the owner of the session resumes or stops it', async () => {
    const { agent, send } = await newSetting([['x']])
    const run = await send()
    const codes = await Promise.all(
      [agent.resume(run.sessionId, ben), agent.stop(run.sessionId, ben), agent.resume(crypto.randomUUID(), ana)].map(
        (work) =>
          work.then(
            () => 'none',
            (error: InlayError) => error.code,
          ),
      ),
    )
    expect(codes).toEqual(['SESSION_NOT_FOUND', 'SESSION_NOT_FOUND', 'SESSION_NOT_FOUND'])
  })

  test('a session whose runs are over and gone has nothing to resume', async () => {
    const { agent, send, clock } = await newSetting([['x']])
    const run = await send()
    await run.whole()
    await eventually(async () => {
      // The end of the run is written meanwhile.
      clock.time += 600_000
      return (await codeOf(agent.resume(run.sessionId, ana))) === 'NOT_FOUND'
    })
  })
})

describe('stop', () => {
  test('aborts the model and keeps what was said', async () => {
    const { agent, send, model } = await newSetting([['So far', { hang: true }]])
    const run = await send()
    for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('So far'))) break
    await agent.stop(run.sessionId, ana)
    expect(await run.whole()).toMatchObject({ answer: 'So far', error_msg: null })
    expect(model.requests[0]?.abortSignal?.aborted).toBe(true)
  })

  test('ends also a model that does not heed its signal, before or while it streams', async () => {
    const never = new Promise<never>(() => {})
    for (const doStream of [
      () => never,
      async () => ({ stream: new ReadableStream({ pull: () => never, cancel: () => never }) }),
    ]) {
      const { agent, send } = await newSetting([], { models: providerOf({ ...scriptedModel([]), doStream }) })
      const run = await send()
      await agent.stop(run.sessionId, ana)
      expect((await readAll(run)).map(inShort).at(-1)).toBe('0.0 stop user_cancelled')
    }
  })

  test('aborts running actions and closes their sections before the stop', async () => {
    let seen: AbortSignal | undefined
    const slow = scriptedAction({
      id: 2,
      name: 'wait',
      start: { type: 'custom_tool_start', tool_name: 'wait', tool_id: 2 },
      pause: ({ signal }) => {
        seen = signal
        return new Promise(() => {})
      },
    })
    const { agent, send } = await newSetting([[{ call: { name: 'wait', input: {} } }], ['never']], { actions: [slow] })
    const run = await send()
    await eventually(() => seen !== undefined)
    await agent.stop(run.sessionId, ana)
    expect(seen?.aborted).toBe(true)
    expect((await readAll(run)).slice(2).map(inShort)).toEqual([
      '0.0 custom_tool_start',
      '0.0 section_end',
      '0.0 stop user_cancelled',
    ])
  })

  test('of a session without a run does nothing', async () => {
    const { agent, send } = await newSetting([['x']])
    const run = await send()
    const before = await readAll(run)
    await agent.stop(run.sessionId, ana)
    expect(await readAll(run)).toEqual(before)
  })

  test('ends a busy stream long before its end', async () => {
    const { agent, send } = await newSetting([Array.from({ length: 100_000 }, () => 'word ')])
    const run = await send()
    await run.read()[Symbol.asyncIterator]().next()
    await agent.stop(run.sessionId, ana)
    const lines = await readAll(run)
    expect(inShort(lines.at(-1) ?? { unknown: null })).toBe('0.0 stop user_cancelled')
    expect(lines.length).toBeLessThan(50_000)
  })
})

test('closing the agent ends its runs with a reason, and keeps what was said', async () => {
  const { agent, send } = await newSetting([['Half', { hang: true }]])
  const run = await send()
  for await (const entries of run.read()) if (entries.some(({ json }) => json.includes('Half'))) break
  await agent.close()
  expect((await readAll(run)).slice(2).map(inShort)).toEqual([
    '0.0 message_start null',
    '0.0 message_delta "Half"',
    '0.0 error SERVICE_UNAVAILABLE',
    'error line SERVICE_UNAVAILABLE',
  ])
})
