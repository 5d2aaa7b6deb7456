import { readMarker } from '@inlay/agent/internal/citations/marker'
import { expect, test } from 'vitest'
import { cpuMsOf } from '../../cpu-time.ts'

test.each([
  ['[1†source]', [1]],
  ['【3†L3-L8, left column】', [3]],
  ['[1†a,2†b; 4]', [1, 2, 4]],
])('%s cites %j', (text, numbers) => {
  expect(readMarker(text, 0, true)).toEqual({ numbers, end: text.length, isLinkText: false })
})

test.each(['1†,', '1†, ', '1†x; ', '1†doc 2,', '[1†,', '1-2†-,', '^1†^,'])(
  'a long list of %j takes no time',
  async (part) => {
    const read = (): void => {
      for (const length of [30, 120, 5_000]) {
        for (const opening of ['[', '[[']) expect(readMarker(opening + part.repeat(length), 0, true)).toBe('no')
        expect(['no', 'more']).toContain(readMarker(`[${part.repeat(length)}`, 0, false))
      }
    }
    expect(await cpuMsOf(read)).toBeLessThan(5_000)
  },
)
