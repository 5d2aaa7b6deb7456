import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { processPresence } from 'inlay/internal/process-presence'

const { owner, isGone } = processPresence()

test('a process that runs is not gone, and names itself anew each time', () => {
  expect(isGone(owner)).toBe(false)
  expect(processPresence().owner).not.toBe(owner)
})

test('a process that was killed is gone', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'])
  // The name of a process of an earlier version, which does not distinguish a later process with the same id.
  const childOwner = owner.replace(`:${process.pid}:`, `:${child.pid}:`).replace(/:[^:]*\//, ':')
  expect(isGone(childOwner)).toBe(false)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  expect(isGone(childOwner)).toBe(true)
})

test.runIf(process.platform === 'linux')('a process whose id another one has now is gone', () => {
  expect(isGone(owner.replace(/\.(\d+)\//, '.1/'))).toBe(true)
  expect(isGone(owner.replace(/:[^:.]+\./, ':another-boot.'))).toBe(true)
})

test('nothing is known of other machines and of other names', () => {
  expect(isGone('elsewhere.example:999999999:x')).toBe(false)
  // Process ids of another container under the same name.
  const ours = owner.replace(`:${process.pid}:`, ':999999999:')
  expect(isGone(ours)).toBe(true)
  if (process.platform === 'linux') expect(isGone(ours.replace(/\[\d+\]/, '[1]'))).toBe(false)
  expect(isGone('a name of the host')).toBe(false)
  expect(isGone('')).toBe(false)
})
