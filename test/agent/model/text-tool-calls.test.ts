import { describe, expect, test } from 'vitest'
import { createTextGate, readTextCalls } from '@inlay/agent/internal/model/text-tool-calls'

const names = new Set(['search', 'look'])
const markup =
  '<function_calls>\n<invoke name="search"><parameter name="queries">["a", "b"]</parameter><parameter name="note">x < y</parameter></invoke></function_calls>'

/** What a gate tells of a text that comes in pieces of one length. */
function pass(text: string, size: number, mayRecover = true) {
  const gate = createTextGate({ names, mayRecover })
  let told = ''
  for (let at = 0; at < text.length; at += size) told += gate.push(text.slice(at, at + size))
  const { text: rest, calls } = gate.end()
  return { told: told + rest, calls: calls.map(({ name, input }) => ({ name, input: JSON.parse(input) as unknown })) }
}

describe.each([1, 2, 7, 1_000])('in pieces of %i', (size) => {
  test('markup never reaches the answer, the text around it does', () => {
    expect(pass(`Let me look. ${markup} Done.`, size)).toEqual({ told: 'Let me look.  Done.', calls: [] })
    expect(pass('Open <function_calls> and never closed', size).told).toBe('Open ')
    expect(pass('a <function or b < c', size).told).toBe('a <function or b < c')
  })

  test('markup that is the only output becomes calls', () => {
    expect(pass(markup, size)).toEqual({
      told: '',
      calls: [{ name: 'search', input: { queries: ['a', 'b'], note: 'x < y' } }],
    })
  })

  test('JSON that names an action becomes a call, other JSON is an answer', () => {
    expect(pass('{"name": "look", "arguments": {"at": 1}}', size).calls).toEqual([{ name: 'look', input: { at: 1 } }])
    expect(pass('```json\n{"tool": "look", "parameters": "{}"}\n```', size).calls).toEqual([
      { name: 'look', input: {} },
    ])
    expect(pass('{"name": "fly", "arguments": {}}', size)).toEqual({
      told: '{"name": "fly", "arguments": {}}',
      calls: [],
    })
    expect(pass('{"name": "look"} is how you call it', size).calls).toEqual([])
  })

  test('nothing is recovered when it may not be', () => {
    expect(pass(markup, size, false)).toEqual({ told: '', calls: [] })
    expect(pass('{"name": "look"}', size, false)).toEqual({ told: '{"name": "look"}', calls: [] })
  })
})

test('text that cannot become a call is told at once', () => {
  const gate = createTextGate({ names, mayRecover: true })
  expect(gate.push('Hello ')).toBe('Hello ')
  expect(gate.push('wor<')).toBe('wor')
  expect(gate.push('b>')).toBe('<b>')
})

test('a long answer that begins with a brace is told in the end', () => {
  const gate = createTextGate({ names, mayRecover: true })
  const text = `{${'x'.repeat(20_000)}`
  expect(gate.push(text.slice(0, 100))).toBe('')
  expect(gate.push(text.slice(100)) + gate.end().text).toBe(text)
})

test('thoughts may hold a call too', () => {
  expect(readTextCalls(markup, names)).toHaveLength(1)
  expect(readTextCalls('I should search.', names)).toEqual([])
})
