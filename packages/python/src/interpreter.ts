import { randomFillSync } from 'node:crypto'
import { readFileSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import type * as Pyodide from 'pyodide'
import { constants, createContext, runInContext, SourceTextModule, type Context } from 'node:vm'
import {
  contextScript,
  type ContextHost,
  type ContextPython,
  type ContextSettings,
  type StartMode,
} from './context-script.ts'
import { startUp, workFolder } from './start-up.ts'

export interface InterpreterSettings {
  readonly packageFolder: string
  /** Paths of wheels that may be imported. */
  readonly wheels: readonly string[]
  /** Maximum memory of Python itself. */
  readonly maxMemoryBytes: number
  /** Maximum memory of the process, including the interpreter's code and the files of a program. */
  readonly processLimitBytes: number
  readonly start: StartMode
}

export type ProgramListener = Pick<ContextHost, 'takeSnapshot' | 'write' | 'isLate' | 'takesFile' | 'takeFile'>

/** @param takeSnapshot returns the snapshot of another interpreter, for the start `load`; called once */
export async function loadInterpreter(
  settings: InterpreterSettings,
  listener: ProgramListener,
  takeSnapshot: () => Uint8Array,
): Promise<ContextPython> {
  const context = newContext()
  const files = readableFiles(settings)
  let isLoading = true
  const read = (name: string): Uint8Array => {
    const path = files.get(name)
    if (!isLoading || (path === undefined && name !== 'snapshot')) throw new Error('No such file.')
    if (path === undefined) return takeSnapshot()
    return readFileSync(path)
  }
  // The type matches the text of our script.
  const open = runInContext(contextScript, context) as (host: ContextHost) => MakePython
  const make = open(hostFor(read, settings, listener))
  const python = await make(
    // The package's module, evaluated here instead of imported.
    (await loadModule(settings, 'pyodide.mjs', context)) as typeof Pyodide,
    await loadModule(settings, 'pyodide.asm.mjs', context),
    {
      startUp,
      workFolder,
      maxMemoryBytes: settings.maxMemoryBytes,
      wheels: settings.wheels.map((path) => basename(path)),
      start: settings.start,
    },
  )
  isLoading = false
  return python
}

/** Without `eval`. A global object made from a host object would expose the host's `Object` as its constructor. */
export function newContext(): Context {
  return createContext(constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: true } })
}

type MakePython = (loader: typeof Pyodide, assembly: object, settings: ContextSettings) => Promise<ContextPython>

/** Paths of the readable files, by the names Pyodide uses. */
function readableFiles({ packageFolder, wheels }: InterpreterSettings): Map<string, string> {
  const own = ['pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json']
  return new Map([...own.map((name) => join(packageFolder, name)), ...wheels].map((path) => [basename(path), path]))
}

async function loadModule(settings: InterpreterSettings, name: string, context: Context): Promise<object> {
  const source = readFileSync(join(settings.packageFolder, name), 'utf8')
  const module = new SourceTextModule(source, {
    context,
    identifier: name,
    initializeImportMeta: (meta) => void (meta.url = `pyodide:${name}`),
  })
  await module.link(() => {
    throw new Error('Nothing is imported here.')
  })
  await module.evaluate()
  return module.namespace
}

function hostFor(
  read: (name: string) => Uint8Array,
  { processLimitBytes }: InterpreterSettings,
  listener: ProgramListener,
): ContextHost {
  const decoders = new Map<string, TextDecoder>()
  const encoder = new TextEncoder()
  return {
    ...listener,
    readText: (name) => new TextDecoder().decode(read(name)),
    readBytes: read,
    decode: (encoding, bytes) => {
      const decoder = decoders.get(encoding) ?? new TextDecoder(encoding)
      decoders.set(encoding, decoder)
      return decoder.decode(bytes)
    },
    encode: (text) => encoder.encode(text),
    encodeInto: (text, bytes) => encoder.encodeInto(text, bytes),
    fillRandomly: ({ buffer, byteOffset, byteLength }) =>
      void randomFillSync(new Uint8Array(buffer, byteOffset, byteLength)),
    now: () => performance.now(),
    log: (text) => void writeSync(2, `${text}\n`),
    hasRoom: (bytes) => process.memoryUsage.rss() + bytes < processLimitBytes * 0.9,
  }
}
