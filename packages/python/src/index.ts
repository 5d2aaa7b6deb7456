import type { CodeOutcome, CodeRun, CodeRunner } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { createLimiter } from '@inlay/scheduling'
import { listWheels, requirePyodide, toPackageName } from './package.ts'
import { createSnapshotKeeper } from './snapshot.ts'
import type { WholeRun } from './outcome-reader.ts'
import { startInterpreter, type ProcessSettings } from './process.ts'

export { findPyodide } from './package.ts'

/** Limits and packages of programs. */
export interface PyodideOptions {
  /** Folder of wheels that programs may import: pure Python ones, and those built for Pyodide. Default: none. */
  readonly wheelsFolder?: string
  /** Timeout of programs whose run sets none, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  /** Maximum memory of a program in bytes, 64 MiB to 2 GiB. Default 512 MiB. */
  readonly maxMemoryBytes?: number
  /** Maximum number of programs at the same time, each in its own process. Default 2. */
  readonly maxProcesses?: number
  /** Maximum number of waiting programs. Default 100. */
  readonly maxQueued?: number
  /** Path of Node 22.18 or newer. Default: the Node that runs this, `node` under other runtimes. */
  readonly node?: string
  /** Folder of the package `pyodide`. Default: where it is installed. */
  readonly packageFolder?: string
  /**
   * URL of the build of `@inlay/python/worker`, for apps whose bundler moves this module. Programs can read its folder,
   * so it must not contain secrets.
   */
  readonly workerUrl?: URL
}

const mebibyte = 1_048_576
/** Memory of a process besides that of its program: the interpreter's code, and files. */
const processOwnBytes = 400 * mebibyte

/** Node runs the TypeScript sources directly; the build contains JavaScript. */
const ownWorker = (): URL => new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/**
 * Runs Python in WebAssembly (CPython 3.14 with the standard library). Each program gets a process of its own, which
 * can read only the interpreter, has no network, starts no processes and does not see the host's environment.
 * @throws UNSUPPORTED when the package `pyodide` is missing or of another version, INVALID_INPUT for limits out of
 * range or a folder of wheels that cannot be read
 * @example
 * const python = pyodide({ wheelsFolder: '/srv/wheels' })
 * const { exitCode } = await python.run({ code: 'print(6 * 7)', onOutput: ({ text }) => console.log(text) })
 */
export function pyodide(options: PyodideOptions = {}): CodeRunner & { close(): Promise<void> } {
  const { maxQueued = 100, timeoutMs = 60_000 } = options
  const settings = toSettings(options)
  const most = Math.max(1, options.maxProcesses ?? 2)
  const limiter = createLimiter(most)
  const closing = new AbortController()
  return {
    timeoutMs,
    packages: settings.wheels.map(toPackageName),
    async run({ signal, ...run }) {
      if (closing.signal.aborted) throw closed()
      signal?.throwIfAborted()
      if (limiter.size >= most + maxQueued) throw queueFull()
      const either = AbortSignal.any(signal ? [closing.signal, signal] : [closing.signal])
      return limiter.run(async () => runIn(settings, toWhole(run, timeoutMs), either), either)
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

function toWhole(run: Omit<CodeRun, 'signal'>, timeoutMs: number): WholeRun {
  return {
    code: run.code,
    files: run.files ?? [],
    timeoutMs: run.timeoutMs ?? timeoutMs,
    maxOutputBytes: run.maxOutputBytes ?? mebibyte,
    maxFilesBytes: run.maxFilesBytes ?? 50_000_000,
    onOutput: run.onOutput,
  }
}

function toSettings(options: PyodideOptions): ProcessSettings {
  const { maxMemoryBytes = 512 * mebibyte, workerUrl = ownWorker(), wheelsFolder } = options
  if (!(maxMemoryBytes >= 64 * mebibyte && maxMemoryBytes <= 2_048 * mebibyte))
    throw new InlayError('INVALID_INPUT', { message: 'maxMemoryBytes of pyodide has to be 64 MiB to 2 GiB.' })
  return {
    packageFolder: requirePyodide(options.packageFolder),
    wheels: listWheels(wheelsFolder),
    maxMemoryBytes,
    processLimitBytes: maxMemoryBytes + processOwnBytes,
    snapshots: createSnapshotKeeper(),
    workerUrl,
    node: options.node ?? ownNode(),
  }
}

/** The executables of Bun and Deno do not support these limits. */
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
