import { describe, test } from 'vitest'
import { stopWhileCalling } from './endless-actions.ts'

describe('a stop ends a call that would never end:', () => {
  test.each(['web_search', 'a custom action'])('%s', stopWhileCalling)
})
