import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InlayError } from '@inlay/protocol'
import type { CodeOutcome } from '@inlay/agent'
import type { StartMode } from './context-script.ts'
import { createFrameReader, encodeFrame, type Frame, type Job } from './frames.ts'
import type { InterpreterSettings } from './interpreter.ts'
import { createOutcomeReader, type Loss, type WholeRun } from './outcome-reader.ts'
import type { SnapshotKeeper } from './snapshot.ts'

export interface ProcessSettings extends Omit<InterpreterSettings, 'start'> {
  readonly snapshots: SnapshotKeeper
  readonly workerUrl: URL
  readonly node: string
}

/** A process that loads Python, waits for one program, runs it and exits. */
export interface Interpreter {
  /**
   * May be called once. Rejects with SERVICE_UNAVAILABLE when it does not start, and with the reason passed to {@link
   * Interpreter.end}.
   */
  run(run: WholeRun): Promise<CodeOutcome>
  /** Kills it immediately. */
  end(reason: unknown): void
}

/** Generous, for a busy machine. */
const startLimitMs = 120_000
/** Time for an interrupted program to end and hand over its files before its process is killed. */
const graceMs = 3_000
const watchMs = 200
const maxFrameBytes = 2_097_152

export function startInterpreter(settings: ProcessSettings): Interpreter {
  const { start, bytes: snapshot } = settings.snapshots.next()
  const child = spawnChild(settings, start)
  const ready = Promise.withResolvers<void>()
  /** Resolves when the process ends by itself; rejects when it is killed from here. */
  const gone = Promise.withResolvers<Loss>()
  // Avoids an unhandled rejection while nobody awaits it yet.
  gone.promise.catch(() => undefined)
  const words = createLastWords()
  let isReady = false
  let listen = (frame: Frame): boolean => {
    if (frame.kind === 'snapshot' && start === 'make') settings.snapshots.add(frame.payload)
    else if (frame.kind === 'ready') {
      isReady = true
      if (start === 'make') settings.snapshots.finish()
      clearTimeout(startTimer)
      ready.resolve()
    } else return false
    return true
  }

  const stop = (): void => {
    clearTimeout(startTimer)
    child.kill('SIGKILL')
  }
  const end = (reason: unknown): void => {
    if (!isReady && start === 'make') settings.snapshots.forget()
    gone.reject(reason)
    stop()
  }
  const lose = (loss: Loss): void => {
    if (!isReady && !child.killed && start !== 'plain') settings.snapshots.giveUp()
    gone.resolve(loss)
    stop()
  }
  const startTimer = setTimeout(() => lose('time'), startLimitMs).unref()
  listenTo(child, words, (frame) => listen(frame), lose, end)
  if (snapshot) child.stdin?.write(encodeFrame('snapshot', snapshot))

  return {
    end,
    async run(run) {
      const neverReady = gone.promise.then(() => Promise.reject(unavailable(words.toError())))
      await Promise.race([ready.promise, neverReady])
      const outcome = createOutcomeReader(run, settings.maxMemoryBytes)
      listen = outcome.take
      const watch = watchOver(child, settings, run, lose)
      sendJob(child, run)
      try {
        return await Promise.race([outcome.promise, gone.promise.then(outcome.lost)])
      } finally {
        watch.stop()
        end(undefined)
      }
    },
  }
}

/** @param onFrame returns false for an unexpected frame */
function listenTo(
  child: ChildProcess,
  words: ReturnType<typeof createLastWords>,
  onFrame: (frame: Frame) => boolean,
  lose: (loss: Loss) => void,
  end: (reason: unknown) => void,
): void {
  const read = createFrameReader(maxFrameBytes)
  child.stdout?.on('data', (piece: Uint8Array) => {
    if (read(piece)?.every(onFrame) !== true) lose('crash')
  })
  child.stderr?.on('data', words.add)
  // A process that no longer reads its input is handled when it exits.
  child.stdin?.on('error', () => undefined)
  child.on('error', (cause) => end(unavailable(cause)))
  child.on('close', () => lose(words.lossOf()))
}

/**
 * The process may read its own code, Pyodide and the wheels: no other file, no process, no thread, no native module. It
 * does not get the host's environment, and `eval` is disabled.
 */
function spawnChild({ workerUrl, node, ...settings }: ProcessSettings, start: StartMode): ChildProcess {
  const worker = realpathSync(fileURLToPath(workerUrl))
  const folders = [dirname(worker), settings.packageFolder, ...settings.wheels.map((path) => dirname(path))]
  const { packageFolder, wheels, maxMemoryBytes, processLimitBytes } = settings
  const interpreterSettings: InterpreterSettings = { packageFolder, wheels, maxMemoryBytes, processLimitBytes, start }
  // Windows starts no process without this variable.
  const env = process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] ?? '' } : {}
  const child = spawn(node, [...nodeFlags(folders), worker, JSON.stringify(interpreterSettings)], {
    cwd: dirname(worker),
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  })
  // Lower priority than the server that answers people.
  try {
    if (child.pid !== undefined) setPriority(child.pid, 5)
  } catch {
    // Some systems forbid it; programs then run at normal priority.
  }
  return child
}

/** Flags of Node that let a process only compute and read these folders. */
export function nodeFlags(folders: readonly string[]): string[] {
  return [
    '--permission',
    ...new Set(folders.map((folder) => `--allow-fs-read=${join(folder, '*')}`)),
    '--disallow-code-generation-from-strings',
    '--experimental-vm-modules',
    '--no-warnings',
    '--max-old-space-size=256',
    '--expose-gc',
  ]
}

function sendJob({ stdin }: ChildProcess, run: WholeRun): void {
  const { code, timeoutMs, maxOutputBytes, maxFilesBytes, files } = run
  const heads = files.map(({ name, bytes }) => ({ name, size: bytes.byteLength }))
  const job: Job = { code, timeoutMs, maxOutputBytes, maxFilesBytes, files: heads }
  stdin?.write(encodeFrame('job', new TextEncoder().encode(JSON.stringify(job))))
  for (const { bytes } of files) stdin?.write(bytes)
}

/** Catches what the interpreter cannot limit itself: hangs, and memory outside of Python. */
function watchOver(
  child: ChildProcess,
  { processLimitBytes }: ProcessSettings,
  { timeoutMs }: WholeRun,
  lose: (loss: Loss) => void,
): { stop(): void } {
  const timeout = setTimeout(() => lose('time'), timeoutMs + graceMs)
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > processLimitBytes) lose('memory')
  }, watchMs)
  return {
    stop() {
      clearTimeout(timeout)
      clearInterval(watch)
    },
  }
}

/** Resident memory of a process; 0 outside of Linux. */
function residentBytes(pid: number | undefined): number {
  try {
    const pages = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB$/m)
    return Number(pages?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

function createLastWords(): { add(piece: Uint8Array): void; lossOf(): Loss; toError(): Error } {
  let text = ''
  return {
    add: (piece) => void (text = `${text}${String(piece)}`.slice(-4_000)),
    lossOf: () => (/out of memory|allocation failed/i.test(text) ? 'memory' : 'crash'),
    toError: () => new Error(text === '' ? 'The process ended without a word.' : text),
  }
}

function unavailable(cause: unknown): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', {
    message: 'Python cannot be started here right now; the server log says why.',
    cause,
  })
}
