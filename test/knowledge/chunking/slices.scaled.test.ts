import { chunkSections } from '@inlay/knowledge/internal/chunking/chunk'
import { expect, test } from 'vitest'
import { cpuMs } from '../../cpu-time.ts'
import { cases } from '../../cases.ts'
import { section } from '../requests.ts'

const MiB = 2 ** 20
const mebibytes = cases(1, 4)
const repeated = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length))

/** The longest that one chunk takes, and all of them together. */
function measure(text: string): { longestMs: number; totalMs: number } {
  const began = cpuMs()
  let [last, longestMs] = [began, 0]
  const sections = [section(text)]
  for (const _ of chunkSections(sections)) {
    const now = cpuMs()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }
  return { longestMs: Math.max(longestMs, cpuMs() - last), totalMs: cpuMs() - began }
}

test.each([
  ['one sign', '['],
  ['one letter', 'x'],
  ['prose without a line end', 'The heron stands in the shallow water and waits for the fish to come. '],
  ['prose in one paragraph', 'The heron stands in the shallow water.\n'],
  ['Chinese', '鹭站在浅水中等待鱼儿到来'],
  ['Thai', 'นกกระสายืนอยู่ในน้ำตื้น'],
  ['headings', '# a\n'],
  ['table rows', '| a | b |\n|---|---|\n'],
  ['letters with accents', 'a\u0301'],
  ['blank lines', '\n'],
  ['one table', '|a\n', '|a|b\n|-|-\n'],
  ['one code block', 'a\n', '```\n'],
])(`${mebibytes} MiB of %s are cut in slices, and take no more than their length`, (_, piece, start = '') => {
  // The first run warms up.
  measure(start + repeated(piece, MiB / 4))
  const [small, large] = [
    measure(start + repeated(piece, (mebibytes / 4) * MiB)),
    measure(start + repeated(piece, mebibytes * MiB)),
  ]
  // Between two chunks other work has its turn. Collecting garbage counts, too: before, it was seconds.
  expect(large.longestMs).toBeLessThan(150)
  expect(large.totalMs).toBeLessThan(12 * Math.max(small.totalMs, 20))
})
