import { describe, expect, test } from 'vitest'
import { runCall, type CallSetting, type OpenCall } from '@inlay/agent/internal/tool-calls/run-tool-calls'
import { CallWriter } from '@inlay/agent/internal/packet-writer'
import { createCitableDocuments } from '@inlay/agent/internal/citations/citable-documents'
import { InlayError } from '@inlay/protocol'
import type { PacketBody, ToolCallDetail } from '@inlay/protocol'
import { ana } from '../setting.ts'
import { scriptedAction, type ScriptedActionOptions } from '../scripted-action.ts'

function newCall(options: Partial<ScriptedActionOptions> = {}, more: Partial<CallSetting> = {}) {
  const packets: PacketBody['type'][] = []
  const errors: unknown[] = []
  const details: ToolCallDetail[] = []
  const call: OpenCall = {
    id: 'c',
    action: scriptedAction({ id: 2, name: 'look', ...options }),
    position: 0,
    input: { at: 1 },
    range: createCitableDocuments().openStep()(0),
    resultTokens: 1_000,
    writer: new CallWriter({ step: 0, turnIndex: 1, tabIndex: 2, reasoning: 'Hm.' }, ({ type }) => packets.push(type)),
  }
  const setting: CallSetting = {
    turn: { caller: ana, sessionId: 's', messageId: 3, userMessage: 'Q', filters: null },
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    approval: 'never',
    onError: (error) => void errors.push(error),
    onEnd: (detail) => void details.push(detail),
    ...more,
  }
  return { packets, errors, details, done: runCall(call, setting) }
}

test('a call is recorded with its arguments, result, place and packets', async () => {
  const { details, done, packets } = newCall({ packets: [{ type: 'memory_tool_start' }], result: { text: 'Seen.' } })
  expect(await done).toMatchObject({
    step: 0,
    turnIndex: 1,
    tabIndex: 2,
    callId: 'c',
    actionId: 2,
    name: 'look',
    failed: false,
    arguments: { at: 1 },
    result: 'Seen.',
    reasoning: 'Hm.',
    packets: [{ type: 'memory_tool_start' }],
  })
  expect(details).toEqual([
    {
      turn_index: 1,
      tab_index: 2,
      tool_name: 'look',
      tool_arguments: { at: 1 },
      tool_result: 'Seen.',
      search_docs: null,
      generated_images: null,
    },
  ])
  expect(packets).toEqual(['memory_tool_start', 'section_end'])
})

test('what neither models nor databases take is left out of a result', async () => {
  const { done, details } = newCall({ result: { text: 'a\u0000b\uD83E' } })
  expect(await done).toMatchObject({ failed: false, result: 'ab' })
  expect(details).toMatchObject([{ tool_result: 'ab' }])
})

describe('a call that throws', () => {
  test("of a host's action tells the model its words and the operator all", async () => {
    const { done, errors, packets } = newCall({ fails: new Error('No booking 7.') })
    expect(await done).toMatchObject({ failed: true, result: 'Tool failed with error: No booking 7.' })
    expect(errors).toEqual([new Error('No booking 7.')])
    expect(packets).toEqual(['section_end'])
  })

  test('of a built-in action keeps what it did not mean to say to itself', async () => {
    const { done } = newCall({
      builtIn: 'SearchTool',
      displayName: 'Internal Search',
      fails: new Error('/data/secret.db'),
    })
    expect((await done).result).toBe('Tool failed with error: Internal Search failed for an unexpected reason.')
  })
})

test('what an action did not expect is told to the operator whole, and to others in its own words', async () => {
  const failure = new InlayError('INTERNAL_ERROR', { message: 'It failed.', cause: new Error('INSERT INTO secrets') })
  const { done, errors } = newCall({ fails: failure })
  expect((await done).result).toBe('Tool failed with error: It failed.')
  expect(errors).toEqual([failure])
})

test('a call over its time is aborted and ended, also when the action does not listen', async () => {
  let signal: AbortSignal | undefined
  const { done, packets } = newCall(
    { pause: (turn) => ((signal = turn.signal), new Promise(() => {})) },
    { timeoutMs: 5 },
  )
  expect((await done).result).toContain('took longer')
  expect(signal?.aborted).toBe(true)
  expect(packets).toEqual(['section_end'])
})

test('packets that are not a call’s to send are refused', async () => {
  const { PacketWriter } = await import('@inlay/agent/internal/packet-writer')
  const packetWriter = new PacketWriter({
    emit: () => {},
    modelIndex: 0,
    includeCitations: true,
    now: () => 0,
    startedAt: 0,
  })
  packetWriter.beginStep()
  const [writer] = packetWriter.openCalls(1, [{ position: 0, start: undefined }])
  expect(() => writer?.emit({ type: 'stop', stop_reason: null })).toThrow(/cannot send/)
  expect(() => writer?.emit({ type: 'section_end' })).toThrow(/cannot send/)
})
