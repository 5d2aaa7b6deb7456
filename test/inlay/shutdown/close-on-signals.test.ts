import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const source = resolve('packages/inlay/src/shutdown/close-on-signals.ts')

/** Runs a host that signals itself; returns what it printed and how it ended. */
function signalled(host: string): Promise<{ output: string; code: unknown; signal: unknown }> {
  const program = `
    import { closeOnSignals } from ${JSON.stringify(source)}
    const closed = Promise.withResolvers()
    const inlay = { close: async () => { await Promise.resolve(); console.log('closed'); closed.resolve() } }
    setInterval(() => {}, 1000)
    ${host}`
  const args = ['--input-type=module-typescript', '--eval', program]
  return new Promise((done) => {
    const child = execFile(process.execPath, args, (_error, output) =>
      done({ output, code: child.exitCode, signal: child.signalCode }),
    )
  })
}

test('the assistant is closed, and the process ends as by the signal', async () => {
  const host = `closeOnSignals(inlay); closeOnSignals({ ...inlay }); process.kill(process.pid, 'SIGTERM')`
  expect(await signalled(host)).toEqual({ output: 'closed\nclosed\n', code: null, signal: 'SIGTERM' })
})

test('a host that handles the signal ends the process itself', async () => {
  const host = `
    const end = () => { console.log('host'); process.exit(7) }
    process.once('SIGTERM', () => closed.promise.then(() => setImmediate(end)))
    closeOnSignals(inlay)
    process.kill(process.pid, 'SIGTERM')`
  expect(await signalled(host)).toEqual({ output: 'closed\nhost\n', code: 7, signal: null })
})

test('an assistant that was taken out is left alone', async () => {
  const host = `closeOnSignals(inlay)(); process.kill(process.pid, 'SIGTERM')`
  expect(await signalled(host)).toEqual({ output: '', code: null, signal: 'SIGTERM' })
})
