import { expect, test } from 'vitest'
import * as drivers from 'inlay/drivers'

type Maker = (options?: unknown) => unknown

/** Parts that need no options, or wrap a model or provider. */
const free = new Set(['egress', 'fileExtractor', 'findPyodide', 'nodeSqlite', 'pyodide', 'repairModel', 'repairModels'])

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
