import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createClient } from 'inlay/client'
import * as drivers from 'inlay/drivers'
import { createKnowledge } from 'inlay/knowledge'

type Maker = (options?: unknown) => unknown

/** Parts that need no options, or wrap a model or provider, and functions of the server of a host. */
const free = new Set(['egress', 'fileExtractor', 'findPyodide', 'nodeSqlite', 'pyodide', 'signInKey', 'tryMcpServer'])

// Their arguments are checked here, not their types.
const makers = Object.entries(drivers as unknown as Record<string, Maker>)
  .filter(([name, value]) => typeof value === 'function' && !free.has(name))
  .sort(([a], [b]) => a.localeCompare(b))

const refusalOf = async (make: () => unknown): Promise<unknown> => {
  try {
    await make()
  } catch (error) {
    return error
  }
  return undefined
}

test.each(makers)('%s names what it needs when it is made without options', async (name, make) => {
  const refusal = await refusalOf(() => make())
  expect(refusal).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(`^${name}\\(\\) cannot work`) })
})

test('every missing or wrong option is told at once', async () => {
  const refusal = await refusalOf(() => drivers.openaiEmbedder({ model: '', dimensions: 0 } as never))
  expect((refusal as Error).message.split('\n')).toEqual([
    'openaiEmbedder() cannot work with these options:',
    '- model: must be the name of a model',
    '- baseUrl: is missing; it must be the address of the API',
    '- dimensions: must be the length of its vectors, a whole number from 1 to 8192',
  ])
  expect(await refusalOf(() => drivers.modelProviders({ a: 1 } as never))).toMatchObject({
    message: expect.stringContaining('- providers: is missing; it must be a list of { name, type }'),
  })
})

test('wrong optional values are told as well, and what there is to give', async () => {
  expect(await refusalOf(() => (drivers.postgres as Maker)())).toMatchObject({
    message: expect.stringContaining('must be an object: { connectionString, pool }'),
  })
  for (const [make, words] of [
    [() => drivers.postgres({ connectionString: 5 } as never), '- connectionString: must be postgres://'],
    [() => drivers.postgres({ maxConnections: 0 }), '- maxConnections: must be a number, 1 or more'],
    [
      () => drivers.braveSearch({ apiKey: 'k', timeoutMs: 0 }),
      '- timeoutMs: must be a number of milliseconds, 1 or more',
    ],
    [() => drivers.openaiImages({ model: 'm', apiKey: 5 } as never), '- apiKey: must be a text'],
    [() => drivers.openaiImages({ model: 'm', sleep: 5 } as never), '- sleep: must be a function'],
  ] as const)
    expect(await refusalOf(make)).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(words) })
})

/** Names of the options of each function, as the docs list them. */
const documented = new Map(
  readFileSync('docs/7.options.md', 'utf8')
    .split(/^## /m)
    .map((section) => {
      const table = section.split(/^### /m)[0] ?? ''
      return [section.split('\n')[0], [...table.matchAll(/^\| `(\w+)` /gm)].map(([, name = '']) => name)]
    }),
)

test.each([...makers, ['createKnowledge', createKnowledge as Maker] as const])(
  '%s takes each documented option, and says of another one what was probably meant',
  async (name, make) => {
    const names = documented.get(name)!
    expect(names.length).toBeGreaterThan(0)
    const wrong = Object.fromEntries(names.map((option) => [option, null]))
    const misspelt = `${names.at(-1)}z`
    const refusal = await refusalOf(() => make({ ...wrong, [misspelt]: 1, absent: undefined }))
    const lines = (refusal as Error).message.split('\n').filter((line) => line.includes('unknown option'))
    expect(lines).toEqual([`- ${misspelt}: unknown option; did you mean ${names.at(-1)}?`])
  },
)

test('createClient says so too', async () => {
  expect(await refusalOf(() => createClient({ baseUrl: '/api', apikey: 'k' } as never))).toMatchObject({
    code: 'INVALID_INPUT',
    message: 'createClient() cannot work with these options:\n- apikey: unknown option; did you mean apiKey?',
  })
})
