import { editDistance } from '@inlay/text'
import { expect, test } from 'vitest'

test.each([
  ['panther', 'panther', 0],
  ['panther', 'panhter', 1],
  ['panther', 'pantherr', 1],
  ['panther', 'panter', 1],
  ['panther', 'painter', 2],
  ['panther', 'table', 3],
])('%s and %s are %i edits apart', (a, b, distance) => expect(editDistance(a, b, 2)).toBe(distance))
