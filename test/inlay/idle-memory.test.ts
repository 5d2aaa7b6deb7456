import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createIdleWatch } from 'inlay/internal/idle-memory'

test('memory is given back once after each busy time, when the process has become idle', () => {
  const isTime = createIdleWatch()
  const shares = [0.01, 0.02, 0.01, 0.9, 0.3, 0.05, 0.2, 0.05, 0.02, 0.01, 0.01, 0.7, 0.01, 0.01]
  const times = shares.flatMap((share, second) => (isTime(share) ? [second] : []))
  expect(times).toEqual([8, 13])
})

const module = join(import.meta.dirname, '../../packages/inlay/src/idle-memory.ts')
const program = `
  import { giveMemoryBack } from ${JSON.stringify(module)}
  let kept = []
  for (let at = 0; at < 2_000_000; at++) kept.push({ at, text: at + ' of many' })
  const full = process.memoryUsage.rss()
  kept = []
  const given = () => (full - process.memoryUsage.rss()) / 2 ** 20
  await giveMemoryBack()
  // Other threads hand the pages over.
  let looks = 0
  const looking = setInterval(() => {
    if (given() < 100 && looks++ < 200) return
    clearInterval(looking)
    console.log(given())
  }, 50)`

test.runIf(Number.parseInt(process.versions.v8) >= 13)('what garbage took is given back', () => {
  const args = ['--conditions=@inlay/source', '--input-type=module', '--eval', program]
  expect(Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toBeGreaterThan(50)
})

const refusing = `
  import { giveMemoryBack } from ${JSON.stringify(module)}
  globalThis.ArrayBuffer = class { constructor() { throw new RangeError('Array buffer allocation failed') } }
  await giveMemoryBack()
  console.log('goes on')`

test('a machine that grants no more memory ends no process', () => {
  const args = ['--conditions=@inlay/source', '--input-type=module', '--eval', refusing]
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('goes on\n')
})
