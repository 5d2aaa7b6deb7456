import { describe, expect, test } from 'vitest'
import { readTextCalls } from '@inlay/small-models/internal/repair/text-call-formats'
import { TextGate } from '@inlay/small-models/internal/repair/text-call-gate'
import { cpuMsOf } from '../../cpu-time.ts'
import { textCallsOfMakers } from '../../stand-in/text-calls.ts'

const names = new Set(['search', 'look'])
const markup =
  '<function_calls>\n<invoke name="search"><parameter name="queries">["a", "b"]</parameter><parameter name="note">x < y</parameter></invoke></function_calls>'

/** Output of a gate for a text that arrives in pieces of one length. */
function pass(text: string, size: number, mayRecover = true) {
  const gate = new TextGate({ names, mayRecover })
  let passed = ''
  for (let at = 0; at < text.length; at += size) passed += gate.push(text.slice(at, at + size))
  const { text: rest, calls } = gate.end()
  return { said: passed + rest, calls: calls.map(({ name, input }) => ({ name, input: JSON.parse(input) as unknown })) }
}

describe.each([1, 2, 7, 1_000])('in pieces of %i', (size) => {
  test('markup that makes no call is text', () => {
    for (const text of [
      `Let me look. ${markup} Done.`,
      'Open <function_calls> and never closed',
      '<function_calls>\nnever closed',
      '[TOOL_CALLS] is what Mistral writes.\nThen JSON.',
      'a <function or b < c',
      '<tool_response>{"name": "search", "arguments": {}}</tool_response>28 days.',
      `It is written so:\n\`\`\`xml\n${markup}\n\`\`\`\nin code, or ${markup} in a line.`,
      `~~~~\n~~~\n${markup}\n~~~~\n> \`\`\`\n${markup}`,
      `    ${markup}`,
      `${markup} is how it is written.`,
      'search(queries=["a"]) is how it is called.',
      '{"name": "search", "arguments": {}}, for example.',
    ])
      expect(pass(text, size)).toEqual({ said: text, calls: [] })
  })

  test('markup that is the only output becomes calls', () => {
    expect(pass(markup, size)).toEqual({
      said: '',
      calls: [{ name: 'search', input: { queries: ['a', 'b'], note: 'x < y' } }],
    })
  })

  test('JSON that names an action becomes a call, other JSON is an answer', () => {
    expect(pass('{"name": "look", "arguments": {"at": 1}}', size).calls).toEqual([{ name: 'look', input: { at: 1 } }])
    const example = 'So:\n```json\n{"tool": "look", "parameters": "{}"}\n```'
    for (const text of [example, example.slice(4)]) expect(pass(text, size)).toEqual({ said: text, calls: [] })
    expect(pass('{"name": "fly", "arguments": {}}', size)).toEqual({
      said: '{"name": "fly", "arguments": {}}',
      calls: [],
    })
    expect(pass('{"name": "look"} is how you call it', size).calls).toEqual([])
  })

  test('text before a call is shown, text behind it is not', () => {
    const { said, calls } = pass(`Let me look.\n${markup}\n<tool_response>28 days</tool_response>28 days.`, size)
    expect(said).toBe('Let me look.\n')
    expect(calls).toHaveLength(1)
  })

  test.each<[string, string]>([
    ['Hermes, Qwen', '<tool_call>\n{"name": "search", "arguments": {"queries": ["a b"]}}\n</tool_call>'],
    ['Hermes, not closed', '<tool_call>{"name": "search", "arguments": {"queries": ["a b"]}}'],
    ['arguments as text', '<tool_call>{"name": "search", "arguments": "{\\"queries\\": [\\"a b\\"]}"}</tool_call>'],
    [
      'Qwen coder',
      '<tool_call>\n<function=search>\n<parameter=queries>\n["a b"]\n</parameter>\n</function>\n</tool_call>',
    ],
    ['Llama, JSON', '<|python_tag|>{"name": "search", "parameters": {"queries": ["a b"]}}<|eom_id|>'],
    ['Llama, a call', '<|python_tag|>search.call(queries=["a b"])'],
    ['Llama, a function', '<function=search>{"queries": ["a b"]}</function>'],
    ['Mistral', '[TOOL_CALLS][{"name": "search", "arguments": {"queries": ["a b"]}, "id": "x"}]'],
    ['Mistral, newer', '[TOOL_CALLS]search[ARGS]{"queries": ["a b"]}'],
    ['Phi, Granite', '<|tool_call|>[{"name": "search", "arguments": {"queries": ["a b"]}}]<|/tool_call|>'],
    [
      'DeepSeek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"queries": ["a b"]}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      'Kimi',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"queries": ["a b"]}<|tool_call_end|><|tool_calls_section_end|>',
    ],
    ['pythonic', '[search(queries=["a b"])]'],
    ['pythonic, bare', "search(queries=['a b'])"],
    [
      'OpenAI as text',
      '{"type": "function", "function": {"name": "search", "arguments": "{\\"queries\\": [\\"a b\\"]}"}}',
    ],
    ['a list', '[{"name": "search", "arguments": {"queries": ["a b"]}}]'],
    ['a prefix', '{"name": "functions.search", "arguments": {"queries": ["a b"]}}'],
    ['JSON behind a thought', 'Thought: I have to look.\n{"name": "search", "arguments": {"queries": ["a b"]}}'],
    ['ReAct', 'I should look.\n{"action": "search", "action_input": {"queries": ["a b"]}}'],
    ['the name as a key', '{"search": {"queries": ["a b"]}}'],
  ])('%s', (_name, text) => {
    const { said, calls } = pass(text, size)
    expect(calls).toEqual([{ name: 'search', input: { queries: ['a b'] } }])
    expect(said).toBe(/^[A-Z].*\n/.exec(text)?.[0] ?? '')
  })

  // Thoughts are taken out before.
  test.each(textCallsOfMakers('search', 'queries', '["a b"]').filter(([, text]) => !text.includes('analysis')))(
    'as the makers of a model have it: %s',
    (_name, text) => {
      expect(pass(text, size)).toEqual({ said: '', calls: [{ name: 'search', input: { queries: ['a b'] } }] })
    },
  )

  test('signs of templates around an answer are not shown, those within it are', () => {
    expect(pass('<answer>\nYes.\n</answer><|im_end|>', size).said.trim()).toBe('Yes.')
    expect(pass('<answer>Yes.</answer> Sources: 1', size).said).toBe('Yes. Sources: 1')
    const example = `So:\n\`\`\`\n<answer>4</answer>\n\`\`\`\nIt ${'goes on '.repeat(12)}.`
    expect(pass(`<answer>\n${example}`, size).said).toBe(example)
    expect(pass('<answer>42</answer> is the tag.', size).said).toBe('<answer>42</answer> is the tag.')
    expect(pass('<|start|>assistant<|channel|>final<|message|>Yes.<|return|>', size).said).toBe('Yes.')
    expect(pass('A turn ends with <|im_end|> there, as </s> did.', size).said).toBe(
      'A turn ends with <|im_end|> there, as </s> did.',
    )
  })

  test('signs that close what the answer shows belong to it', () => {
    for (const text of ['Strike it out: <s>old</s>', 'It says:\n<response>ok</response>', 'As <answer>4</answer>'])
      expect(pass(text, size).said).toBe(text)
  })

  test('a call that was cut is none, however well its brackets could be closed', () => {
    const call = '<tool_call>{"name": "search", "arguments": {"queries": ["a"'
    expect(pass(call, size)).toEqual({ said: call, calls: [] })
    expect(pass(`${call}]}</tool_call>`, size).calls).toEqual([{ name: 'search', input: { queries: ['a'] } }])
  })

  test('a call between the tags of tools is one, their descriptions are none', () => {
    const call = '{"name": "search", "arguments": {"queries": ["a"]}}'
    expect(pass(`<tools>${call}</tools>`, size).calls).toEqual([{ name: 'search', input: { queries: ['a'] } }])
    const tool = '{"name": "search", "parameters": {"properties": {"arguments": {"type": "string"}}}}'
    expect(pass(`<tools>${tool}</tools>`, size).calls).toEqual([])
  })

  test('a call of a tool that is not offered is text', () => {
    const call = '<tool_call>{"name": "fly", "arguments": {}}</tool_call>'
    for (const text of [call, `Such a call, ${call}, is sent.`, `Such a call:\n\`\`\`xml\n${call}\n\`\`\`\nis sent.`])
      expect(pass(text, size)).toEqual({ said: text, calls: [] })
  })

  test('several calls, one behind the other', () => {
    const two =
      '<tool_call>{"name": "search", "arguments": {}}</tool_call>\n<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    expect(pass(two, size).calls.map(({ name }) => name)).toEqual(['search', 'look'])
    expect(pass('[search(a=1), look(b=True)]', size).calls).toEqual([
      { name: 'search', input: { a: 1 } },
      { name: 'look', input: { b: true } },
    ])
  })

  test.each([
    'As [1] and [2, 3] say, {braces} are fine.',
    '[1] says so.\n[A link](https://x.example) too.',
    '```json\n{"name": "Ana", "days": 28}\n```\nThat is the record.',
    '```ts\nconst f = () => {\n  return [1]\n}\n```\nDone.',
    'search is a word, and look(ing) too.\nlook: here',
    '{"answer": 42}',
    'a\n\n{ not json }\n[ nor this',
  ])('an answer stays as it is: %j', (text) => {
    expect(pass(text, size)).toEqual({ said: text, calls: [] })
  })

  test('nothing is recovered when it may not be', () => {
    expect(pass(markup, size, false)).toEqual({ said: markup, calls: [] })
    expect(pass('{"name": "look"}', size, false)).toEqual({ said: '{"name": "look"}', calls: [] })
  })
})

test('text that cannot become a call is told at once', () => {
  const gate = new TextGate({ names, mayRecover: true })
  expect(gate.push('Hello ')).toBe('Hello ')
  expect(gate.push('wor<')).toBe('wor')
  expect(gate.push('b>')).toBe('<b>')
})

test('a long answer that begins with a brace is told in the end', () => {
  const gate = new TextGate({ names, mayRecover: true })
  const text = `{"note": "${'x'.repeat(20_000)}`
  expect(gate.push(text.slice(0, 100))).toBe('')
  expect(gate.push(text.slice(100)) + gate.end().text).toBe(text)
})

test('thoughts may hold a call too', () => {
  expect(readTextCalls(markup, names)).toHaveLength(1)
  expect(readTextCalls('I should search.', names)).toEqual([])
})

test.each([
  ['brackets', '['.repeat(8_000)],
  ['brackets in markup', `<tool_call>${'['.repeat(10_000)}</tool_call>`],
  ['a long word in markup', `<tool_call>${'a'.repeat(40_000)}</tool_call>`],
  ['tags that never end', '<function='.repeat(20_000)],
  ['spaces in markup', `<tool_call>${' '.repeat(100_000)}x</tool_call>`],
  ['one sign after the other', '<|message|>'.repeat(20_000)],
  ['ends of turns', '</s>'.repeat(20_000)],
  ['markup on every line', '<tool_call>\n{"search": [1,\n'.repeat(4_000)],
  ['backticks on every line', '``` `\n` ``\n'.repeat(10_000)],
])('a model gone astray fails nothing and holds nobody up: %s', async (_, text) => {
  const read = (): void => {
    const gate = new TextGate({ names, mayRecover: true })
    const said = gate.push(text) + gate.end().text
    expect(said).toBe(text === '</s>'.repeat(20_000) ? '' : text)
    expect(readTextCalls(text, names)).toEqual([])
  }
  expect(await cpuMsOf(read)).toBeLessThan(5_000)
})

test('a long call written as Python is read piece by piece', async () => {
  const queries = Array.from({ length: 1_000 }, (_, at) => `(${at})`).join(' ')
  const whole = { said: '', calls: [{ name: 'search', input: { queries } }] }
  const read = (): void => expect(pass(`search(queries="${queries}")`, 1)).toEqual(whole)
  expect(await cpuMsOf(read)).toBeLessThan(5_000)
})
