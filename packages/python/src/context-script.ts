/** Functions that the host provides to the script below. Their arguments come from untrusted code. */
export interface ContextHost {
  /** Reads a text file of Pyodide's folder; only before the first program, as `readBytes`. */
  readText(name: string): string
  readBytes(name: string): Uint8Array
  decode(encoding: string, bytes: Uint8Array | undefined): string
  encode(text: string): Uint8Array
  encodeInto(text: string, bytes: Uint8Array): { read: number; written: number }
  fillRandomly(bytes: ArrayBufferView): void
  now(): number
  log(text: string): void
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void
  /** Whether the program must be interrupted now. */
  isLate(): boolean
  /** Whether the process has memory for this many more bytes of files. */
  hasRoom(bytes: number): boolean
  /** Accepts a produced file; false when it exceeds a limit. */
  takesFile(name: string, size: number): boolean
  takeFile(name: string, bytes: Uint8Array): void
  /** Receives the memory of the loaded Python, before the first program. */
  takeSnapshot(bytes: Uint8Array): void
}

/** A Python that runs one program, made by the script. */
export interface ContextPython {
  lay(path: string, bytes: Uint8Array): void
  /** Runs the program, passes its files to the host, and returns JSON: `exitCode`, `timedOut`. */
  run(code: string): string
}

export interface ContextSettings {
  readonly startUp: string
  readonly workFolder: string
  readonly maxMemoryBytes: number
  readonly wheels: readonly string[]
  readonly start: StartMode
}

/** How Python starts: plainly, plainly with its memory then saved as a snapshot, or from a snapshot. */
export type StartMode = 'plain' | 'make' | 'load'

/**
 * Runs in its own context, which contains only the language and WebAssembly, and defines what Pyodide needs there.
 * Functions of the host stay inside closures, and no object of the host, not even an error, leaves them: everything a
 * program can reach from Python belongs to this context, where `eval` is disabled.
 */
export const contextScript = `(host) => {
'use strict'
const guarded = (work) => (...given) => {
  try { return work(...given) } catch { throw new TypeError('The host refused.') }
}
const [readText, readBytes, decode, encode, encodeInto] =
  [host.readText, host.readBytes, host.decode, host.encode, host.encodeInto].map(guarded)
const [fillRandomly, now, log, write] = [host.fillRandomly, host.now, host.log, host.write].map(guarded)
const [isLate, hasRoom, takesFile, takeFile] = [host.isLate, host.hasRoom, host.takesFile, host.takeFile].map(guarded)
const takeSnapshot = guarded(host.takeSnapshot)
const lastPart = (path) => String(path).split('/').pop()
const print = (...given) => log(given.map((value) => String(value?.stack ?? value)).join(' '))
const define = (name, value) => { globalThis[name] = value }

define('TextDecoder', class TextDecoder {
  #encoding
  constructor(encoding = 'utf-8') { this.#encoding = String(encoding) }
  decode(bytes) { return bytes === undefined ? '' : decode(this.#encoding, bytes) }
})
define('TextEncoder', class TextEncoder {
  encode(text = '') { return new Uint8Array(encode(String(text))) }
  encodeInto(text, bytes) {
    const { read, written } = encodeInto(String(text), bytes)
    return { read, written }
  }
})
define('crypto', { getRandomValues(bytes) { fillRandomly(bytes); return bytes } })
define('performance', { now: () => now() })
define('console', { log: print, info: print, debug: print, warn: print, error: print })
define('setTimeout', () => 0)
define('clearTimeout', () => {})
// These names make Pyodide assume a bare engine, and Emscripten a browser worker, so that neither looks for Node.
define('WorkerGlobalScope', class WorkerGlobalScope {})
define('read', (path) => readText(lastPart(path)))
define('readbuffer', (path) => new Uint8Array(readBytes(lastPart(path))).buffer)
define('load', () => { throw new TypeError('Nothing is loaded here.') })

function boundMemory(maxBytes) {
  const { grow } = WebAssembly.Memory.prototype
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * 65536 > maxBytes) throw new RangeError('No more memory.')
    return Reflect.apply(grow, this, [pages])
  }
}

function boundFiles({ FS }) {
  const stream = FS.filesystems.MEMFS.ops_table.file.stream
  const { write } = stream
  let unseen = 0
  stream.write = (...given) => {
    const length = given[3]
    unseen += length
    if (unseen > 4194304) {
      if (!hasRoom(unseen)) throw new FS.ErrnoError(51)
      unseen = 0
    }
    return write(...given)
  }
}

function collect({ FS }, folder, laid, path = folder) {
  for (const name of FS.readdir(path).sort()) {
    if (name.startsWith('.') || name === '__pycache__') continue
    const full = path + '/' + name
    const { mode, size } = FS.lstat(full)
    if (FS.isDir(mode)) collect({ FS }, folder, laid, full)
    else if (FS.isFile(mode)) handOver({ FS }, full, full.slice(folder.length + 1), size, laid.get(full))
  }
}

function handOver({ FS }, path, name, size, before) {
  if (before?.length === size) {
    const bytes = FS.readFile(path)
    if (before.every((byte, at) => byte === bytes[at])) return
  }
  if (takesFile(name, size)) takeFile(name, FS.readFile(path))
}

return async ({ loadPyodide }, { default: createPyodideModule }, settings) => {
  boundMemory(settings.maxMemoryBytes)
  const python = await loadPyodide({
    indexURL: '/',
    packageBaseUrl: '/',
    createPyodideModule,
    lockFileContents: { ...JSON.parse(readText('pyodide-lock.json')), packages: {} },
    jsglobals: Object.freeze(Object.create(null)),
    enableRunUntilComplete: false,
    env: { HOME: settings.workFolder, PYTHONDONTWRITEBYTECODE: '1', MPLBACKEND: 'agg', MPLCONFIGDIR: '/tmp' },
    stdin: () => null,
    stdout: print,
    stderr: print,
    ...(settings.start === 'make' ? { _makeSnapshot: true } : {}),
    ...(settings.start === 'load' ? { _loadSnapshot: new Uint8Array(readBytes('snapshot')) } : {}),
  })
  // Frees 30 MB that are not used any more.
  delete python._api.config._loadSnapshot
  // The only path to a dynamic import, which the engine would refuse with an error object of the host.
  delete python._api.initializeNodeSockFS
  if (settings.start === 'make') takeSnapshot(python.makeMemorySnapshot())
  const { FS } = python
  boundFiles(python)
  FS.mkdirTree(settings.workFolder)
  for (const wheel of settings.wheels) {
    FS.mkdirTree('/wheels')
    FS.writeFile('/wheels/' + wheel, new Uint8Array(readBytes(wheel)), { canOwn: true })
  }
  const [run, finish] = python.runPython(settings.startUp, { globals: python.toPy({}) })
  const laid = new Map()
  for (const [stream, set] of [['stdout', python.setStdout], ['stderr', python.setStderr]]) {
    set({ write: (bytes) => { write(stream, bytes); return bytes.length } })
  }
  return {
    lay(path, bytes) {
      const own = new Uint8Array(bytes)
      FS.writeFile(path, own)
      laid.set(path, own)
    },
    run(code) {
      let isInterrupting = false
      const interrupts = { get 0() { const late = isLate(); isInterrupting ||= late; return late ? 2 : 0 }, set 0(_) {} }
      python.setInterruptBuffer(interrupts)
      const end = JSON.parse(run(String(code)))
      python.setInterruptBuffer(undefined)
      finish()
      if (FS.analyzePath(settings.workFolder).exists) collect(python, settings.workFolder, laid)
      return JSON.stringify({ exitCode: end.exitCode, timedOut: isInterrupting && end.isInterrupted })
    },
  }
}
}`
