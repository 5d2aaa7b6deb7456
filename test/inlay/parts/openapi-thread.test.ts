import { describe, expect, test } from 'vitest'
import { openApiThread } from 'inlay/internal/parts/openapi-thread'
import { kennelDocument } from '../../conversations/custom-tools/kennel.ts'

describe('an OpenAPI document is read in a thread', () => {
  test('which gives what is called, and says what is wrong', async () => {
    const reader = openApiThread()!
    const document = JSON.stringify(kennelDocument())
    expect((await reader.listOperations({ document })).methods).toHaveLength(4)
    const { definition } = await reader.reduceDocument({ document, operations: ['getDog'] })
    expect(Object.keys(definition['paths'] as object)).toEqual(['/dogs/{dogId}'])
    await expect(reader.reduceDocument({ document: 'x' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('neither the http or https address'),
    })
  })

  test.each([
    ['time', { timeoutMs: 50, heapMegabytes: 1_024 }, 'takes more than 0.05 s'],
    ['memory', { timeoutMs: 60_000, heapMegabytes: 32 }, 'takes more than 32 MiB'],
  ])('that ends when it takes too much %s', async (_, limits, words) => {
    const document = `{"openapi":"3.0.0","paths":{},"x":[${'{"a":[1]},'.repeat(500_000)}{}]}`
    await expect(openApiThread(limits)!.listOperations({ document })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(words),
    })
  })
})

test('a document that contains itself is refused with the reason', async () => {
  const document = 'openapi: 3.1.0\ninfo: &i {x-a: *i}\npaths: {/x: {get: {x-b: *i}}}\n'
  await expect(openApiThread()!.listOperations({ document })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining('contains itself'),
  })
})
