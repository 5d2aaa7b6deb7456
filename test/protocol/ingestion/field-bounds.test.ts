import { ingestionDocumentSchema } from '@inlay/protocol/internal/ingestion/ingestion-document'
import * as v from 'valibot'
import { expect, test } from 'vitest'

const keys = (count: number, length: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at).padStart(length, 'k'), 'v']))

test.each([
  [{ title: 't'.repeat(10_000) }, true],
  [{ title: 't'.repeat(10_001) }, false],
  [{ semantic_identifier: 't'.repeat(8_000_000) }, false],
  [{ metadata: keys(5_000, 100) }, true],
  [{ metadata: keys(5_001, 10) }, false],
  [{ metadata: keys(1_001, 500) }, false],
])('titles and metadata have bounds of their own', (fields, isTaken) => {
  const document = { semantic_identifier: 'a', sections: [{ text: 'a' }], metadata: {}, ...fields }
  expect(v.safeParse(ingestionDocumentSchema, document).success).toBe(isTaken)
})
