import { markdownTable } from '@inlay/drivers/internal/files/formats/markdown-table'
import { expect, test } from 'vitest'
import { cases } from '../../cases.ts'
import { cpuMsOf } from '../../cpu-time.ts'

test('a table with one wide row and many short ones takes linear time', async () => {
  const count = cases(20_000, 100_000)
  const rows = [Array.from({ length: count }, () => 'a'), ...Array.from({ length: count }, () => ['b'])]
  expect(await cpuMsOf(() => markdownTable(rows))).toBeLessThan(count / 50)
})
