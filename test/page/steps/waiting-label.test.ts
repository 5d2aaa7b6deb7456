import { expect, test } from 'vitest'
import { waitingLabel } from '../../../packages/page/src/steps/waiting-label.ts'

test('a step names the model that is waited for once it is slow', () => {
  expect(waitingLabel('Writing the answer', 7)).toBe('Writing the answer')
  expect(waitingLabel('Writing the answer', 41)).toBe('Waiting for the model, 41 s')
})
