import { readSync, writeSync } from 'node:fs'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { blockModules } from './blocked-modules.ts'
import { encodeFrame, frameHeadBytes, readFrameHead, type FrameKind, type Job, type JobEnd } from './frames.ts'
import { loadInterpreter, type InterpreterSettings, type ProgramListener } from './interpreter.ts'
import { workFolder } from './start-up.ts'

// The interpreter's process: receives one program, sends its output, files and end, and exits.

const input = 0
const output = 1
const { ppid } = process
const exit = process.exit.bind(process)
const pieceBytes = 1_048_576
const filesLimit = 20

function send(kind: FrameKind, payload: Uint8Array | object = {}): void {
  const bytes = ArrayBuffer.isView(payload) ? payload : new TextEncoder().encode(JSON.stringify(payload))
  let frame = encodeFrame(kind, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  while (frame.byteLength > 0) frame = frame.subarray(writeSync(output, frame))
}

/** Waits for this many bytes; exits when the input has ended. */
function receive(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(input, bytes, filled, length - filled, null)
    if (count === 0) exit(0)
    filled += count
  }
  return bytes
}

function receivePayload(): Uint8Array {
  return receive(readFrameHead(receive(frameHeadBytes))?.length ?? 0)
}

function sendPieces(kind: FrameKind, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) send(kind, bytes.subarray(at, at + pieceBytes))
}

/** Enforces the limits on output, files and memory. */
function openGate(): ProgramListener & { start(job: Job): void; readonly end: () => Pick<JobEnd, CountedEnd> } {
  let job: Job | undefined
  let leftOutput = 0
  let leftFiles = 0
  let fileCount = 0
  let isOutputCut = false
  let interruptAt = Number.POSITIVE_INFINITY
  let lookAt = 0
  const droppedFiles: string[] = []
  return {
    takeSnapshot: (bytes) => sendPieces('snapshot', zstdCompressSync(bytes)),
    start(given) {
      job = given
      leftOutput = given.maxOutputBytes
      leftFiles = given.maxFilesBytes
      interruptAt = performance.now() + given.timeoutMs
    },
    end: () => ({ isOutputCut, droppedFiles }),
    write(stream, bytes) {
      if (!job) return
      const piece = bytes.subarray(0, leftOutput)
      leftOutput -= piece.length
      isOutputCut ||= piece.length < bytes.length
      if (piece.length > 0) send(stream, piece)
    },
    isLate() {
      const now = performance.now()
      if (now > lookAt) {
        // The host is gone.
        if (process.ppid !== ppid) exit(1)
        lookAt = now + 1_000
      }
      if (now < interruptAt) return false
      // Programs may catch an interrupt, so it is repeated.
      interruptAt = now + 500
      return true
    },
    takesFile(name, size) {
      const takes = size <= leftFiles && fileCount < filesLimit
      if (takes) {
        leftFiles -= size
        fileCount++
      } else if (droppedFiles.length < 100) droppedFiles.push(String(name).slice(0, 200))
      return takes
    },
    takeFile(name, bytes) {
      send('file', { name: String(name), size: bytes.length })
      sendPieces('bytes', bytes)
    },
  }
}

type CountedEnd = 'isOutputCut' | 'droppedFiles'

// The host starts this file with its settings as the only argument.
const settings = JSON.parse(process.argv[2] ?? '{}') as InterpreterSettings
const gate = openGate()
const python = await loadInterpreter(settings, gate, () => zstdDecompressSync(receivePayload()))
blockModules()
// Frees what was read to load Python, as much again as Python itself.
globalThis.gc?.()
send('ready')
// The host is trusted to send a job.
const job = JSON.parse(new TextDecoder().decode(receivePayload())) as Job
for (const { name, size } of job.files) python.lay(`${workFolder}/${name}`, receive(size))
gate.start(job)
try {
  // Made by our own script.
  const end = JSON.parse(python.run(job.code)) as Pick<JobEnd, 'exitCode' | 'timedOut'>
  send('done', { ...end, ...gate.end(), isCrash: false } satisfies JobEnd)
} catch (error) {
  writeSync(2, String(error instanceof Error ? error.stack : error).slice(0, 2_000))
  send('done', { exitCode: null, timedOut: false, ...gate.end(), isCrash: true } satisfies JobEnd)
}
exit(0)
