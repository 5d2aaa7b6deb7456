import { describe, expect, test } from 'vitest'
import { OutputRepair } from '@inlay/small-models/internal/repair/output-repair'
import { callMarkups, endSigns, startSigns } from '@inlay/small-models/internal/repair/text-call-formats'
import { cases } from '../../cases.ts'
import { cpuMsOf } from '../../cpu-time.ts'
import fc from '../../fast-check.ts'
import { textCallsOfMakers } from '../../stand-in/text-calls.ts'

const tools = [{ type: 'function' as const, name: 'search', inputSchema: {} }]
const call = '{"name": "search", "arguments": {"queries": ["a"]}}'

/** What a reader gets of a text that comes in pieces of one length, with the pieces. */
function repair(text: string, size: number) {
  const shown: string[] = []
  let reasoning = ''
  const output = new OutputRepair(
    {},
    { tools, prompt: [] },
    {
      onText: (piece) => void shown.push(piece),
      onReasoning: (piece) => void (reasoning += piece),
    },
  )
  for (let at = 0; at < text.length; at += size) output.onText(text.slice(at, at + size))
  return { calls: output.end(), said: shown.join(''), reasoning, pieces: shown }
}

const otherTags =
  '<think> </think> <thinking> </thinking> <thought> [THINK] [/THINK] ◁think▷ ◁/think▷ <seed:think> <|START_THINKING|> ' +
  '<|END_THINKING|> <|channel>thought <channel|> [ARGS] <invoke> <|channel|>analysis<|message|> <|message|> <|call|> ' +
  '<|return|> <|end|> <parameter=a> assistantfinal functools[ <arg_key> { [ [1]'
const tags = [
  '<invoke name="fly">',
  '{"a": 1}',
  'Action: search',
  ...otherTags.split(' '),
  ...callMarkups.flatMap(({ opening, closings }) => [opening, ...closings]).filter((sign) => !sign.includes('`')),
  ...endSigns.filter((sign) => !/answer|response|s>/.test(sign)),
  ...Object.keys(startSigns).filter((sign) => sign.startsWith('<|')),
]
const anyTag = fc.constantFrom(...tags)
const anyCall = fc.constantFrom(
  `<tool_call>${call}</tool_call>`,
  `[TOOL_CALLS][${call}]`,
  call,
  ...textCallsOfMakers('search', 'queries', '["a"]').flatMap(([, text]) => (text.includes('```') ? [] : [text])),
)
const inFence = fc.oneof(anyCall, anyTag).map((text) => `\n\`\`\`json\n${text}\n\`\`\`\n`)
const inTildes = fc.oneof(anyCall, anyTag).map((text) => `\n~~~~\n\`\`\`\n${text}\n~~~~\n`)
const inLine = anyTag.map((text) => ` \`${text}\` `)
const strange = anyTag.map((tag) => `\n${tag}{"name": "fly", "arguments": {"a": "b"}}\n`)
const part = fc.oneof(
  anyTag,
  fc.constantFrom(' is a tag', '. ', '\n', '\n\n', ' ', 'Days', ', '),
  inFence,
  inTildes,
  inLine,
  strange,
)
const anyText = fc.array(part, { maxLength: 12 }).map((parts) => `It ${parts.join('')} so.`)

test('a text with no leading thought and no call arrives as it was written, however it is cut', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 8 }), (text, size) => {
      const { said, calls, reasoning } = repair(text, size < 8 ? size : text.length)
      expect({ said, calls, reasoning }).toEqual({ said: text, calls: [], reasoning: '' })
    }),
    { numRuns: cases(400, 2_000) },
  )
})

test.each(['``` json', '```{.json}'])(
  'a call within code is no call, also behind a line of the code such as %s',
  (line) => {
    const text = `\`\`\`md\n${line}\n${call}\n\`\`\`\n\`\`\`\n`
    for (const size of [1, 7, text.length]) expect(repair(text, size)).toMatchObject({ calls: [], said: text })
  },
)

test('any text gives the same output whole and in pieces', () => {
  const parts = fc.array(
    fc.oneof(
      part,
      anyCall.map((text) => `\n${text}\n`),
    ),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 7 }), (written, size) => {
      const text = written.join('')
      const [whole, cut] = [repair(text, text.length || 1), repair(text, size)]
      expect({ ...cut, pieces: [] }).toEqual({ ...whole, pieces: [] })
    }),
    { numRuns: cases(400, 2_000) },
  )
})

describe('prose about tags', () => {
  test('is held no longer than a tag is long', () => {
    const { pieces } = repair('Qwen3 writes <think> first.\nThen [TOOL_CALLS], as <tool_call> elsewhere.', 1)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(12)
  })

  const signs = [
    '\n<tool_call>search\n',
    '<think>',
    '</think>',
    '\n</think>',
    '`</think>`',
    '\n[TOOL_CALLS] is\n',
    '\n{"search": [',
  ]
  test.each(cases(signs.slice(0, 1), signs))('costs linear time: %j', async (sign) => {
    const tookFor = (count: number) => cpuMsOf(() => repair(`It ${sign.repeat(count)}`, 7))
    const [half, whole] = [await tookFor(10_000), await tookFor(20_000)]
    expect(whole, `${half} ms for half of it`).toBeLessThan(Math.max(3_000, 3 * half))
  })
})
