import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { isProcessGone, processOwner } from 'inlay/internal/process-owner'

test('a process that runs is not gone, and names itself anew each time', () => {
  expect(isProcessGone(processOwner())).toBe(false)
  expect(processOwner()).not.toBe(processOwner())
})

test('a process that was killed is gone', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'])
  const owner = processOwner().replace(`:${process.pid}:`, `:${child.pid}:`)
  expect(isProcessGone(owner)).toBe(false)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  expect(isProcessGone(owner)).toBe(true)
})

test('nothing is known of other machines and of other names', () => {
  expect(isProcessGone('elsewhere.example:999999999:x')).toBe(false)
  // Process ids of another container under the same name.
  const ours = processOwner().replace(`:${process.pid}:`, ':999999999:')
  expect(isProcessGone(ours)).toBe(true)
  if (process.platform === 'linux') expect(isProcessGone(ours.replace(/\[\d+\]/, '[1]'))).toBe(false)
  expect(isProcessGone('a name of the host')).toBe(false)
  expect(isProcessGone('')).toBe(false)
})
