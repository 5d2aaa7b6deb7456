import { execFile, spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { runInContext } from 'node:vm'
import { cases } from '../cases.ts'
import fc from '../fast-check.ts'
import { build } from 'tsdown'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { contextScript, type ContextHost } from '@inlay/python/internal/context-script'
import { createFrameReader, encodeFrame, type FrameKind } from '@inlay/python/internal/frames'
import { newContext } from '@inlay/python/internal/interpreter'
import { createOutcomeReader, type WholeRun } from '@inlay/python/internal/outcome-reader'
import { nodeFlags } from '@inlay/python/internal/process'
import { createSnapshotKeeper } from '@inlay/python/internal/snapshot'

const isShort = cases(true, false)
/** Runs with the full tests alone. */
const atLength = cases(test.skip, test)

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const noBytes = new Uint8Array(0)

describe('frames', () => {
  const kind = fc.constantFrom<FrameKind>('ready', 'stdout', 'stderr', 'file', 'bytes', 'done', 'snapshot')
  const frame = fc.record({ kind, payload: fc.uint8Array({ maxLength: 50 }) })

  test('come out as they went in, whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (frames, sizes) => {
        const all = Buffer.concat(frames.map((frame) => encodeFrame(frame.kind, frame.payload)))
        const read = createFrameReader(50)
        const decoded = []
        for (let at = 0, turn = 0; at < all.length; turn++) {
          const size = sizes[turn % sizes.length]!
          decoded.push(...read(all.subarray(at, at + size))!)
          at += size
        }
        expect(decoded.map((frame) => ({ ...frame, payload: Buffer.from(frame.payload) }))).toEqual(
          frames.map((frame) => ({ ...frame, payload: Buffer.from(frame.payload) })),
        )
      }),
    )
  })

  test('of no kind, or longer than allowed, end the reading for good', () => {
    for (const bad of [Uint8Array.of(99, 0, 0, 0, 0), encodeFrame('stdout', new Uint8Array(51))]) {
      const read = createFrameReader(50)
      expect(read(bad)).toBeUndefined()
      expect(read(encodeFrame('ready', noBytes))).toBeUndefined()
    }
  })
})

describe('what a process tells', () => {
  function newReader(more: Partial<WholeRun> = {}) {
    const said: string[] = []
    const run: WholeRun = {
      code: '',
      files: [],
      timeoutMs: 1_500,
      maxOutputBytes: 100,
      maxFilesBytes: 100,
      onOutput: ({ stream, text }) => void said.push(`${stream}: ${text}`),
      ...more,
    }
    const reader = createOutcomeReader(run, 64 * 1_048_576)
    return { said, reader, take: (kind: FrameKind, payload: Uint8Array) => reader.take({ kind, payload }) }
  }

  test('a character that comes in two pieces is one, also with the other stream between', () => {
    const { take, said } = newReader()
    const crab = bytes('🦀')
    take('stdout', crab.subarray(0, 2))
    take('stderr', bytes('e'))
    take('stdout', crab.subarray(2))
    expect(said).toEqual(['stderr: e', 'stdout: 🦀'])
  })

  test('more output or larger files than allowed, and bytes of no file, break the form', () => {
    expect(newReader().take('stdout', new Uint8Array(101))).toBe(false)
    expect(newReader().take('file', bytes({ name: 'a', size: 101 }))).toBe(false)
    expect(newReader().take('bytes', bytes('x'))).toBe(false)
    for (const odd of [{ name: 1, size: 1 }, { name: 'a', size: -1 }, { name: 'a', size: 1.5 }, [], null, 'x'])
      expect(newReader().take('file', bytes(odd))).toBe(false)
    const { take } = newReader()
    take('file', bytes({ name: 'a', size: 1 }))
    expect(take('bytes', bytes('xy'))).toBe(false)
    expect(take('job', noBytes)).toBe(false)
  })

  test('an end of another shape than told is an outcome all the same', async () => {
    for (const odd of [{}, [], null, { exitCode: 'x', timedOut: 'yes', droppedFiles: [1] }]) {
      const { take, reader } = newReader()
      take('done', bytes(odd))
      expect(await reader.promise).toEqual({
        exitCode: null,
        timedOut: false,
        error: null,
        files: [],
        droppedFiles: [],
        isOutputCut: false,
      })
    }
  })

  test('a process that is lost tells why, and keeps no half file', () => {
    const { take, reader } = newReader()
    take('file', bytes({ name: 'a', size: 9 }))
    expect(reader.lost('time')).toMatchObject({ timedOut: true, exitCode: null, files: [] })
    expect(reader.lost('time').error).toContain('2 s')
    expect(reader.lost('memory')).toMatchObject({ timedOut: false, error: expect.stringContaining('64 MiB') })
    expect(take('stdout', bytes('late'))).toBe(false)
  })
})

describe('the memory that interpreters begin with', () => {
  test('is made by the first of them, and loaded by those that come after it is whole', () => {
    const keeper = createSnapshotKeeper()
    expect(keeper.next()).toEqual({ start: 'make' })
    expect(keeper.next()).toEqual({ start: 'plain' })
    keeper.add(Uint8Array.of(1, 2))
    keeper.add(Uint8Array.of(3))
    keeper.finish()
    expect(keeper.next()).toEqual({ start: 'load', bytes: Uint8Array.of(1, 2, 3) })
  })

  test('is made by the next one when the first is ended, and by none once one fails', () => {
    const keeper = createSnapshotKeeper()
    keeper.next()
    keeper.add(Uint8Array.of(9))
    keeper.forget()
    expect(keeper.next()).toEqual({ start: 'make' })
    keeper.giveUp()
    keeper.finish()
    expect(keeper.next()).toEqual({ start: 'plain' })
  })
})

test('whatever the context gives, or throws, belongs to it and leads to no new code', async () => {
  const refuse = (): never => {
    throw new Error('of the host')
  }
  const host: ContextHost = {
    readText: refuse,
    readBytes: () => Buffer.from('of the host'),
    decode: (encoding, given) => new TextDecoder(encoding).decode(given),
    encode: (text) => new TextEncoder().encode(text),
    encodeInto: (text, given) => new TextEncoder().encodeInto(text, given),
    fillRandomly: ({ buffer, byteOffset, byteLength }) =>
      void randomFillSync(new Uint8Array(buffer, byteOffset, byteLength)),
    now: () => 1,
    log: refuse,
    write: refuse,
    isLate: refuse,
    hasRoom: refuse,
    takesFile: refuse,
    takeFile: refuse,
    takeSnapshot: refuse,
  }
  const context = newContext()
  runInContext(contextScript, context)(host)
  const probe = `(async () => {
    const foreign = []
    const look = (name, value) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return
      if (!(value instanceof Object)) return foreign.push(name)
      try { value.constructor.constructor('return 1')(); foreign.push(name + ' makes code') } catch {}
    }
    const attempt = async (name, work) => {
      try { look(name, await work()) } catch (error) { look(name + ' error', error) }
    }
    for (const name of Object.getOwnPropertyNames(globalThis)) look(name, globalThis[name])
    const bytes = new Uint8Array(3)
    await attempt('decode', () => new TextDecoder('bogus').decode(bytes))
    await attempt('encode', () => new TextEncoder().encode('x'))
    await attempt('encodeInto', () => new TextEncoder().encodeInto('x', bytes))
    await attempt('encodeInto what is no bytes', () => new TextEncoder().encodeInto('x', {}))
    await attempt('random', () => crypto.getRandomValues(bytes))
    await attempt('random of nothing', () => crypto.getRandomValues())
    await attempt('console', () => console.log('x'))
    await attempt('read', () => read('x'))
    await attempt('readbuffer', () => readbuffer('x'))
    await attempt('wasm', () => WebAssembly.compile(bytes))
    await attempt('eval', () => eval('1'))
    await attempt('overflow', () => { const deeper = () => { new TextDecoder().decode(bytes); deeper() }; deeper() })
    return foreign.join()
  })()`
  expect(await runInContext(probe, context)).toBe('')
})

const folder = mkdtempSync(join(tmpdir(), 'inlay-doors-'))
const built = mkdtempSync(resolve('node_modules/.pyodide-'))
afterAll(() => {
  for (const frame of [folder, built]) rmSync(frame, { recursive: true, force: true, maxRetries: 10 })
})
const run = promisify(execFile)

test('code that would get out of its context finds every door of the process shut', async () => {
  const server = createServer()
  let visits = 0
  server.on('connection', () => void visits++)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as { port: number }
  const source = resolve('packages/python/src')
  const ways = [
    `await fetch('http://127.0.0.1:${port}')`,
    `new WebSocket('ws://127.0.0.1:${port}')`,
    `await new Promise((ok, no) => net.connect(${port}, '127.0.0.1').on('connect', ok).on('error', no))`,
    `await new Promise((ok, no) => http.get('http://127.0.0.1:${port}', ok).on('error', no))`,
    `await new Promise((ok, no) => net.createServer().listen(0, ok).on('error', no))`,
    `dgram.createSocket('udp4').send('x', ${port}, '127.0.0.1')`,
    `await dns.promises.lookup('localhost')`,
    `await new dns.promises.Resolver().resolve4('localhost')`,
    `await new Promise((ok, no) => dns.resolve4('localhost', (e) => e ? no(e) : ok()))`,
    `child.spawnSync('id').error === undefined || (() => { throw 0 })()`,
    `child.execSync('id')`,
    `new threads.Worker('1', { eval: true })`,
    `fs.readFileSync('/etc/passwd')`,
    `fs.readFileSync('/proc/self/environ')`,
    `fs.readdirSync('/')`,
    `fs.writeFileSync(${JSON.stringify(join(folder, 'made'))}, 'x')`,
    `process.kill(process.ppid, 0)`,
    `process.binding('tcp_wrap')`,
    `process.getBuiltinModule('net')`,
    `process.dlopen({ exports: {} }, 'x.node')`,
    `await import('node:os')`,
    `await import('data:text/javascript,export default 1')`,
    `require('node:os')`,
    `eval('1')`,
    `new Function('return 1')()`,
    `inspector.open(0)`,
  ]
  const script = [
    `import child from 'node:child_process'; import dgram from 'node:dgram'; import dns from 'node:dns'`,
    `import fs from 'node:fs'; import http from 'node:http'; import inspector from 'node:inspector'`,
    `import net from 'node:net'; import threads from 'node:worker_threads'; import { createRequire } from 'node:module'`,
    `import { blockModules } from ${JSON.stringify(pathToFileURL(join(source, 'blocked-modules.ts')).href)}`,
    `const require = createRequire(import.meta.url)`,
    `blockModules()`,
    ...ways.map((way) => `try { ${way}; console.log(${JSON.stringify(way)}) } catch {}`),
    `console.log('tried', Object.keys(process.env).length)`,
    `process.exit()`,
  ]
  writeFileSync(join(folder, 'doors.mjs'), script.join('\n'))
  const { stdout } = await run(process.execPath, [...nodeFlags([source, folder]), join(folder, 'doors.mjs')], {
    env: {},
  })
  server.close()
  expect({ stdout, visits }).toEqual({ stdout: 'tried 0\n', visits: 0 })
})

// Other systems have no file that lists the children of a process.
test.skipIf(process.platform !== 'linux' || isShort)('a program does not outlive a host that is killed', async () => {
  const script = `
    import { pyodide } from ${JSON.stringify(pathToFileURL(resolve('packages/python/src/index.ts')).href)}
    await pyodide().run({ code: 'print("begun")\\nwhile True: pass', onOutput: () => console.log('begun') })`
  const host = spawn(process.execPath, ['--conditions=@inlay/source', '--input-type=module', '-e', script])
  await new Promise((begun) => host.stdout.once('data', begun))
  const [program] = readFileSync(`/proc/${host.pid}/task/${host.pid}/children`, 'utf8').trim().split(' ')
  const isRunning = (): boolean =>
    existsSync(`/proc/${program}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${program}/status`, 'utf8'))
  expect(Number(program)).toBeGreaterThan(0)
  host.kill('SIGKILL')
  await vi.waitUntil(() => !isRunning(), { timeout: 60_000, interval: 50 })
})

atLength('the build runs programs as the sources do, and lets its host end', async () => {
  await build({
    config: false,
    cwd: 'packages/python',
    entry: ['src/index.ts', 'src/worker.ts'],
    root: 'src',
    tsconfig: '../../tsconfig.json',
    outDir: built,
    platform: 'neutral',
    deps: { neverBundle: [/^node:/] },
    logLevel: 'silent',
  })
  const script = `
    import { pyodide } from ${JSON.stringify(pathToFileURL(join(built, 'index.js')).href)}
    await pyodide().run({ code: '6 * 7', onOutput: ({ text }) => process.stdout.write(text) })`
  const { stdout } = await run(process.execPath, ['--conditions=@inlay/source', '--input-type=module', '-e', script])
  expect(stdout).toBe('42\n')
})
