import { expect, test } from 'vitest'
import { showProgress } from '../../../playground/server/progress.ts'

const screen = (isTTY: boolean): { isTTY: boolean; written: string; write(text: string): void } => ({
  isTTY,
  written: '',
  write(text) {
    this.written += text
  },
})

test('a terminal gets a bar that is redrawn in its line', () => {
  const terminal = screen(true)
  const progress = showProgress(terminal, 'Reading', 4)
  progress.to(2)
  expect(terminal.written.split('\r').at(-1)).toMatch(/Reading {2}█{12}░{12} {2}2\/4$/)
  progress.end('All read.')
  expect(terminal.written).toMatch(/ {2}All read\.\n$/)
  expect(terminal.written.match(/\n/g)).toHaveLength(1)
})

test('a file or pipe gets plain lines', () => {
  const file = screen(false)
  const progress = showProgress(file, 'Reading', 4)
  progress.to(2)
  progress.end('All read.')
  expect(file.written).toBe('Reading (4) …\nAll read.\n')
})
