import type { CodeFile, CodeOutcome, CodeRun } from '@inlay/agent'
import type { Frame } from './frames.ts'

/** A program, with all that has a default. */
export type WholeRun = Required<Omit<CodeRun, 'signal' | 'onOutput'>> & Pick<CodeRun, 'onOutput'>

/** What ended a process: the program used too much, or broke the interpreter. */
export type Loss = 'time' | 'memory' | 'crash'

/** Makes an outcome of what an interpreter's process tells; the process is not trusted to keep to any form or limit. */
export interface OutcomeReader {
  /** Takes the next frame; false when it breaks the form or a limit, after which the process should be ended. */
  take(frame: Frame): boolean
  /** Resolves when the process tells that the program has ended. */
  readonly promise: Promise<CodeOutcome>
  /** The outcome of a program whose process was lost. */
  lost(loss: Loss): CodeOutcome
}

/** Most files of one program. */
const filesLimit = 100

/** Makes a reader for one run. */
export function createOutcomeReader(run: WholeRun, memoryLimitBytes: number): OutcomeReader {
  const outcome = Promise.withResolvers<CodeOutcome>()
  const output = createOutput(run)
  const files: CodeFile[] = []
  let open: { readonly bytes: Uint8Array; filled: number } | undefined
  let leftBytes = run.filesLimitBytes

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
      error: isLate ? sentenceOf('time', run, memoryLimitBytes) : isCrash === true ? sentences.crash : null,
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
      const error = sentenceOf(loss, run, memoryLimitBytes)
      const timedOut = loss === 'time'
      return { exitCode: null, timedOut, error, files: [], droppedFiles: [], isOutputCut: output.isCut() }
    },
  }
}

interface OutputReader {
  take(stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean
  /** Tells what is left of characters that did not come whole. */
  end(): void
  isCut(): boolean
}

function createOutput({ onOutput, outputLimitBytes }: WholeRun): OutputReader {
  // Each stream has its own: a character may come in two pieces with one of the other stream between.
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  let left = outputLimitBytes
  let hasEnded = false
  const emit = (stream: 'stdout' | 'stderr', text: string): void => {
    if (text !== '') onOutput?.({ stream, text })
  }
  return {
    take(stream, bytes) {
      if (hasEnded) return false
      left -= bytes.byteLength
      if (left < 0) return false
      emit(stream, decoders[stream].decode(bytes, { stream: true }))
      return true
    },
    end() {
      if (hasEnded) return
      hasEnded = true
      for (const stream of ['stdout', 'stderr'] as const) emit(stream, decoders[stream].decode())
    },
    isCut: () => left <= 0,
  }
}

const sentences = {
  crash: 'The interpreter broke down: the program may have asked for something that is not offered here.',
}

function sentenceOf(loss: Loss, { timeLimitMs }: WholeRun, memoryLimitBytes: number): string {
  if (loss === 'time') return `The program was ended after ${Math.ceil(timeLimitMs / 1000)} s, the longest it may take.`
  if (loss === 'memory')
    return `The program was ended: it needs more than ${Math.round(memoryLimitBytes / 1_048_576)} MiB.`
  return sentences.crash
}

/** Fields of a JSON object; none of anything else. */
function toFields(payload: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
