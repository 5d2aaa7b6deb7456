import { test } from 'vitest'
import { killWhileIngesting } from './chapters.ts'

test('every document that got a 200 is searchable, once, after 20 kills at random times', { timeout: 900_000 }, () =>
  killWhileIngesting({ count: 112, kills: 20 }),
)
