import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeSettings, optionsFromEnvironment, readEnvironment, readSettings, writeJsonLine } from 'inlay'
import { checkOptions } from 'inlay/internal/options/check-options'
import { describe, expect, test } from 'vitest'

const embedding = {
  INLAY_EMBEDDING_MODEL: 'nomic-embed-text',
  INLAY_EMBEDDING_BASE_URL: 'http://localhost:11434/v1',
  INLAY_EMBEDDING_DIMENSIONS: '768',
}

const messageOf = (env: Record<string, string>): string => {
  try {
    readSettings(env)
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    return (error as Error).message
  }
  return 'accepted'
}

test('without any variable everything has its default, and options hold nothing that would hide one', () => {
  expect(readSettings({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    findsLocalModels: true,
    shutdown: {},
    options: {},
    warnings: [],
  })
  expect(Object.keys(readSettings({}).options)).toEqual([])
  expect(readSettings({ PORT: '', INLAY_MODEL: '  ', INLAY_DATA: undefined })).toEqual(readSettings({}))
})

test('every variable reaches its option', () => {
  const settings = readSettings({
    PORT: '0',
    HOST: '::',
    INLAY_DATA: '/var/lib/inlay data',
    INLAY_API_KEY: 'a-key-of-mine',
    INLAY_BASE_PATH: '/assistant',
    INLAY_STREAM_FORMAT: 'Lines',
    INLAY_CORS_ORIGINS: 'https://a.example, http://localhost:5173',
    INLAY_MODEL: 'llama3.3',
    INLAY_MODEL_BASE_URL: 'http://localhost:11434/v1/',
    INLAY_MODEL_API_KEY: 'secret',
    INLAY_MODEL_CONTEXT_TOKENS: '8192',
    ...embedding,
    INLAY_EMBEDDING_API_KEY: 'other',
    INLAY_SEARCH_HELP: 'off',
    INLAY_MEMORIES: 'off',
    INLAY_TELEMETRY: 'off',
    INLAY_LOG: 'json',
    INLAY_SHUTDOWN_NOTICE: '5',
    INLAY_SHUTDOWN_DRAIN: '20',
  })
  expect(settings).toEqual({
    host: '::',
    port: 0,
    findsLocalModels: true,
    shutdown: { noticeMs: 5_000, drainMs: 20_000 },
    warnings: [],
    options: {
      dataFolder: '/var/lib/inlay data',
      apiKey: 'a-key-of-mine',
      basePath: '/assistant',
      streamFormat: 'lines',
      corsOrigins: ['https://a.example', 'http://localhost:5173'],
      model: { name: 'llama3.3', baseUrl: 'http://localhost:11434/v1', apiKey: 'secret', contextTokens: 8192 },
      embedder: { name: 'nomic-embed-text', baseUrl: 'http://localhost:11434/v1', apiKey: 'other', dimensions: 768 },
      searchHelp: { expand: false },
      memories: false,
      telemetry: false,
      log: writeJsonLine,
    },
  })
  expect(readSettings({ INLAY_SEARCH_HELP: 'on', INLAY_MEMORIES: 'on' }).options).toEqual({})
})

describe('a wrong value', () => {
  test.each([
    ['PORT', '65536', /65535/],
    ['PORT', '80a', /whole number/],
    ['PORT', '-1', /whole number/],
    ['HOST', 'a b', /host name/],
    ['INLAY_STREAM_FORMAT', 'json', /sse or lines/],
    ['INLAY_BASE_PATH', '/a?b', /path/],
    ['INLAY_CORS_ORIGINS', 'app.example.com', /https:\/\//],
    ['INLAY_CORS_ORIGINS', 'https://app.example.com/path', /origins/],
    ['INLAY_MODEL', 'gpt-5', /openai\/<model>.*INLAY_MODEL_BASE_URL/],
    ['INLAY_MODEL_BASE_URL', 'localhost:11434', /http/],
    ['INLAY_MODEL_CONTEXT_TOKENS', '12', /1000/],
    ['INLAY_EMBEDDING_DIMENSIONS', '0', /8192/],
  ])('of %s, %j, is told with what is allowed', (name, value, allowed) => {
    const message = messageOf({ [name]: value })
    expect(message).toContain(`${name}: "${value}"`)
    expect(message).toMatch(allowed)
  })

  test.each(['short', 'has a space in it', 'schlüssel-lang'])('of a key is told without repeating %j', (key) => {
    const message = messageOf({ INLAY_API_KEY: key })
    expect(message).toMatch(/^INLAY_API_KEY: .*visible ASCII/)
    expect(message).not.toContain(key)
  })

  test('does not hide the next one', () => {
    expect(messageOf({ PORT: 'x', INLAY_STREAM_FORMAT: 'y' }).split('\n')).toHaveLength(2)
  })
})

describe('a model', () => {
  test.each([
    ['openai/gpt-5.2', 'OPENAI_API_KEY'],
    ['anthropic/claude-opus-4-8', 'ANTHROPIC_API_KEY'],
  ])('%s takes the key its provider is known by, and needs one', (INLAY_MODEL, name) => {
    expect(readSettings({ INLAY_MODEL, [name]: 'k1' }).options.model).toEqual({ name: INLAY_MODEL, apiKey: 'k1' })
    expect(readSettings({ INLAY_MODEL, [name]: 'k1', INLAY_MODEL_API_KEY: 'k2' }).options.model).toMatchObject({
      apiKey: 'k2',
    })
    expect(messageOf({ INLAY_MODEL })).toMatch(new RegExp(`INLAY_MODEL_API_KEY or ${name}`))
  })

  test('behind another address never gets the key of OpenAI', () => {
    const env = {
      OPENAI_API_KEY: 'k1',
      INLAY_MODEL: 'openai/gpt-oss',
      INLAY_MODEL_BASE_URL: 'https://gateway.example/v1',
    }
    expect(readSettings(env).options.model).toEqual({ name: 'openai/gpt-oss', baseUrl: 'https://gateway.example/v1' })
  })

  test('address without a model, or extractive with nothing, are told and taken', () => {
    expect(messageOf({ INLAY_MODEL_BASE_URL: 'http://localhost/v1' })).toMatch(/needs INLAY_MODEL/)
    expect(readSettings({ INLAY_MODEL: 'extractive' }).options.model).toBe('extractive')
  })
})

describe('models in this process', () => {
  test('take one setting each', () => {
    const { options } = readSettings({
      INLAY_EMBEDDING_MODEL: 'local/multilingual-e5-small',
      INLAY_RERANKER: 'local/ms-marco-minilm-l6-v2',
      INLAY_MODEL_FOLDER: '/srv/models',
    })
    expect(options).toMatchObject({
      embedder: { name: 'local/multilingual-e5-small' },
      reranker: 'local/ms-marco-minilm-l6-v2',
      modelFolder: '/srv/models',
    })
    expect(() => checkOptions(options)).not.toThrow()
    const sized = { INLAY_EMBEDDING_MODEL: 'local/acme/tiny', INLAY_EMBEDDING_DIMENSIONS: '128' }
    expect(readSettings(sized).options.embedder).toEqual({ name: 'local/acme/tiny', dimensions: 128 })
  })

  test('are told from others', () => {
    expect(() => readSettings({ INLAY_RERANKER: 'bge-reranker-base' })).toThrow(/INLAY_RERANKER/)
    expect(() => checkOptions({ reranker: 'bge-reranker-base' })).toThrow(/local\//)
    expect(() => checkOptions({ embedder: { name: 'bge' } })).toThrow(/baseUrl/)
  })
})

test.each(['tesseract', 'tesseract/eng+deu', 'tesseract/chi_sim', 'model'])('scans can be read by %s', (ocr) => {
  const { options } = readSettings({ INLAY_OCR: ocr })
  expect(options.ocr).toBe(ocr)
  expect(() => checkOptions(options)).not.toThrow()
})

test.each(['on', 'tesseract/', 'tesseract/../eng', 'tesseract/e', 'model/gpt'])('scans cannot be read by %s', (ocr) => {
  expect(() => readSettings({ INLAY_OCR: ocr })).toThrow(/INLAY_OCR.*tesseract\/eng\+deu/)
  expect(() => checkOptions({ ocr })).toThrow(/tesseract/)
})

test('the weight of the vectors is a number from 0 to 1', () => {
  expect(readSettings({ INLAY_VECTOR_SHARE: '0.6' }).options.vectorShare).toBe(0.6)
  expect(() => readSettings({ INLAY_VECTOR_SHARE: '2' })).toThrow(/INLAY_VECTOR_SHARE/)
})

describe('an embedding model', () => {
  test('needs an address or a key of OpenAI', () => {
    expect(messageOf({ INLAY_EMBEDDING_MODEL: 'm' })).toMatch(/INLAY_EMBEDDING_BASE_URL/)
    expect(messageOf({ INLAY_EMBEDDING_DIMENSIONS: '8' })).toMatch(/needs INLAY_EMBEDDING_MODEL/)
    const env = {
      INLAY_EMBEDDING_MODEL: 'text-embedding-3-small',
      INLAY_EMBEDDING_DIMENSIONS: '1536',
      OPENAI_API_KEY: 'k',
    }
    expect(readSettings(env).options.embedder).toEqual({
      name: 'text-embedding-3-small',
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'k',
      dimensions: 1536,
    })
  })
})

test('a name that no setting has is warned about', () => {
  expect(readSettings({ INLAY_MODLE: 'extractive', OTHER: 'x' }).warnings).toEqual([
    expect.stringContaining('INLAY_MODLE'),
  ])
})

test('every setting is described for people', () => {
  const described = describeSettings()
  expect(described.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['PORT', 'HOST', 'INLAY_DATA', 'INLAY_API_KEY', 'INLAY_MODEL']),
  )
  for (const { meaning, allowed, without } of described)
    expect(Math.min(meaning.length, allowed.length, without.length)).toBeGreaterThan(2)
})

describe('the file .env', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-env-'))

  test('fills in what the process does not set, and may be missing', () => {
    expect(readEnvironment(folder, { PORT: '1' })).toEqual({ PORT: '1' })
    writeFileSync(join(folder, '.env'), '# model\nPORT=2\nINLAY_MODEL="llama 3"\n')
    try {
      expect(readEnvironment(folder, { PORT: '1' })).toEqual({ PORT: '1', INLAY_MODEL: 'llama 3' })
      // The form in which editors on Windows save it.
      writeFileSync(join(folder, '.env'), '\uFEFFPORT=2\r\nINLAY_MODEL=m\r\n')
      expect(readEnvironment(folder, {})).toEqual({ PORT: '2', INLAY_MODEL: 'm' })
      expect(optionsFromEnvironment(folder, { INLAY_MODEL: 'extractive' })).toEqual({ model: 'extractive' })
      expect(() => optionsFromEnvironment(folder, {})).toThrow(/INLAY_MODEL: "m"/)
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    }
  })
})

describe('what reaches the web', () => {
  test('every variable of it reaches its option', () => {
    const { options } = readSettings({
      INLAY_WEB_SEARCH: 'SearXNG',
      INLAY_WEB_SEARCH_URL: 'http://localhost:8888/',
      INLAY_WEB_SEARCH_API_KEY: 'gate',
      INLAY_IMAGE_MODEL: 'openai/gpt-image-1',
      INLAY_IMAGE_BASE_URL: 'http://localhost:8080/v1',
      INLAY_IMAGE_API_KEY: 'other',
      INLAY_EGRESS_ALLOW: 'Wiki.internal, 10.0.0.7:8080 [::1]:81',
      INLAY_PAGE_HOSTS: 'docs.example,*.Wikipedia.org',
    })
    expect(options).toEqual({
      webSearch: { service: 'searxng', baseUrl: 'http://localhost:8888', apiKey: 'gate' },
      imageGenerator: { name: 'gpt-image-1', baseUrl: 'http://localhost:8080/v1', apiKey: 'other' },
      egress: { allowHosts: ['wiki.internal', '10.0.0.7:8080', '::1:81'] },
      pageReader: { onlyHosts: ['docs.example', '*.wikipedia.org'] },
    })
  })

  test("a key of OpenAI goes to OpenAI's image models, and to no other address", () => {
    const image = { INLAY_IMAGE_MODEL: 'gpt-image-1', OPENAI_API_KEY: 'sk-usual' }
    expect(readSettings(image).options.imageGenerator).toEqual({ name: 'gpt-image-1', apiKey: 'sk-usual' })
    const elsewhere = { ...image, INLAY_IMAGE_BASE_URL: 'http://localhost:8080/v1' }
    expect(readSettings(elsewhere).options.imageGenerator).toEqual({
      name: 'gpt-image-1',
      baseUrl: 'http://localhost:8080/v1',
    })
  })

  test.each([
    [{ INLAY_WEB_SEARCH: 'altavista' }, 'INLAY_WEB_SEARCH: "altavista" is not allowed; use searxng, brave'],
    [{ INLAY_WEB_SEARCH: 'searxng' }, 'needs INLAY_WEB_SEARCH_URL'],
    [{ INLAY_WEB_SEARCH: 'brave' }, 'needs INLAY_WEB_SEARCH_API_KEY'],
    [{ INLAY_WEB_SEARCH_API_KEY: 'a-secret-key' }, 'INLAY_WEB_SEARCH_API_KEY: needs INLAY_WEB_SEARCH'],
    [{ INLAY_WEB_SEARCH_URL: 'http://localhost' }, 'INLAY_WEB_SEARCH_URL: needs INLAY_WEB_SEARCH'],
    [{ INLAY_IMAGE_MODEL: 'gpt-image-1' }, 'a key of OpenAI in INLAY_IMAGE_API_KEY or OPENAI_API_KEY'],
    [{ INLAY_IMAGE_BASE_URL: 'http://localhost/v1' }, 'INLAY_IMAGE_BASE_URL: needs INLAY_IMAGE_MODEL'],
    [{ INLAY_PAGE_HOSTS: 'https://docs.example' }, 'INLAY_PAGE_HOSTS: "https://docs.example" is not allowed'],
    [{ INLAY_PAGE_HOSTS: '*' }, 'INLAY_PAGE_HOSTS: "*" is not allowed'],
    [{ INLAY_EGRESS_ALLOW: 'http://wiki.internal/' }, 'INLAY_EGRESS_ALLOW: "http://wiki.internal/" is not allowed'],
  ])('%j stops the start and says what is missing', (env, message) => {
    expect(messageOf(env)).toContain(message)
    expect(messageOf(env)).not.toContain('a-secret-key')
  })
})

describe('MCP servers', () => {
  test('have names, addresses and tokens', () => {
    const { options } = readSettings({
      INLAY_MCP_SERVERS: 'wiki=https://wiki.example/mcp?a=b, old=sse+http://10.0.0.7:3001/sse',
      INLAY_MCP_TOKENS: 'wiki=abc=',
    })
    expect(options).toEqual({
      mcpServers: [
        { name: 'wiki', url: 'https://wiki.example/mcp?a=b', transport: 'http', token: 'abc=' },
        { name: 'old', url: 'http://10.0.0.7:3001/sse', transport: 'sse' },
      ],
    })
  })

  test.each([
    [{ INLAY_MCP_SERVERS: 'https://wiki.example/mcp?k=a-secret-key' }, 'INLAY_MCP_SERVERS: the value given'],
    [{ INLAY_MCP_SERVERS: 'wiki=ftp://wiki.example' }, 'INLAY_MCP_SERVERS: the value given'],
    [{ INLAY_MCP_SERVERS: 'a=http://a.example,a=http://b.example' }, 'INLAY_MCP_SERVERS: the value given'],
    [{ INLAY_MCP_TOKENS: 'wiki=a-secret-key' }, 'INLAY_MCP_TOKENS: "wiki" is not a server of INLAY_MCP_SERVERS'],
    [{ INLAY_MCP_TOKENS: 'a-secret-key' }, 'INLAY_MCP_TOKENS: the value given is not allowed'],
  ])('%j stops the start and says what is wrong', (env, message) => {
    expect(messageOf(env)).toContain(message)
    expect(messageOf(env)).not.toContain('a-secret-key')
  })
})

describe('webhooks', () => {
  const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD3vXyBQGm1V4=']

  test('have an address and secrets', () => {
    const url = 'https://app.example/events/?k=v'
    const { options } = readSettings({ INLAY_WEBHOOK_URL: url, INLAY_WEBHOOK_SECRET: secrets.join(', ') })
    expect(options).toEqual({ webhooks: [{ url, secrets }] })
    checkOptions(options)
  })

  test.each([
    [{ INLAY_WEBHOOK_URL: 'https://app.example/?k=a-secret-key' }, 'INLAY_WEBHOOK_URL: needs INLAY_WEBHOOK_SECRET'],
    [{ INLAY_WEBHOOK_URL: 'app.example/a-secret-key' }, 'INLAY_WEBHOOK_URL: the value given is not allowed'],
    [{ INLAY_WEBHOOK_SECRET: secrets[0] }, 'INLAY_WEBHOOK_SECRET: needs INLAY_WEBHOOK_URL'],
    [{ INLAY_WEBHOOK_SECRET: 'whsec_a-secret-key' }, 'INLAY_WEBHOOK_SECRET: the value given is not allowed'],
  ])('%j stop the start and it says what is missing', (env, message) => {
    expect(messageOf(env as Record<string, string>)).toContain(message)
    expect(messageOf(env as Record<string, string>)).not.toContain('a-secret-key')
  })
})

test('the search for local models is turned off by a setting', () => {
  expect(readSettings({ INLAY_LOCAL_MODELS: 'off' }).findsLocalModels).toBe(false)
})

test('a provider in front of a model takes its own key, and an address says what it speaks', () => {
  const modelOf = (env: Readonly<Record<string, string>>) => readSettings(env).options.model
  expect(modelOf({ INLAY_MODEL: 'deepseek/deepseek-chat', DEEPSEEK_API_KEY: 'k' })).toEqual({
    name: 'deepseek/deepseek-chat',
    apiKey: 'k',
  })
  expect(modelOf({ INLAY_MODEL: 'amazon-bedrock/amazon.nova-pro-v1:0' })).toEqual({
    name: 'amazon-bedrock/amazon.nova-pro-v1:0',
  })
  expect(() => modelOf({ INLAY_MODEL: 'mistral/mistral-large-latest' })).toThrow('MISTRAL_API_KEY')
  expect(() => modelOf({ INLAY_MODEL: 'mistrall/mistral-large-latest' })).toThrow('mistral/<model>')
  expect(
    modelOf({
      INLAY_MODEL: 'd',
      INLAY_MODEL_BASE_URL: 'https://x.example/openai?api-version=1',
      INLAY_MODEL_API: 'azure',
      INLAY_MODEL_HEADERS: '{"x-team":"search"}',
      INLAY_MODEL_PROVIDER_OPTIONS: '{"reasoningEffort":"low"}',
    }),
  ).toEqual({
    name: 'd',
    baseUrl: 'https://x.example/openai?api-version=1',
    api: 'azure',
    headers: { 'x-team': 'search' },
    providerOptions: { reasoningEffort: 'low' },
  })
  expect(() => modelOf({ INLAY_MODEL: 'extractive', INLAY_MODEL_HEADERS: '{"x y": "1"}' })).toThrow(
    'INLAY_MODEL_HEADERS',
  )
})
