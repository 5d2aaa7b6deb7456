import { createProcessPresence, type ProcessProbe } from '@inlay/records'
import { expect, test } from 'vitest'

const machine = 'host.example'
const probeOf = (incarnationOf: ProcessProbe['incarnationOf']): ProcessProbe => ({ machine, pid: 7, incarnationOf })

test.each([
  ['no process has its id', undefined, true],
  ['a later process has its id', 'start-2', true],
  ['it runs', 'start-1', false],
  ['the runtime cannot tell', null, false],
])('whether a process counts as ended where %s', (_, present, isGone) => {
  const { owner } = createProcessPresence(probeOf(() => 'start-1'))
  expect(createProcessPresence(probeOf(() => present)).isGone(owner)).toBe(isGone)
})

test('nothing is known of a process of another machine, or of an id in another form', () => {
  const { isGone } = createProcessPresence(probeOf(() => undefined))
  const elsewhere = { ...probeOf(() => 'start-1'), machine: 'other.example' }
  expect(isGone(createProcessPresence(elsewhere).owner)).toBe(false)
  expect(isGone(crypto.randomUUID())).toBe(false)
})
