import { defineAction } from 'inlay'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { newToolSetting, toolsOf, type Body, type ForeignTool, type SentTool } from './tool-setting.ts'

const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }
const hasResult = (body: object): boolean => JSON.stringify(body).includes('"role":"tool"')

test('a tool of an MCP server gets its arguments in the types that it declares', async () => {
  const { ask, called } = await newToolSetting(() => undefined, {
    tools: [{ name: 'add', description: 'Adds.', inputSchema: numbers }],
    answer: (body) =>
      hasResult(body) ? [{ text: '5' }] : [{ calls: [{ id: 'c1', name: 'add', input: { a: '2', b: '3' } }] }],
  })
  expect((await ask('What is 2 + 3?')).tool_calls).toMatchObject([{ tool_arguments: { a: 2, b: 3 } }])
  expect(called).toMatchObject([{ name: 'add', arguments: { a: 2, b: 3 } }])
})

test('a tool gets its optional arguments under the names that it declares', async () => {
  const inputSchema = {
    type: 'object',
    properties: { table: { type: 'string' }, $filter: { type: 'string' } },
    required: ['table'],
  }
  const { ask, called } = await newToolSetting(() => undefined, {
    tools: [{ name: 'rows', description: 'Lists rows.', inputSchema }],
    answer: (body) =>
      hasResult(body)
        ? [{ text: 'Two.' }]
        : [{ calls: [{ id: 'c1', name: 'rows', input: { table: 'users', _filter: 'age gt 5' } }] }],
  })
  const given = { table: 'users', $filter: 'age gt 5' }
  expect((await ask('Which users?')).tool_calls).toMatchObject([{ tool_arguments: given }])
  expect(called).toMatchObject([{ name: 'rows', arguments: given }])
})

test('a tool whose schema is a reference shows its arguments, and gets them in their types', async () => {
  const node = {
    type: 'object',
    properties: { size: { type: 'integer' }, next: { $ref: '#/$defs/node' } },
    required: ['size'],
  }
  const { ask, called, requests } = await newToolSetting(() => undefined, {
    tools: [{ name: 'add', description: 'Adds.', inputSchema: { $ref: '#/$defs/node', $defs: { node } } }],
    answer: (body) =>
      hasResult(body)
        ? [{ text: '5' }]
        : [{ calls: [{ id: 'c1', name: 'add', input: { size: '2', next: '{"size":"3"}' } }] }],
  })
  await ask('What is 2 + 3?')
  expect(called).toMatchObject([{ name: 'add', arguments: { size: 2, next: { size: 3 } } }])
  expect(toolsOf(requests[0]?.body ?? {}).find(({ name }) => name === 'add')?.schema).toMatchObject({
    ...node,
    $defs: { node },
  })
})

test('a tool whose arguments cannot be understood says so by their path, and the server is not called', async () => {
  const { ask, called, requests } = await newToolSetting(() => undefined, {
    tools: [{ name: 'add', description: 'Adds.', inputSchema: numbers }],
    answer: (body) =>
      hasResult(body) ? [{ text: 'No.' }] : [{ calls: [{ id: 'c1', name: 'add', input: { a: 'two' } }] }],
  })
  await ask('What is 2 + 3?')
  expect(called).toEqual([])
  const lastRequest = JSON.stringify(requests.at(-1)?.body)
  expect(lastRequest).toContain('b: is required; a: must be a number')
  expect(toolsOf(requests[0]?.body ?? {}).map(({ name }) => name)).toContain('lookup')
})

const anyOf = {
  type: 'object',
  properties: { id: { type: 'string' }, name: { type: 'string' } },
  anyOf: [{ required: ['id'] }, { required: ['name'] }],
}
const odd = (inputSchema: object): ForeignTool => ({ name: 'odd', description: 'Does something odd.', inputSchema })
const find = (body: Body, what: (tool: SentTool) => boolean): SentTool | undefined => toolsOf(body).find(what)
const indexOf = (body: Body, name: string): number => toolsOf(body).findIndex((tool) => tool.name === name)
const says = ({ schema }: SentTool, key: string): boolean => JSON.stringify(schema).includes(`"${key}"`)
const isTopUnion = ({ schema }: SentTool): boolean =>
  ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].some((key) => key in schema)

/** A refusal of the tools that a rule is about, in the words of a provider. */
type Refuser = (body: Body) => string | object | undefined

const openAiTop: Refuser = (body) => {
  const tool = find(body, isTopUnion)
  return (
    tool &&
    `Invalid schema for function '${tool.name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`
  )
}
const missingItems: Refuser = (body) => {
  const tool = find(body, ({ schema }) => JSON.stringify(schema).includes('{"type":"array"}'))
  return (
    tool && `Invalid schema for function '${tool.name}': In context=('properties', 'ids'), array schema missing items.`
  )
}
const anthropicTop: Refuser = (body) => {
  const at = toolsOf(body).findIndex(isTopUnion)
  const message = `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
  return at < 0 ? undefined : { type: 'error', error: { type: 'invalid_request_error', message } }
}
const geminiKeyword: Refuser = (body) =>
  find(body, (tool) => says(tool, 'exclusiveMinimum')) && [
    {
      error: {
        code: 400,
        message: `Invalid JSON payload received. Unknown name "exclusiveMinimum" at 'request.tools[0]…': Cannot find field.`,
      },
    },
  ]
const geminiEnum: Refuser = (body) => {
  const at = toolsOf(body).findIndex(({ schema }) => /"enum":\[\d/.test(JSON.stringify(schema)))
  const message = `Invalid value at 'request.tools[0].function_declarations[${at}].parameters.properties[0].value.enum[0]' (TYPE_STRING), 1`
  return at < 0 ? undefined : [{ error: { code: 400, message } }]
}
const bedrock: Refuser = (body) => {
  const at = toolsOf(body).findIndex((tool) => says(tool, 'patternProperties'))
  return at < 0 ? undefined : { message: `The value at toolConfig.tools.${at}.toolSpec.inputSchema.json is not valid.` }
}
const groq: Refuser = (body) => {
  const tool = find(body, (each) => says(each, 'if'))
  const place = `tools[${tool ? indexOf(body, tool.name) : 0}].function.parameters`
  return tool && `invalid JSON schema for tool ${tool.name}, ${place}: conditions are no schemas here`
}
const mistral: Refuser = (body) => {
  const tool = find(body, (each) => says(each, 'prefixItems'))
  return (
    tool && {
      object: 'error',
      message: `Invalid tool schema: ${JSON.stringify(tool.schema).replaceAll('"', "'").replaceAll(',', ', ')} is not valid under any of the given schemas`,
    }
  )
}
const llamaCpp: Refuser = (body) =>
  find(body, (tool) => says(tool, 'not')) && 'JSON schema conversion failed:\nUnrecognized schema: {"not":{}}'
const ollama: Refuser = (body) =>
  find(body, ({ schema }) => Object.values(Object(schema['properties'])).includes(true)) &&
  'json: cannot unmarshal bool into Go struct field ToolFunctionParameters.tools.function.parameters.properties of type api.ToolProperty'
const never: Refuser = (body) => {
  const at = indexOf(body, 'odd')
  return at < 0 ? undefined : `Invalid value for 'tools[${at}].function.parameters': not today.`
}
const longDescription: Refuser = (body) => {
  const at = toolsOf(body).findIndex(({ description }) => description.length > 1024)
  const { length } = toolsOf(body)[at]?.description ?? ''
  const message = `Invalid 'tools[${at}].function.description': string too long. Expected a string with maximum length 1024, but got a string with length ${length} instead.`
  return at < 0 ? undefined : { error: { message, type: 'invalid_request_error', code: 'string_above_max_length' } }
}

const noAllOf: Refuser = (body) => {
  const tool = find(body, (each) => says(each, 'allOf'))
  return (
    tool && `Invalid schema for function '${tool.name}': In context=('properties', 'data'), 'allOf' is not permitted.`
  )
}
const manyChoices: Refuser = (body) => {
  const tool = find(body, ({ schema }) => JSON.stringify(schema).length > 4_000)
  return tool && `Invalid schema for function '${tool.name}': enum has too many values. Expected at most 500 values.`
}
const parts = { allOf: [{ type: 'object', properties: { deep: { type: 'integer' } } }] }

const properties = (schema: object): object => ({ type: 'object', properties: schema })
const cases: [name: string, refuses: Refuser, tool: ForeignTool, api?: 'anthropic'][] = [
  ['a union at the top, as OpenAI', openAiTop, odd(anyOf)],
  ['a choice at the top, as OpenAI', openAiTop, odd({ ...anyOf, anyOf: undefined, oneOf: anyOf.anyOf })],
  ['lists without items, as OpenAI', missingItems, odd(properties({ ids: { type: 'array' } }))],
  ['a union at the top, as Anthropic', anthropicTop, odd(anyOf), 'anthropic'],
  ['a keyword, as Gemini', geminiKeyword, odd(properties({ n: { type: 'number', exclusiveMinimum: 0 } }))],
  ['choices of numbers, as Gemini', geminiEnum, odd(properties({ n: { type: 'integer', enum: [1, 2] } }))],
  ['a schema by its place, as Bedrock', bedrock, odd(properties({ n: { type: 'object', patternProperties: {} } }))],
  ['a schema by its name, as Groq', groq, odd({ ...properties({}), if: { required: ['a'] } })],
  [
    'a schema that it shows, as Mistral',
    mistral,
    odd(properties({ p: { type: 'array', prefixItems: [{ type: 'number' }] } })),
  ],
  [
    'a schema that it shows, as llama.cpp',
    llamaCpp,
    odd(properties({ p: { anyOf: [{ not: {} }, { type: 'string' }] } })),
  ],
  ['parts of schemas, as OpenAI', noAllOf, odd(properties({ data: parts }))],
  [
    'many choices',
    manyChoices,
    odd(properties({ n: { enum: Array.from({ length: 600 }, (_, at) => `choice ${at}`) } })),
  ],
  ['a schema that is true, as Ollama', ollama, odd(properties({ p: true }))],
  ['a long description', longDescription, { ...odd(properties({})), description: 'word '.repeat(360) }],
]

describe('a server that refuses', () => {
  test.each(cases)('%s answers all the same, and the other tools stay as they are', async (_, refuses, tool, api) => {
    const setting = await newToolSetting(refuses, { tools: [tool], ...(api && { api }) })
    const { ask, notices, requests } = setting
    const fine = { answer: expect.stringContaining('Meyer is a customer.') as string, error_msg: null }
    const first = await ask('What do we know about Meyer?')
    expect(first).toMatchObject(fine)
    expect(await ask('And what else?', { chat_session_id: first.chat_session_id })).toMatchObject(fine)
    const answered = requests.filter(({ body }) => refuses(body) === undefined)
    // Refused only until it is known.
    expect(requests.length - answered.length).toBeLessThanOrEqual(2)
    for (const { body } of answered) {
      const tools = toolsOf(body)
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['open_url', 'lookup', 'odd']))
      expect(tools.find(({ name }) => name === 'lookup')).toMatchObject({
        description: 'Looks up a customer.',
        schema: { properties: { q: { type: 'string', default: 'all', format: 'email' } }, required: ['q'] },
      })
    }
    expect(JSON.stringify(answered.at(-1)?.body)).toContain('What do we know about Meyer?')
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('odd')
  })

  test('one tool in any form loses that tool alone, which the operator reads once', async () => {
    const { ask, inlay, notices, requests } = await newToolSetting(never, { tools: [odd(anyOf)] })
    for (const question of ['What do we know about Meyer?', 'And what else?'])
      expect(await ask(question)).toMatchObject({ answer: expect.stringContaining('Meyer') as string, error_msg: null })
    expect(toolsOf(requests.at(-1)?.body ?? {}).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['open_url', 'lookup']),
    )
    expect(requests.filter(({ body }) => never(body) !== undefined)).toHaveLength(2)
    expect(notices.filter((notice) => notice.includes('the tool odd'))).toHaveLength(2)
    const headers = { authorization: 'Bearer the-key-of-the-test' }
    const page = await inlay.fetch(new Request('http://host.example/api/service-api/notices', { headers }))
    expect(await page.text()).toMatch(/custom\/m: its server refuses the tool odd; .*"code":"model_refusal"/)
  })

  test('a tool of a hundred by its place has the others as they are', async () => {
    const many = Array.from({ length: 30 }, (_, at) => ({
      name: `tool_${at}`,
      description: `Tool ${at}.`,
      inputSchema: anyOf,
    }))
    const { ask, requests } = await newToolSetting(openAiTop, { tools: many })
    expect(await ask('What do we know about Meyer?')).toMatchObject({ error_msg: null })
    expect(requests.length).toBeLessThanOrEqual(3)
    expect(toolsOf(requests.at(-1)?.body ?? {}).length).toBeGreaterThan(30)
  })
})

describe('of more tools than a server takes', () => {
  const weather = { name: 'weather_of_a_town', description: 'Tells the weather of a town.', inputSchema: numbers }
  const many = [
    ...Array.from({ length: 140 }, (_, at) => ({
      name: `unit_${at}`,
      description: `Converts unit ${at}.`,
      inputSchema: numbers,
    })),
    weather,
  ]
  const tooMany: Refuser = (body) => {
    const { length } = toolsOf(body)
    return length <= 128
      ? undefined
      : `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${length} instead.`
  }

  test.each(['m', 'gpt-5'])('those of Inlay and those that the question is about are offered: %s', async (model) => {
    const { ask, notices, requests } = await newToolSetting(tooMany, { tools: many, model })
    expect(await ask('How is the weather in Oslo?')).toMatchObject({ error_msg: null })
    const body = requests.at(-1)?.body ?? {}
    const names = toolsOf(body).map(({ name }) => name)
    expect(names).toHaveLength(128)
    expect(names).toEqual(expect.arrayContaining(['open_url', weather.name]))
    expect(requests.filter((request) => tooMany(request.body) !== undefined)).toHaveLength(model === 'm' ? 1 : 0)
    expect(notices).toEqual([expect.stringContaining('more than 128 tools')])
    expect(JSON.stringify(body['messages'])).toMatch(/This model takes 128 tools at most\. \d+ are not offered/)
    await ask('How is the weather in Oslo?')
    expect(toolsOf(requests.at(-1)?.body ?? {}).map(({ name }) => name)).toEqual(names)
    expect(notices).toHaveLength(1)
  })

  test('the same are offered through an answer, whatever is said to the model after the question', async () => {
    const { ask, requests } = await newToolSetting(tooMany, {
      tools: many,
      model: 'gpt-5',
      answer: (body) => {
        if (!hasResult(body)) return [{ calls: [{ id: 'c1', name: 'lookup', input: { q: 'Oslo' } }] }]
        return JSON.stringify(body).includes('Please continue.') ? [{ text: 'Rain.' }] : []
      },
    })
    expect(await ask('How is the weather in Oslo?')).toMatchObject({ answer: 'Rain.' })
    expect(JSON.stringify(requests.at(-1)?.body)).toContain('Please continue.')
    const offered = requests.map(({ body }) => toolsOf(body).map(({ name }) => name))
    expect(offered[0]).toContain(weather.name)
    for (const names of offered) expect(names).toEqual(offered[0])
  })
})

test('JSON in texts is read where a tool takes anything, if its model was told of texts', async () => {
  const inputSchema = properties({ value: {}, rows: { type: 'array', items: {} }, note: { type: 'string' } })
  const input = { value: '{"a":1}', rows: ['[1,2]', '{"b":2}', 'x', '3'], note: '{}', more: '{}' }
  const calledBy = async (model: string): Promise<unknown[]> => {
    const { ask, called } = await newToolSetting(() => undefined, {
      model,
      tools: [{ ...odd(inputSchema), name: 'store' }],
      answer: (body) => (hasResult(body) ? [{ text: 'Done.' }] : [{ calls: [{ id: 'c1', name: 'store', input }] }]),
    })
    await ask('Store it.')
    return called
  }
  const read = { ...input, value: { a: 1 }, rows: [[1, 2], { b: 2 }, 'x', '3'] }
  expect(await calledBy('google/gemini-3-pro')).toMatchObject([{ arguments: read }])
  expect(await calledBy('m')).toMatchObject([{ arguments: input }])
})

test('a tool whose name begins with a digit is called by Gemini under another, and so is every call before', async () => {
  const action = defineAction({
    name: '3d_print',
    description: 'Prints.',
    input: z.object({ $size: z.number() }),
    run: async () => 'Printed.',
  })
  const badName: Refuser = (body) =>
    /"name":"3d_print"/.test(JSON.stringify(body))
      ? '* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a letter or an underscore.'
      : undefined
  const { ask, requests } = await newToolSetting(badName, {
    model: 'google/gemini-3-pro',
    options: { actions: [action] },
    answer: (body) =>
      hasResult(body) ? [{ text: 'Done.' }] : [{ calls: [{ id: 'c1', name: '_3d_print', input: { $size: '2' } }] }],
  })
  expect((await ask('Print it.')).tool_calls).toMatchObject([
    { tool_name: '3d_print', tool_arguments: { $size: 2 }, tool_result: 'Printed.' },
  ])
  expect(requests.map(({ body }) => badName(body))).toEqual([undefined, undefined])
})
