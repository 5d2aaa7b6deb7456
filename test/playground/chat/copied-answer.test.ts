import { expect, test } from 'vitest'
import { withPlainCitations } from '../../../playground/web/chat/turn-view.tsx'

test('a copied answer has citations that every other program shows as links', () => {
  expect(withPlainCitations('Yes [[1]](https://a.example/x), no [[2]]().')).toBe(
    'Yes [1](https://a.example/x), no [2].',
  )
})
