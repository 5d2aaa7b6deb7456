import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeRunnerConformance } from '@inlay/conformance'
import type { CodeRun, CodeRunner } from '@inlay/agent'
import { pyodide } from '@inlay/python'

// A process takes seconds to start on a machine that has much else to do.
const patience = { timeout: 300_000 }

const folder = mkdtempSync(join(tmpdir(), 'inlay-python-'))
let python: ReturnType<typeof pyodide>

beforeAll(() => {
  const wheel = (files: Record<string, string>) =>
    zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])))
  writeFileSync(
    join(folder, 'bird_count-1.2-py3-none-any.whl'),
    wheel({
      'bird_count/__init__.py': 'from bird_names import names\ndef count(): return len(names)',
      'bird_count/data.txt': 'herons',
      'bird_count-1.2.dist-info/METADATA': 'Metadata-Version: 2.1\nName: bird-count\nVersion: 1.2\n',
    }),
  )
  writeFileSync(
    join(folder, 'bird_names-0.1-py3-none-any.whl'),
    wheel({ 'bird_names-0.1.data/purelib/bird_names.py': 'names = ["heron", "egret"]' }),
  )
  writeFileSync(
    join(folder, 'bird_song-3-cp314-cp314-pyemscripten_2026_0_wasm32.whl'),
    zipSync({ 'bird_song.cpython-314-wasm32-emscripten.so': nativeModule('PyInit_bird_song') }),
  )
  writeFileSync(join(folder, 'bird_count-9-cp314-cp314-manylinux_2_17_x86_64.whl'), 'of another machine')
  writeFileSync(join(folder, 'read.me'), 'no wheel')
  python = pyodide({ wheelsFolder: folder })
})
afterAll(async () => {
  await python.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** The least WebAssembly that Python takes for a native module: its only function says that it failed. */
function nativeModule(initFunction: string): Uint8Array {
  const text = (value: string): number[] => [value.length, ...Buffer.from(value)]
  const section = (id: number, ...content: number[]): number[] => [id, content.length, ...content]
  const preamble = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  return Uint8Array.of(
    ...preamble,
    ...section(0, ...text('dylink.0'), 1, 4, 0, 0, 0, 0),
    ...section(1, 1, 0x60, 0, 1, 0x7f),
    ...section(3, 1, 0),
    ...section(7, 1, ...text(initFunction), 0, 0),
    ...section(10, 1, 4, 0, 0x41, 0, 0x0b),
  )
}

async function runCode(code: string, more: Partial<CodeRun> = {}, runner: CodeRunner = python) {
  const said = { stdout: '', stderr: '' }
  const outcome = await runner.run({ code, onOutput: ({ stream, text }) => void (said[stream] += text), ...more })
  return { ...outcome, ...said }
}

describe('conformance of code runners', patience, () => {
  for (const [title, run] of codeRunnerConformance(() => python)) test(title, run)
})

describe('python', patience, () => {
  test("an operator's wheels can be imported, and are named", async () => {
    expect(python.packages).toEqual(['bird-count 1.2', 'bird-names 0.1', 'bird-song 3'])
    const { stdout } = await runCode(
      [
        'import bird_count, importlib.metadata, importlib.resources',
        'print(bird_count.count(), importlib.metadata.version("bird-count"))',
        'print(importlib.resources.read_text("bird_count", "data.txt"))',
      ].join('\n'),
    )
    expect(stdout).toBe('2 1.2\nherons\n')
  })

  test('a native module of a wheel is loaded, and asked to begin', async () => {
    expect((await runCode('import bird_song')).stderr).toContain('SystemError: initialization of bird_song failed')
  })

  test('asyncio works, at the top and in the program, and has threads of its own kind', async () => {
    const { stdout, stderr } = await runCode(
      [
        'import asyncio, time',
        'async def one(n):',
        '  await asyncio.sleep(0.01 * n)',
        '  return n',
        'print(await asyncio.gather(one(2), one(1)), await asyncio.to_thread(max, 3, 4))',
      ].join('\n'),
    )
    expect([stdout, stderr]).toEqual(['[2, 1] 4\n', ''])
    expect((await runCode('import asyncio\nasync def f(): return 5\nasyncio.run(f())')).stdout).toBe('5\n')
  })

  test('interpreters that start with the same memory have luck of their own, and nobody types', async () => {
    const code = 'import random, uuid\nprint(random.random(), uuid.uuid4())\ninput()'
    const [value, other] = await Promise.all([runCode(code), runCode(code)])
    expect(value.stdout.split(' ')).toHaveLength(2)
    for (const word of value.stdout.split(' ')) expect(other.stdout).not.toContain(word)
    expect(value.stderr).toContain('EOFError')
  })

  test('files fill the memory of a program, not that of the host', async () => {
    const code = [
      'try:',
      '  with open("big", "wb") as f:',
      '    for _ in range(100): f.write(b"x" * 100_000_000)',
      '  print("written")',
      'except OSError as error: print(error.errno, "full")',
    ]
    const { stdout, error } = await runCode(code.join('\n'))
    expect(stdout).not.toContain('written')
    expect(stdout.includes('full') || error !== null).toBe(true)
  })

  test('what is found of JavaScript by digging reaches neither Node nor new code', async () => {
    const { stdout, stderr, exitCode } = await runCode(digging)
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'dug True\n', stderr: '', exitCode: 0 })
  })

  test('a program that takes its own modules apart has ended like any other', async () => {
    const code =
      'import os, shutil, sys\nprint("here", flush=True)\nos.chdir("/")\nshutil.rmtree("/work")\nsys.stdout = sys.stderr = None'
    expect(await runCode(code)).toMatchObject({ stdout: 'here\n', exitCode: 0, error: null, files: [] })
  })

  test('breaking the interpreter itself is a clear failure', async () => {
    const { error, exitCode } = await runCode(
      'import ctypes\nctypes.CDLL(None).emscripten_run_script_int(b"globalThis.constructor")',
    )
    expect(exitCode).toBeNull()
    expect(error).toContain('broke down')
  })
})

/** Looks through all objects for proxies of JavaScript, and tries whatever leads from a proxy to more. */
const digging = `
import gc, types
found, seen = [], set()
for value in gc.get_objects():
    if isinstance(value, types.FunctionType) and 'pyodide' in (value.__module__ or ''):
        found += [value for value in value.__globals__.values() if type(value).__name__ == 'JsProxy']
for value in gc.get_objects():
    if isinstance(value, dict): found += [v for v in list(value.values()) if type(v).__name__ == 'JsProxy']
def look(work):
    try: value, text = (value := work()), str(value)[:200]
    except Exception: return
    if any(word in text for word in ('[object process]', 'node:', '/usr/', '/home/')): print('reached', text[:80])
    if type(value).__name__ == 'JsProxy' and value.js_id not in seen and len(seen) < 3000:
        seen.add(value.js_id)
        found.append(value)
while found:
    value = found.pop()
    look(lambda: value.constructor.constructor('return process')())
    look(lambda: value.eval('globalThis.process'))
    look(lambda: value.initializeNodeSockFS())
    for name in ('constructor', '__proto__', 'prototype', 'process', 'require', 'fetch', 'mainModule', 'FS', 'filesystems', 'NODEFS', '_api', '_module', 'config', 'jsglobals', 'globalThis'):
        look(lambda: getattr(value, name))
    for name in (dir(value) if len(seen) < 300 else ()):
        look(lambda: getattr(value, name))
print('dug', len(seen) > 50)
`

describe('what cannot run', () => {
  test(
    'beyond the queue programs are refused; a closed runner refuses all, also those under way',
    patience,
    async () => {
      const small = pyodide({ maxProcesses: 1, maxQueued: 1 })
      const endless = small.run({ code: 'while True: pass' })
      const queued = small.run({ code: '1' })
      await expect(small.run({ code: '1' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
      const ended = Promise.allSettled([endless, queued])
      await small.close()
      expect((await ended).map((value) => value.status === 'rejected' && value.reason.code)).toEqual([
        'CLOSED',
        'CLOSED',
      ])
      await expect(small.run({ code: '1' })).rejects.toMatchObject({ code: 'CLOSED' })
    },
  )

  test('a program that leaves the queue never starts', patience, async () => {
    const small = pyodide({ maxProcesses: 1 })
    const stop = new AbortController()
    const first = small.run({ code: 'while True: pass', signal: stop.signal })
    const left = small.run({ code: '1', signal: AbortSignal.any([stop.signal]) })
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    await expect(left).rejects.toThrow('stopped')
    await small.close()
  })
})
