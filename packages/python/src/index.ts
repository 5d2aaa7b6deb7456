import type { CodeOutcome, CodeRun, CodeRunner } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { createLimiter } from '@inlay/protocol/concurrency'
import { listWheels, requirePyodide, toPackageName } from './package.ts'
import { createSnapshotKeeper } from './snapshot.ts'
import type { WholeRun } from './outcome-reader.ts'
import { startInterpreter, type ProcessSettings } from './process.ts'

export { findPyodide } from './package.ts'

/** How much programs may use, and what they may import. */
export interface PyodideOptions {
  /** Folder of wheels that programs may import: pure Python ones, and those built for Pyodide. Default: none. */
  readonly wheelsFolder?: string
  /** Longest time of a program whose run names none, in milliseconds. Default 60,000. */
  readonly timeLimitMs?: number
  /** Most memory a program may use, in bytes, from 64 MiB to 2 GiB. Default 512 MiB. */
  readonly memoryLimitBytes?: number
  /** Programs that run at the same time, each in a process of its own. Default 2. */
  readonly processes?: number
  /** Most programs waiting for their turn. Default 100. */
  readonly queueLimit?: number
  /** Path of Node 22.18 or newer. Default: the Node that runs this, `node` under other runtimes. */
  readonly node?: string
  /** Folder of the package `pyodide`. Default: where it is installed. */
  readonly packageFolder?: string
  /**
   * Where the build of `@inlay/python/worker` lies, for apps whose bundler moves this module elsewhere. Its folder
   * is open to the processes of programs, so nothing secret may lie there.
   */
  readonly workerUrl?: URL
}

/** Packages a host installs to use this driver. */
export const pyodideDependencies: readonly string[] = ['pyodide']

const mebibyte = 1_048_576
/** What a process occupies besides the memory of its program: the interpreter's code, and files. */
const processOwnBytes = 400 * mebibyte

/** Sources run as they are in Node, the build has JavaScript only. */
const ownWorker = new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/**
 * Python in WebAssembly (CPython 3.14, with the standard library), each program in a process of its own that is used
 * once: it may read nothing but the interpreter, reaches no network, starts nothing and knows nothing of the host.
 * @throws UNSUPPORTED when the package `pyodide` is missing or of another version, INVALID_INPUT for limits out of range
 * or a folder of wheels that cannot be read
 * @example
 * const python = pyodide({ wheelsFolder: '/srv/wheels' })
 * const { exitCode } = await python.run({ code: 'print(6 * 7)', onOutput: ({ text }) => console.log(text) })
 */
export function pyodide(options: PyodideOptions = {}): CodeRunner & { close(): Promise<void> } {
  const { queueLimit = 100, timeLimitMs = 60_000 } = options
  const settings = toSettings(options)
  const most = Math.max(1, options.processes ?? 2)
  const limiter = createLimiter(most)
  const closing = new AbortController()
  return {
    timeLimitMs,
    packages: settings.wheels.map(toPackageName),
    async run({ signal, ...run }) {
      if (closing.signal.aborted) throw closed()
      signal?.throwIfAborted()
      if (limiter.size >= most + queueLimit) throw queueFull()
      const either = AbortSignal.any(signal ? [closing.signal, signal] : [closing.signal])
      return limiter.run(async () => runIn(settings, toWhole(run, timeLimitMs), either), either)
    },
    async close() {
      closing.abort(closed())
    },
  }
}

async function runIn(settings: ProcessSettings, run: WholeRun, signal: AbortSignal): Promise<CodeOutcome> {
  signal.throwIfAborted()
  const interpreter = startInterpreter(settings)
  const onAbort = (): void => interpreter.end(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await interpreter.run(run)
  } finally {
    signal.removeEventListener('abort', onAbort)
    interpreter.end(closed())
  }
}

function toWhole(run: Omit<CodeRun, 'signal'>, timeLimitMs: number): WholeRun {
  return {
    code: run.code,
    files: run.files ?? [],
    timeLimitMs: run.timeLimitMs ?? timeLimitMs,
    outputLimitBytes: run.outputLimitBytes ?? mebibyte,
    filesLimitBytes: run.filesLimitBytes ?? 50_000_000,
    onOutput: run.onOutput,
  }
}

function toSettings(options: PyodideOptions): ProcessSettings {
  const { memoryLimitBytes = 512 * mebibyte, workerUrl = ownWorker, wheelsFolder } = options
  if (!(memoryLimitBytes >= 64 * mebibyte && memoryLimitBytes <= 2_048 * mebibyte))
    throw new InlayError('INVALID_INPUT', { message: 'memoryLimitBytes of pyodide has to be 64 MiB to 2 GiB.' })
  return {
    packageFolder: requirePyodide(options.packageFolder),
    wheels: listWheels(wheelsFolder),
    memoryLimitBytes,
    processLimitBytes: memoryLimitBytes + processOwnBytes,
    snapshots: createSnapshotKeeper(),
    workerUrl,
    node: options.node ?? ownNode(),
  }
}

/** Bun and Deno have their own executable, which knows none of the limits. */
function ownNode(): string {
  return 'bun' in process.versions || 'deno' in process.versions ? 'node' : process.execPath
}

function closed(): InlayError {
  return new InlayError('CLOSED', { message: 'The runner of programs is closed: make a new one.' })
}

function queueFull(): InlayError {
  return new InlayError('RATE_LIMITED', {
    message: 'Too many programs wait for their turn: run this one again in a while.',
    data: { retryAfterSeconds: 5 },
  })
}
