import { createInlay, type InlayOptions } from 'inlay'
import { expect, onTestFinished, test, vi } from 'vitest'

/** What a host that writes JavaScript may give. */
function refusalOf(options: unknown): string {
  try {
    createInlay(options as InlayOptions)
    return ''
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    return (error as Error).message
  }
}

test.each<[unknown, RegExp]>([
  [{ model: 'gpt-5' }, /^- model: "gpt-5" is not known; use "extractive", "openai\/<model>".*\{ name, baseUrl \}/m],
  [{ model: { name: 'gpt-5' } }, /^- model: "gpt-5" is not known/m],
  [{ model: 'openai/gpt-5' }, /^- model: "openai\/gpt-5" needs a key.*\{ name: "openai\/gpt-5", apiKey \}/m],
  [{ model: { name: 'openai/gpt-5' } }, /^- model: "openai\/gpt-5" needs a key.*add apiKey/m],
  [{ model: { name: 'x', baseURL: 'http://x/v1' } }, /^- model.baseURL: is no field of a model/m],
  [{ model: { name: 'x', baseUrl: 'localhost' } }, /^- model.baseUrl: must be an http or https address/m],
  [{ model: 5 }, /^- model: /m],
  [{ apiKey: 'abc' }, /^- apiKey: must be 8 to 512 visible ASCII characters/m],
  [{ apiKey: '' }, /^- apiKey: /m],
  [{ streamFormat: 'xml' }, /^- streamFormat: must be "sse" or "lines"/m],
  [{ modle: 'extractive' }, /^- modle: is no option; did you mean model\?/m],
  [{ datafolder: 'x' }, /^- datafolder: is no option; did you mean dataFolder\?/m],
  [{ constructor: 1 }, /^- constructor: is no option/m],
  [{ dataFolder: '' }, /^- dataFolder: is empty/m],
  [{ dialect: {} }, /^- dialect: must be a Kysely dialect/m],
  [{ corsOrigins: ['app.example.com'] }, /^- corsOrigins: must be a list of origins/m],
  [{ corsOrigins: 'https://app.example.com' }, /^- corsOrigins: must be a list of origins/m],
  [{ embedding: { name: 'e', baseUrl: 'http://x/v1' } }, /^- embedding.dimensions: is missing/m],
  [{ webSearch: { service: 'altavista' } }, /^- webSearch: must be .*searxng/m],
  [{ ingestionWaitMs: -1 }, /^- ingestionWaitMs: must be a whole number, 0 or more/m],
  [{ limits: { cycles: 'six' } }, /^- limits/m],
  [{ onError: 'log' }, /^- onError: must be a function/m],
  [{ hooks: { befor: () => {} } }, /^- hooks/m],
  [[], /^- the options must be an object/m],
])('%j is refused when the assistant is made', (options, words) => {
  expect(refusalOf(options)).toMatch(words)
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
  expect(refusalOf({ waitingCalls: Infinity })).toBe('')
})

test.each(['20.20.2', '22.17.1'])('Node %s is refused when the assistant is made', (node) => {
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('process', Object.create(process, { versions: { value: { ...process.versions, node } } }))
  expect(refusalOf({})).toBe(`Inlay needs Node 22.18 or newer; this is Node ${node}.`)
})
