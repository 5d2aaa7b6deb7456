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
