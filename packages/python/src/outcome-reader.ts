import { isJsonObject, readJson } from '@inlay/protocol'
import type { CodeFile, CodeOutcome, CodeRun } from '@inlay/agent'
import type { Frame } from './frames.ts'

/** A program with all defaults filled in. */
export type WholeRun = Required<Omit<CodeRun, 'signal' | 'onOutput'>> & Pick<CodeRun, 'onOutput'>

/** Reason why a process ended early: a limit, or a crash of the interpreter. */
export type Loss = 'time' | 'memory' | 'crash'

/** Builds an outcome from the frames of an interpreter's process, which is not trusted to respect format or limits. */
export interface OutcomeReader {
  /** Takes the next frame; false when it is malformed or exceeds a limit, and the process should be ended. */
  take(frame: Frame): boolean
  /** Resolves when the process reports the end of the program. */
  readonly promise: Promise<CodeOutcome>
  /** The outcome of a program whose process was lost. */
  lost(loss: Loss): CodeOutcome
}

const filesLimit = 100

export function createOutcomeReader(run: WholeRun, maxMemoryBytes: number): OutcomeReader {
  const outcome = Promise.withResolvers<CodeOutcome>()
  const output = createOutput(run)
  const files: CodeFile[] = []
  let open: { readonly bytes: Uint8Array; filled: number } | undefined
  let leftBytes = run.maxFilesBytes

  const openFile = (payload: Uint8Array): boolean => {
    const { name, size } = toFields(payload)
    if (typeof name !== 'string' || !isSize(size) || size > leftBytes || files.length >= filesLimit) return false
    leftBytes -= size
    open = { bytes: new Uint8Array(size), filled: 0 }
    files.push({ name, bytes: open.bytes })
    return true
  }
  const fill = (payload: Uint8Array): boolean => {
    if (!open || open.filled + payload.byteLength > open.bytes.byteLength) return false
    open.bytes.set(payload, open.filled)
    open.filled += payload.byteLength
    return true
  }
  const done = (payload: Uint8Array): boolean => {
    const { exitCode, timedOut, isCrash, isOutputCut, droppedFiles } = toFields(payload)
    const isLate = timedOut === true
    output.end()
    outcome.resolve({
      exitCode: isLate || typeof exitCode !== 'number' ? null : exitCode,
      timedOut: isLate,
      error: isLate ? sentenceOf('time', run, maxMemoryBytes) : isCrash === true ? crashed : null,
      files,
      droppedFiles: isTexts(droppedFiles) ? droppedFiles.slice(0, filesLimit) : [],
      isOutputCut: isOutputCut === true || output.isCut(),
    })
    return true
  }
  return {
    promise: outcome.promise,
    take({ kind, payload }) {
      switch (kind) {
        case 'stdout':
        case 'stderr':
          return output.take(kind, payload)
        case 'file':
          return openFile(payload)
        case 'bytes':
          return fill(payload)
        case 'done':
          return done(payload)
        default:
          return false
      }
    },
    lost(loss) {
      output.end()
      const error = sentenceOf(loss, run, maxMemoryBytes)
      const timedOut = loss === 'time'
      return { exitCode: null, timedOut, error, files: [], droppedFiles: [], isOutputCut: output.isCut() }
    },
  }
}

function createOutput({ onOutput, maxOutputBytes }: WholeRun) {
  // One per stream: a character may arrive in two pieces, with output of the other stream in between.
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  let left = maxOutputBytes
  let hasEnded = false
  const emit = (stream: 'stdout' | 'stderr', text: string): void => {
    if (text !== '') onOutput?.({ stream, text })
  }
  return {
    take(stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean {
      if (hasEnded) return false
      left -= bytes.byteLength
      if (left < 0) return false
      emit(stream, decoders[stream].decode(bytes, { stream: true }))
      return true
    },
    /** Flushes incomplete characters. */
    end(): void {
      if (hasEnded) return
      hasEnded = true
      for (const stream of ['stdout', 'stderr'] as const) emit(stream, decoders[stream].decode())
    },
    isCut: () => left <= 0,
  }
}

const crashed = 'The interpreter broke down: the program may have asked for something that is not offered here.'

function sentenceOf(loss: Loss, { timeoutMs }: WholeRun, maxMemoryBytes: number): string {
  if (loss === 'time') return `The program was ended after ${Math.ceil(timeoutMs / 1000)} s, the longest it may take.`
  if (loss === 'memory')
    return `The program was ended: it needs more than ${Math.round(maxMemoryBytes / 1_048_576)} MiB.`
  return crashed
}

/** Fields of a JSON object; none for any other value. */
function toFields(payload: Uint8Array): Readonly<Record<string, unknown>> {
  const value = readJson(new TextDecoder().decode(payload))
  return isJsonObject(value) ? value : {}
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
