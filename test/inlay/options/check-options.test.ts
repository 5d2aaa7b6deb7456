import { globSync, readFileSync } from 'node:fs'
import { createTool } from '@mastra/core/tools'
import { mastraTools } from '@inlay/mastra'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { createOpenAI } from '@ai-sdk/openai'
import { tool } from 'ai'
import { aiSdkTools, createInlay, createTenants, defineAction, type InlayOptions } from 'inlay'
import * as v from 'valibot'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'

/** Options of a host without types. */
function refusalOf(options: unknown): string {
  try {
    createInlay(options as InlayOptions)
    return ''
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    return (error as Error).message
  }
}

const tenantOf = (): string => 'acme'
const weather = { name: 'Weather', respond() {} }
const server = { name: 'wiki', url: 'https://wiki.example/mcp' }

test.each<[unknown, RegExp]>([
  [{ model: 'gpt-5' }, /^- model: "gpt-5" is not known; use "extractive", "openai\/<model>".*\{ name, baseUrl \}/m],
  [{ model: { name: 'gpt-5' } }, /^- model: "gpt-5" is not known/m],
  [{ model: 'openai/gpt-5' }, /^- model: "openai\/gpt-5" needs a key.*\{ name: "openai\/gpt-5", apiKey \}/m],
  [{ model: { name: 'openai/gpt-5' } }, /^- model: "openai\/gpt-5" needs a key.*add apiKey/m],
  [{ model: { name: 'x', baseURL: 'http://x/v1' } }, /^- model.baseURL: is no field here: there are name, baseUrl/m],
  [{ model: { name: 'x', baseUrl: 'localhost' } }, /^- model.baseUrl: must be an http or https address/m],
  [{ model: 5 }, /^- model: must be a name, or an object: \{ name, baseUrl, apiKey \}$/m],
  [{ model: [5] }, /^- model\.0: must be a name, or an object/m],
  [{ apiKey: 'abc' }, /^- apiKey: must be 8 to 512 visible ASCII characters/m],
  [{ apiKey: '' }, /^- apiKey: /m],
  [{ streamFormat: 'xml' }, /^- streamFormat: must be "sse" or "lines"/m],
  [{ modle: 'extractive' }, /^- modle: unknown option; did you mean model\?/m],
  [{ datafolder: 'x' }, /^- datafolder: unknown option; did you mean dataFolder\?/m],
  [{ constructor: 1 }, /^- constructor: unknown option/m],
  [{ dataFolder: '' }, /^- dataFolder: is empty/m],
  [{ database: {} }, /^- database\.url: is missing/m],
  [{ database: 5 }, /^- database: must be an address of PostgreSQL, \{ url, maxConnections \}, or a Kysely dialect$/m],
  [{ database: { createDriver() {} } }, /^- database: must be a Kysely dialect, with createDriver\(\), createQuery/m],
  [{ database: 'mysql://db/inlay' }, /^- database: must be postgres:\/\/user/m],
  [{ index: { url: 'folder', shard: 3 } }, /^- index\.shard: is no field here: there are url, shards, replicas/m],
  [{ files: '/var/files' }, /^- files: must be s3:\/\/bucket\/path/m],
  [{ files: {} }, /^- files: must be a bucket, s3:\/\/bucket\/path, or an unstorage Storage, with getItemRaw/m],
  [{ sharedRuns: 'localhost:6379' }, /^- sharedRuns: must be redis:\/\//m],
  [
    { dialect: {} },
    /^- `dialect` is now `database`: it takes an address of PostgreSQL, settings or a Kysely dialect$/m,
  ],
  [{ storage: {} }, /^- `storage` is now `files`: /m],
  [{ engines: { database: 'postgres://db/inlay' } }, /^- `engines` is now `database`, `index`, `files`, /m],
  [{ corsOrigins: ['app.example.com'] }, /^- corsOrigins: must be a list of origins/m],
  [{ corsOrigins: 'https://app.example.com' }, /^- corsOrigins: must be a list of origins/m],
  [
    { embedder: 'text-embedding-3-small' },
    /^- embedder: "text-embedding-3-small" is not known; use "local\/<name>", /m,
  ],
  [{ embedder: 'openai/text-embedding-3-small' }, /^- embedder: .* needs a key of its provider; use \{ name: "openai/m],
  [{ embedder: { name: 'e' } }, /^- embedder: "e" is not known; use /m],
  [{ embedder: { name: 'e', url: 'http://x/v1' } }, /^- embedder\.url: is no field here: there are name, baseUrl/m],
  [{ webSearch: { service: 'altavista' } }, /^- webSearch\.service: must be .*searxng/m],
  [{ webSearch: { service: 'brave' } }, /^- webSearch: needs an apiKey/m],
  [{ embedder: { embed() {} } }, /^- embedder\.id: .*\n- embedder\.dimensions: .*\n- embedder\.maxBatchSize: /m],
  [
    { limits: { actionTimeoutMs: -1, foo: 2, bar: 3 } },
    /^- limits\.actionTimeoutMs: must be a number, 1 or more\n- limits\.foo: is no field here: there are .*actionTimeoutMs.*\n- limits\.bar: /m,
  ],
  [{ worker: { pollEvery: 5 } }, /^- worker\.pollEvery: is no field here/m],
  [{ ranking: { recency: 5 } }, /^- ranking\.recency: must be an object/m],
  [{ actionSources: [{}] }, /^- actionSources\.0: must be a source of actions, with list\(\), holds\(\)/m],
  [{ agents: [{ name: 'x' }] }, /^- agents.0: must be \{ name, instructions \}, or an agent with respond\(\)/m],
  [{ retrievers: [{ name: 'x' }] }, /^- retrievers.0: must be a retriever, with retrieve\(\)/m],
  [{ systemPrompt: 3 }, /^- systemPrompt: must be a text, or a function/m],
  [{ agents: {} }, /^- agents: must be a list of agents, see mastraAgent/m],
  [{ ingestionWaitMs: -1 }, /^- ingestionWaitMs: must be a whole number, 0 or more/m],
  [{ limits: { maxSteps: 'six' } }, /^- limits/m],
  [{ onError: 'log' }, /^- onError: must be a function/m],
  [{ hooks: { befor: () => {} } }, /^- hooks/m],
  [[], /^- the options must be an object/m],
  [{ limits: { maxSteps: 0 } }, /^- limits\.maxSteps: must be a number, 1 or more$/m],
  [{ research: { limits: { maxCycles: 0 } } }, /^- research\.limits\.maxCycles: must be a number, 1 or more$/m],
  [{ python: { timeoutMs: 0 } }, /^- python\.timeoutMs: must be a number, 1 or more$/m],
  [
    { model: createOpenAI({ apiKey: 'k' }).embedding('e') },
    /options:\n- model: is a model object of the AI SDK: hand in .*$/,
  ],
  [{ model: ['extractive', createOpenAI({ apiKey: 'k' }).image('i')] }, /options:\n- model\.1: is a model object .*$/],
  [{ embedder: createOpenAI({ apiKey: 'k' }).chat('e') }, /options:\n- embedder: is .* an embedding model, .*$/],
  [{ imageGenerator: createOpenAI({ apiKey: 'k' }).image('i') }, /options:\n- imageGenerator: is .* aiSdkImages\(.*$/],
  [{ models: { list() {}, resolve() {} } }, /^- `models` is now `model`: hand in the provider of models there$/m],
  [{ model: { resolve() {} } }, /^- model: must be a provider of models, with resolve\(\), list\(\)$/m],
  [{ model: ['extractive', { list() {}, resolve() {} }] }, /^- model\.1: is a provider of models, which stands alone/m],
  [{ questionModel: { model_version: 'small-1' } }, /^- questionModel\.name: is missing/m],
  [
    { embedding: { name: 'local/multilingual-e5-small' } },
    /^- `embedding` is now `embedder`: it takes a name, settings/m,
  ],
  [
    { codeRunner: null },
    /^- `codeRunner` is now `python`: it takes limits of Pyodide, a code runner of your own, or null$/m,
  ],
  [{ python: { run: 'program' } }, /^- python: must be what runs programs, with run\(\)$/m],
  [{ python: 'off' }, /^- python: must be \{ wheelsFolder, .*, a runner with run\(\), or null$/m],
  [{ pageHosts: ['a.example'] }, /^- `pageHosts` is now `pageReader: \{ onlyHosts \}`$/m],
  [{ pageReader: { hosts: ['a.example'] } }, /^- pageReader\.hosts: is no field here: there are onlyHosts$/m],
  [{ pageReader: { onlyHosts: 'a.example' } }, /^- pageReader\.onlyHosts: must be a list/m],
  [{ agents: [{ respond() {} }] }, /^- agents\.0\.name: /m],
  [{ agents: [{ name: ' ', respond() {} }] }, /^- agents\.0\.name: is empty$/m],
  [{ agents: [weather, { ...weather }] }, /^- agents\.1: its name "Weather" is taken by another one$/m],
  [
    { agents: [{ ...weather, actions: 'internal_search' }] },
    /^- agents\.0\.actions: must be a list of names of actions/m,
  ],
  [
    { agents: [{ ...weather, actions: ['internal_search', 'order_stat'] }] },
    /^- agents\.0\.actions: no action is named "order_stat": there are internal_search, /m,
  ],
  [{ mcpServers: [server, server] }, /^- mcpServers\.1: its name "wiki" is taken by another one$/m],
])('%j is refused when the assistant is made', (options, words) => {
  expect(refusalOf(options)).toMatch(words)
})

const input = z.object({})
const action = { name: 'order_state', description: 'Tells how far an order is.', input, run: async () => 'packed' }

test.each<[string, readonly unknown[], readonly RegExp[]]>([
  ['an empty object', [{}], [/name must be 1 to 64/, /needs a description/, /needs a function run/, /needs an input/]],
  ['no object', ['order_state'], [/^- actions\.0: must be an action, see defineAction/]],
  ['without a schema', [{ ...action, input: undefined }], [/needs an input schema: z\.object\(\{\}\)/]],
  ['with a schema of valibot alone', [{ ...action, input: v.object({}) }], [/valibot through toStandardJsonSchema/]],
  [
    'with a type that JSON lacks',
    [{ ...action, input: z.object({ order: z.object({ id: z.string(), at: z.date() }) }) }],
    [
      /^- actions\.0: the field order\.at of its input .*\(action order_state\): Date cannot be represented.*z\.iso\.datetime/m,
    ],
  ],
  ['whose input is a text', [{ ...action, input: z.string() }], [/must be an object, not string/]],
  ['with an illegal name', [{ ...action, name: 'order state' }], [/name must be .*"order state" is not/]],
  ['with an illegal id', [{ ...action, id: 0.5 }], [/id must be a whole number above 0/]],
  ['of one name', [action, { ...action }], [/^- actions\.1: its name "order_state" is taken by another action/]],
  [
    'of one id',
    [
      { ...action, id: 7 },
      { ...action, id: 7, name: 'b' },
    ],
    [/^- actions\.1: its id 7 is taken/],
  ],
  ['named as a built-in one', [{ ...action, name: 'internal_search' }], [/taken by a built-in action/]],
  ['named as that of an installed Pyodide', [{ ...action, name: 'run_python' }], [/taken by a built-in action/]],
  ['of the AI SDK', [tool({ inputSchema: input, execute: async () => 'packed' })], [/give it as \.\.\.aiSdkTools/]],
  [
    'of Mastra',
    [createTool({ id: 'order_state', description: 'Tells.', inputSchema: input, execute: async () => ({}) })],
    [/give it as \.\.\.mastraTools\(tool\), from @inlay\/mastra/],
  ],
])('an action %s is refused when the assistant is made', (_case, actions, faults) => {
  const [, ...lines] = refusalOf({ actions }).split('\n')
  expect(lines).toEqual(faults.map((fault) => expect.stringMatching(fault)))
})

test('an action with the name of any built-in action is refused', () => {
  const sources = globSync('packages/agent/src/actions/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const names = sources.filter((source) => /builtIn: '/.test(source)).map((source) => /name: '(\w+)'/.exec(source)![1]!)
  expect(names).toContain('internal_search')
  const everyActionOn = {
    webSearch: async () => [],
    imageGenerator: async () => [],
    python: { run: async () => ({}) },
  }
  const unrefused = names.filter((name) => refusalOf({ ...everyActionOn, actions: [{ ...action, name }] }) === '')
  const remedy =
    'name them in actionFaults() of packages/inlay/src/options/check-options.ts, and turn them on in this test'
  expect(unrefused, remedy).toEqual([])
})

test('actions that work are taken: of zod, valibot and ArkType, of the AI SDK and of Mastra', () => {
  // Schemas of ArkType are functions.
  const ofArktype = Object.assign(() => {}, { '~standard': input['~standard'] })
  expect(
    refusalOf({
      actions: [
        defineAction({ ...action, run: async () => 'packed' }),
        { ...action, name: 'of_valibot', input: toStandardJsonSchema(v.object({ number: v.string() })) },
        { ...action, name: 'of_arktype', input: ofArktype },
        ...aiSdkTools({ of_ai: tool({ inputSchema: input, execute: async () => 'packed' }) }),
        ...mastraTools(createTool({ id: 'of_mastra', description: 'Tells.', execute: async () => ({}) })),
      ],
    }),
  ).toBe('')
  // A host may take the place of a built-in action that is not there.
  expect(refusalOf({ memories: false, actions: [{ ...action, name: 'add_memory' }] })).toBe('')
  expect(refusalOf({ python: null, actions: [{ ...action, name: 'run_python' }] })).toBe('')
})

test('a key that is undefined is told once, with what to do, and the rest as before', async () => {
  const failures: unknown[] = []
  const onError = (error: unknown): void => void failures.push(error)
  createInlay({ apiKey: undefined, onError })
  createInlay({ onError })
  createInlay({ apiKey: undefined, authenticate: () => undefined, onError })
  await Promise.resolve()
  expect(failures).toMatchObject([{ message: expect.stringMatching(/apiKey is undefined.*INLAY_API_KEY=/) }])
})

test('every fault is told at once, and no secret', () => {
  const message = refusalOf({ apiKey: 'my secret', model: 'gpt-5', streamFormat: 'xml' })
  expect(message.split('\n')).toHaveLength(4)
  expect(message).not.toContain('my secret')
})

test('what is undefined counts as not given', () => {
  expect(refusalOf({ dataFolder: undefined, apiKey: undefined, model: undefined, webSearch: undefined })).toBe('')
  expect(refusalOf({ model: { name: 'qwen3', baseUrl: 'http://localhost:11434/v1', apiKey: undefined } })).toBe('')
})

test('what hosts of other kinds give is taken', () => {
  class Audit {
    readonly entries: string[] = []
    after(): void {}
  }
  expect(refusalOf({ hooks: new Audit() })).toBe('')
  expect(refusalOf({ corsOrigins: ['capacitor://localhost', 'chrome-extension://abcdefgh'] })).toBe('')
  expect(refusalOf({ corsOrigins: ['capacitor://localhost/'] })).toMatch(/^- corsOrigins/m)
  expect(refusalOf({ maxWaitingCalls: Infinity })).toBe('')
})

test.each(['20.20.2', '22.17.1'])('Node %s is refused when the assistant is made', (node) => {
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('process', Object.create(process, { versions: { value: { ...process.versions, node } } }))
  expect(refusalOf({})).toBe(`Inlay needs Node 22.18 or newer; this is Node ${node}.`)
})

test.each<[Record<string, unknown>, RegExp]>([
  [{ run: undefined }, /^- it needs a function run\(input, turn\)$/m],
  [{ name: 'order state' }, /^- its name must be 1 to 64/m],
  [{ input: z.object({ at: z.date() }) }, /^- the field at of its input/m],
])('an action without what it needs is refused where it is defined: %j', (change, words) => {
  expect(() => defineAction({ ...action, ...change } as never)).toThrow(words)
})

test.each<[unknown, RegExp]>([
  [undefined, /^- the options must be an object/m],
  [{}, /^- tenantOf: is missing/m],
  [{ tenantOf: 'host' }, /^- tenantOf: must be a function$/m],
  [{ tenantOf, option: () => ({}) }, /^- option: unknown option; did you mean options\?$/m],
  [{ tenantOf, options: { dataFolder: 'x' } }, /^- options: must be a function$/m],
  [{ tenantOf, maxOpen: 0 }, /^- maxOpen: must be a whole number, 1 or more$/m],
  [{ tenantOf, idleMs: '1h' }, /^- idleMs: must be a number, 0 or more$/m],
])('%j is refused when tenants are made', (options, words) => {
  expect(() => createTenants(options as never)).toThrow(words)
})
