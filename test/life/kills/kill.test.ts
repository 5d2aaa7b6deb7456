import { test } from 'vitest'
import { killWhileIngesting } from './chapters.ts'

test('every document that got a 200 is searchable, once, after a kill at a random time', () =>
  killWhileIngesting({ count: 16, kills: 1 }))
