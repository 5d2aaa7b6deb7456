import { expect, test } from 'vitest'
import { openApiThread } from 'inlay/internal/parts/openapi-thread'

const repeated = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('')

test.each<[string, () => string, string]>([
  [
    'a hundred thousand operations',
    () => `{"openapi":"3.1.0","paths":{${repeated(100_000, (index) => `"/${index}":{"get":{}},`)}"/x":{"get":{}}}}`,
    'more than 20000 operations',
  ],
  [
    'thirty million characters of empty objects',
    () => `{"openapi":"3.0.0","paths":{},"x":[${'{},'.repeat(10_000_000)}{}]}`,
    'takes more than 1024 MiB',
  ],
  [
    'YAML aliases of something large',
    () =>
      `openapi: 3.0.0\nx: &x\n${repeated(50_000, (index) => `  k${index}: {a: b}\n`)}y:\n${'  - *x\n'.repeat(9_000)}`,
    'takes more than 5 s',
  ],
  [
    'two million levels',
    () => `{"openapi":"3.0.0","x":${'{"a":'.repeat(2_000_000)}1${'}'.repeat(2_000_000)}}`,
    'stack',
  ],
  [
    'references that unfold without end',
    () => {
      const schemas = repeated(40, (level) => {
        const fields = repeated(9, (field) => `"f${field}":{"$ref":"#/components/schemas/s${level + 1}"},`)
        return `"s${level}":{"type":"object","properties":{${fields}"x":{}}},`
      })
      const body = '{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/s0"}}}}'
      const paths = repeated(19_000, (index) => `"/${index}":{"post":{"requestBody":${body}}},`)
      return `{"openapi":"3.0.0","components":{"schemas":{${schemas}"s40":{}}},"paths":{${paths}"/x":{"head":{}}}}`
    },
    'takes more than 5 s',
  ],
  [
    'a long operation that many paths refer to',
    () => {
      const item = `{"get":{"x-note":"${'x'.repeat(2 ** 20)}"}}`
      const paths = repeated(1_500, (index) => `"/${index}":{"$ref":"#/components/pathItems/a"},`)
      return `{"openapi":"3.1.0","components":{"pathItems":{"a":${item}}},"paths":{${paths}"/x":{"head":{}}}}`
    },
    'takes more than 32 MiB',
  ],
])(
  'a document of %s is refused while others are served',
  async (_, make, words) => {
    const document = make()
    let ticks = 0
    const timer = setInterval(() => ticks++, 10)
    const reading = openApiThread({ timeoutMs: words.includes(' s') ? 5_000 : 60_000, heapMegabytes: 1_024 })!
    await expect(reading.listOperations({ document })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(words) as string,
    })
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(5)
  },
  120_000,
)
