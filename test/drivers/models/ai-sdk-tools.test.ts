import type { ActionTurn, HostAction } from '@inlay/agent'
import { aiSdkTools } from '@inlay/drivers/ai-sdk-tools'
import * as v from 'valibot'
import { toJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema'
import { jsonSchema, tool, zodSchema } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'

const turn: ActionTurn = {
  caller: { id: 'ana', scopes: ['chat'] },
  sessionId: 's',
  messageId: 7,
  userMessage: 'And tomorrow?',
  messages: [{ role: 'user', text: 'How is the weather?' }],
  toolCallId: 'c1',
  signal: new AbortController().signal,
  emit: () => {},
  cite: () => [],
}
const first = (tools: Parameters<typeof aiSdkTools>[0]): HostAction => {
  const [action] = aiSdkTools(tools)
  if (action === undefined) throw new Error('no action was made')
  return action
}
const run = async (action: HostAction, input: unknown): Promise<string> => (await action.run(input, turn)).text

const input: Extract<Parameters<typeof jsonSchema>[0], { type?: unknown }> = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
}
const fields = v.object({ city: v.string() })

test.each([
  ['zod', z.object({ city: z.string() })],
  ['zod, wrapped', zodSchema(z.object({ city: z.string() }))],
  ['valibot', toStandardJsonSchema(fields)],
  [
    'valibot through jsonSchema()',
    jsonSchema<{ city: string }>(input, {
      validate: (value) => {
        const result = v.safeParse(fields, value)
        return result.success
          ? { success: true, value: result.output }
          : { success: false, error: new Error(result.issues[0].message) }
      },
    }),
  ],
  ['a lazy schema', () => jsonSchema<{ city: string }>(() => ({ ...toJsonSchema(fields), type: 'object' }))],
])('the arguments are described and checked by the schema of the tool: %s', async (name, inputSchema) => {
  const weather = tool({ description: 'The weather.', inputSchema, execute: async ({ city }) => `Rain in ${city}` })
  const action = first({ weather })
  expect(action).toMatchObject({ name: 'weather', description: 'The weather.' })
  const { jsonSchema: described, validate } = action.input['~standard']
  expect(described.input({ target: 'draft-07' })).toMatchObject(input)
  expect(await validate({ city: 'Riga' })).toMatchObject({ value: { city: 'Riga' } })
  if (name !== 'a lazy schema') expect((await validate({})).issues).toHaveLength(1)
  expect(await run(action, { city: 'Riga' })).toBe('Rain in Riga')
})

test('a tool gets its call, the conversation, the caller and the abort signal', async () => {
  let seen: unknown
  const look = tool({ inputSchema: z.object({}), execute: (_, options) => void (seen = options) })
  await run(first({ look }), {})
  expect(seen).toEqual({
    toolCallId: 'c1',
    messages: [
      { role: 'user', content: 'How is the weather?' },
      { role: 'user', content: 'And tomorrow?' },
    ],
    abortSignal: turn.signal,
    context: { caller: turn.caller, sessionId: 's', messageId: 7 },
    experimental_context: { caller: turn.caller, sessionId: 's', messageId: 7 },
  })
})

test('the model reads the output, as the tool says it', async () => {
  const inputSchema = z.object({})
  const data = tool({ inputSchema, execute: () => ({ degrees: 3 }) })
  const worded = tool({ inputSchema, execute: () => 3, toModelOutput: () => ({ type: 'text', value: 'three' }) })
  const steps = tool({
    inputSchema,
    async *execute() {
      yield 'loading'
      yield 'done'
    },
  })
  const parts = tool({
    inputSchema,
    execute: () => 1,
    toModelOutput: () => ({
      type: 'content',
      value: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    }),
  })
  const texts = await Promise.all([data, worded, steps, parts].map((each) => run(first({ each }), {})))
  expect(texts).toEqual(['{"degrees":3}', 'three', 'done', 'one\ntwo'])
  const failing = tool({ inputSchema, execute: () => 1, toModelOutput: () => ({ type: 'error-text', value: 'No.' }) })
  await expect(run(first({ failing }), {})).rejects.toThrow('No.')
})

test.each([
  { type: 'text', text: 'hello' },
  { type: 'error-text', value: 'a line of a log' },
  { type: 'json', value: 1 },
])('an output that looks like a model output is data: %j', async (output) => {
  const inputSchema = z.object({})
  expect(await run(first({ data: tool({ inputSchema, execute: () => output }) }), {})).toBe(JSON.stringify(output))
})

test('tools that cannot run here are refused by name', () => {
  const inputSchema = z.object({})
  const execute = (): string => ''
  const refusal = (given: Parameters<typeof aiSdkTools>[0]['x']) => () => aiSdkTools({ remove: given })
  expect(refusal({ inputSchema })).toThrow(/tool remove has no execute/)
  expect(refusal({ inputSchema: fields, execute })).toThrow(/schema of the tool remove gives no JSON Schema/)
  expect(refusal({ inputSchema: jsonSchema(Promise.resolve(input)), execute })).toThrow(/gives no JSON Schema/)
})

test('a tool that needs approval says so by its arguments', async () => {
  const inputSchema = z.object({ page: z.number() })
  const execute = (): string => ''
  const needsApproval = async ({ page }: { page: number }): Promise<boolean> => page > 1
  const [always, never, byInput] = aiSdkTools({
    always: { inputSchema, execute, needsApproval: true },
    never: { inputSchema, execute },
    byInput: { inputSchema, execute, needsApproval },
  }).map((action) => action.needsApproval)
  expect([always, never]).toEqual([true, false])
  const asks = byInput as (input: unknown) => Promise<boolean>
  expect([await asks({ page: 1 }), await asks({ page: 2 })]).toEqual([false, true])
})
