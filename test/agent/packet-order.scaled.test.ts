import fc from '../fast-check.ts'
import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import type { ScriptPart } from '@inlay/agent/testing'
import { fold } from '@inlay/protocol'
import { cases } from '../cases.ts'
import { orderFaults } from './packet-order.ts'
import { newDatabase, newDoc, newPassage, newSetting, packetsOf, readAll } from './setting.ts'
import { scriptedAction } from './scripted-action.ts'

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const web = newDoc('law', { is_internet: true })
const actions = [
  scriptedAction({
    id: 2,
    name: 'web_search',
    builtIn: 'WebSearchTool',
    mergeArgument: 'queries',
    start: { type: 'search_tool_start', is_internet_search: true },
    packets: [{ type: 'search_tool_documents_delta', documents: [web] }],
    documents: [web],
    pause: nextTick,
  }),
  scriptedAction({
    id: 3,
    name: 'look',
    start: { type: 'custom_tool_start', tool_name: 'look', tool_id: 3 },
    packets: [
      {
        type: 'custom_tool_delta',
        tool_name: 'look',
        tool_id: 3,
        response_type: 'text',
        data: 'x',
        file_ids: null,
        error: null,
      },
    ],
  }),
  scriptedAction({
    id: 4,
    name: 'break',
    start: { type: 'custom_tool_start', tool_name: 'break', tool_id: 4 },
    fails: new Error('broken'),
    pause: nextTick,
  }),
]
const search = async () => {
  await nextTick()
  return [newPassage('leave', '28 days'), newPassage('carry', 'four')]
}

const pieces = [
  'Yes',
  ' ',
  '\n',
  '[',
  '1',
  ']',
  '[1]',
  ' [2].',
  '[101]',
  '[1, 2]',
  ' [9] ',
  '`[1]`',
  '```\n[1]\n```',
  '{"a"',
  '<func',
  '<function_calls>x</function_calls>',
  'five[2]',
  '.',
  '',
]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 })
const call = fc.record({
  name: fc.constantFrom('internal_search', 'internal_search', 'web_search', 'look', 'break', 'fly'),
  input: fc.constantFrom<unknown>({ queries: ['a'] }, { queries: ['a', 'b'] }, {}, '{"queries"', 7),
  pieces: fc.integer({ min: 1, max: 4 }),
})
const part: fc.Arbitrary<ScriptPart> = fc.oneof(
  { weight: 6, arbitrary: text.map((deltas): ScriptPart => ({ text: deltas })) },
  { weight: 3, arbitrary: text.map((deltas): ScriptPart => ({ reasoning: deltas })) },
  { weight: 4, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }).map((calls): ScriptPart => ({ calls })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ScriptPart>({ error: new Error('bad') }, { cut: new Error('cut') }, { finish: 'none' }),
  },
)
const script = fc.array(fc.array(part, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 7 })

test('any model, whatever it says and calls, is told in order; streamed, whole and stored answers are the same', async () => {
  const db = await newDatabase()
  await fc.assert(
    fc.asyncProperty(script, async (steps) => {
      const setting = await newSetting((_call, index) => steps[index] ?? ['The end.'], { db, search, actions })
      const run = await setting.send()
      const lines = await readAll(run)
      expect(orderFaults(lines)).toEqual([])
      const whole = await run.whole()
      const { tool_calls: calls, ...folded } = fold(lines)
      expect(whole).toMatchObject(folded)
      expect(whole.tool_calls).toHaveLength(calls.length)
      expect(calls).toHaveLength(packetsOf(lines).filter(({ obj }) => obj.type === 'section_end').length)
      const stored = await textOf(db, run.messageId)
      expect(stored).toEqual({ text: whole.answer, error: whole.error_msg })
      expect(setting.errors.filter((error) => !(error instanceof Error))).toEqual([])
    }),
    { numRuns: cases(100, 1_000) },
  )
  // Some ten seconds of work, more on a machine that does other things.
}, 600_000)

async function textOf(db: Kysely<unknown>, id: number): Promise<{ text: string; error: string | null }> {
  return db
    .withTables<ConversationTables>()
    .selectFrom('inlay_chat_messages')
    .select(['text', 'error'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}
