import { expect, test } from 'vitest'
import { createOutput, type OutputStream } from 'inlay/internal/cli/output'

function recorded(isTTY = false): OutputStream & { text(): string } {
  let all = ''
  return { isTTY, columns: 60, write: (text) => (all += text), text: () => all }
}

test('results and progress go to different streams', () => {
  const [stdout, stderr] = [recorded(), recorded()]
  const output = createOutput({ isJson: false, stdout, stderr })
  output.line('a result')
  output.json({ a: 1 })
  output.note('beside')
  expect([stdout.text(), stderr.text()]).toEqual(['a result\n{"a":1}\n', 'beside\n'])
  expect(output.styled('bold', 'x')).toBe('x')
})

test('on a terminal progress is one line that is rewritten and taken away', () => {
  const stderr = recorded(true)
  const progress = createOutput({ isJson: false, stdout: recorded(), stderr }).progress('Reading', 4)
  progress.to(1)
  progress.to(4)
  progress.end()
  expect(stderr.text()).toMatch(/1\/4/)
  expect(stderr.text()).not.toContain('\n')
  expect(stderr.text().endsWith('\r\x1b[K')).toBe(true)
  for (const drawn of stderr.text().split('\r\x1b[K')) expect(drawn.length).toBeLessThan(60)
})

test('elsewhere it is ten lines, however long the task', () => {
  const stderr = recorded()
  const progress = createOutput({ isJson: false, stdout: recorded(), stderr }).progress('Reading', 1000)
  for (let done = 1; done <= 1000; done++) progress.to(done)
  progress.end()
  expect(stderr.text().trimEnd().split('\n')).toHaveLength(10)
  expect(stderr.text()).toMatch(/1000 of 1000\n$/)
})
