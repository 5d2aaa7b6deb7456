import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openScripted } from './chat-setting.ts'
import { apiKey } from './setting.ts'

const text = fc.oneof(fc.string(), fc.constantFrom('auto', 'none', 'text', 'json_schema', 'data:image/png;base64,?'))
const part = fc.record(
  { type: text, text: fc.option(text), image_url: fc.oneof(text, fc.record({ url: text })), file: fc.object() },
  { requiredKeys: [] },
)
const message = fc.record(
  {
    role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'x'),
    content: fc.oneof(text, fc.array(part, { maxLength: 3 }), fc.constant(null)),
    tool_call_id: text,
    tool_calls: fc.array(fc.record({ id: text, function: fc.record({ name: text, arguments: text }) }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: ['role'] },
)
const any = fc.jsonValue({ maxDepth: 3 })
const body = fc.record(
  {
    model: fc.constant('inlay'),
    messages: fc.oneof({ weight: 5, arbitrary: fc.array(message, { maxLength: 4 }) }, { weight: 1, arbitrary: any }),
    tools: any,
    tool_choice: fc.oneof(text, any),
    response_format: fc.oneof(fc.record({ type: text, json_schema: any }), any),
    stream: fc.boolean(),
    stop: any,
    temperature: any,
    metadata: any,
  },
  { requiredKeys: ['model'] },
)

test('no request makes the server fail', async () => {
  const { fetch } = await openScripted()
  await fc.assert(
    fc.asyncProperty(body, async (request) => {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(request) }
      const answer = await fetch('http://inlay.test/v1/chat/completions', init)
      const shown = await answer.text()
      expect(answer.status, shown).toBeLessThan(500)
      if (answer.status >= 400) expect(JSON.parse(shown)).toHaveProperty('error.message')
    }),
    { numRuns: 150 },
  )
})
