import { expect, test } from 'vitest'
import { wasCut, withPlainCitations } from '../../../playground/web/chat/turn-view.tsx'

test('a copied answer has citations that every other program shows as links', () => {
  expect(withPlainCitations('Yes [[1]](https://a.example/x), no [[2]]().')).toBe(
    'Yes [1](https://a.example/x), no [2].',
  )
})

test('the rest of an answer is offered when its model could write no more', () => {
  expect(wasCut('Half.\n\n*The answer ends here because the model reached its output limit. Ask it to go on.*\n')).toBe(
    true,
  )
  expect(wasCut('A whole *answer*')).toBe(false)
})
