import { expect, onTestFinished, test } from 'vitest'
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

test('on a narrow terminal the figures stay and the bar gives way', () => {
  const drawn = (columns: number): string => {
    const stderr = { ...recorded(true), columns }
    createOutput({ isJson: false, stdout: recorded(), stderr }).progress('Making searchable', 4000).to(2000)
    return lastDrawn(stderr)
  }
  expect(drawn(100)).toMatch(/^Making searchable █{14}░{14} 2000\/4000$/)
  expect(drawn(40)).toMatch(/^Making searchable █+░+ 2000\/4000$/)
  expect(drawn(40).length).toBeLessThan(40)
  expect(drawn(30)).toBe('Making searchable 2000/4000')
})

test('it tells the rate and the time that is left once they mean something', () => {
  const stderr = recorded(true)
  let time = 0
  const output = createOutput({
    isJson: false,
    stdout: recorded(),
    stderr: { ...stderr, columns: 200 },
    now: () => time,
  })
  const progress = output.progress('Reading', 4000)
  progress.to(20)
  expect(lastDrawn(stderr)).toMatch(/ 20\/4000$/)
  time = 4000
  progress.to(400)
  expect(lastDrawn(stderr)).toMatch(/ 400\/4000, 100\/s, 36 s left$/)
  time = 400_000
  progress.to(1000)
  expect(lastDrawn(stderr)).toMatch(/, 2\.5\/s, 20 min left$/)
  progress.to(4000)
  expect(lastDrawn(stderr)).toMatch(/4000\/4000, 10\/s$/)
})

const lastDrawn = (stream: { text(): string }): string => stream.text().split('\r\x1b[K').at(-1)!

test('a note beside progress stands on a line of its own', () => {
  const stderr = recorded(true)
  const output = createOutput({ isJson: false, stdout: recorded(), stderr })
  output.progress('Reading', 4).to(1)
  output.note('one failed')
  expect(stderr.text().endsWith('\r\x1b[Kone failed\n')).toBe(true)
})

test('elsewhere it is a line at the start and one for each tenth, however long the task', () => {
  const stderr = recorded()
  const progress = createOutput({ isJson: false, stdout: recorded(), stderr, now: () => 0 }).progress('Reading', 1000)
  for (let done = 1; done <= 1000; done++) progress.to(done)
  progress.end()
  expect(stderr.text().trimEnd().split('\n')).toHaveLength(11)
  expect(stderr.text()).toMatch(/^Reading: 0 of 1000\n/)
  expect(stderr.text()).toMatch(/1000 of 1000\n$/)
})

test('elsewhere a slow task says every few seconds how far it is', () => {
  const stderr = recorded()
  let time = 0
  const output = createOutput({ isJson: false, stdout: recorded(), stderr, now: () => time })
  const progress = output.progress('Reading', 1000)
  for (time = 1000; time <= 20_000; time += 1000) progress.to(time / 1000)
  expect(stderr.text().trimEnd().split('\n')).toEqual([
    'Reading: 0 of 1000',
    ...[5, 10, 15, 20].map((done) => `Reading: ${done} of 1000, 1/s, ${Math.round((1000 - done) / 60)} min left`),
  ])
})

test('lines are wrapped at words on a terminal, by its width at the time, and nowhere else', () => {
  const text = 'Specify a key with --key or INLAY_API_KEY.'
  const [stdout, stderr] = [{ ...recorded(true), columns: 30 }, recorded()]
  const output = createOutput({ isJson: false, stdout, stderr })
  output.line(text)
  stdout.columns = 24
  output.line(text)
  output.note(text)
  expect(stdout.text()).toBe(
    'Specify a key with --key or\nINLAY_API_KEY.\nSpecify a key with --key\nor INLAY_API_KEY.\n',
  )
  expect([output.columns, stderr.text()]).toEqual([24, `${text}\n`])
})

test('styles follow NO_COLOR, FORCE_COLOR and the stream they go to', () => {
  const before = { ...process.env }
  onTestFinished(() => {
    for (const name of ['FORCE_COLOR', 'NO_COLOR', 'TERM']) delete process.env[name]
    Object.assign(process.env, before)
  })
  /** The styled text on standard output and on standard error. */
  const shown = (isTTY: boolean, isErrTTY: boolean, env: Record<string, string>): string[] => {
    for (const name of ['FORCE_COLOR', 'NO_COLOR']) delete process.env[name]
    Object.assign(process.env, { TERM: 'xterm' }, env)
    const [stdout, stderr] = [recorded(isTTY), recorded(isErrTTY)]
    const output = createOutput({ isJson: false, stdout, stderr })
    output.line(output.styled('bold', 'x'))
    output.note(output.styled('bold', 'x'))
    return [stdout.text(), stderr.text().replace('\r\x1b[K', '')]
  }
  const bold = '\x1b[1mx\x1b[22m\n'
  expect(shown(true, true, {})).toEqual([bold, bold])
  expect(shown(true, false, {})).toEqual([bold, 'x\n'])
  expect(shown(true, true, { NO_COLOR: '1' })).toEqual(['x\n', 'x\n'])
  expect(shown(true, true, { TERM: 'dumb' })).toEqual(['x\n', 'x\n'])
  expect(shown(false, false, {})).toEqual(['x\n', 'x\n'])
  expect(shown(false, false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toEqual([bold, bold])
  expect(shown(true, true, { FORCE_COLOR: '0' })).toEqual(['x\n', 'x\n'])
})
