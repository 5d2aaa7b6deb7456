import { test } from 'vitest'
import { killWhileIngesting } from './chapters.ts'

/** For a long run by hand: INLAY_TEST_KILLS=500 npx vitest run --project full test/life/kills/lost-index */
const kills = Number(process.env['INLAY_TEST_KILLS'] ?? 6)

test(
  'with the index folder lost after some of the kills, whatever got a 200 is found again',
  { timeout: 180_000 + kills * 60_000 },
  () => killWhileIngesting({ count: 60, kills, loseIndexAfter: 3 }),
)
