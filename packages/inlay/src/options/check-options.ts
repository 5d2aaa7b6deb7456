import { faultsOfActions } from '@inlay/agent/host-actions'
import { InlayError } from '@inlay/protocol'
import { findPyodide } from '@inlay/python/package'
import * as v from 'valibot'
import { optionRows, type InlayOptions } from './inlay-options.ts'
import type { PythonOptions } from './tool-options.ts'
import { suggestionFor } from '@inlay/protocol'

/**
 * Checks that the runtime has what Inlay needs; Bun and Deno report the Node version they emulate.
 * @throws INVALID_INPUT under an older Node, which would fail only on the first request
 */
export function checkRuntime(): void {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 18))
    throw new InlayError('INVALID_INPUT', { message: `Inlay needs Node 22.18 or newer; this is Node ${node}.` })
}

/**
 * Validates the options of `createInlay`, so that a mistake is reported at start instead of to the first client.
 * @throws INVALID_INPUT with a line for each wrong option: what is wrong and what is allowed; secrets are not repeated
 */
export function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw refusal(['the options must be an object, such as { dataFolder: "./data" }'])
  const faults = Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => faultsOf(name, value))
  faults.push(...actionFaults(options))
  if (faults.length > 0) throw refusal(faults)
}

function faultsOf(name: string, value: unknown): string[] {
  const row = Object.hasOwn(optionRows, name) ? optionRows[name as keyof InlayOptions] : undefined
  if (row === undefined) {
    const suggestion = suggestionFor(name, Object.keys(optionRows))
    return [`${name}: unknown option${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`]
  }
  const { issues } = v.safeParse(row.check, value, { abortPipeEarly: true })
  return (issues ?? []).map((issue) => `${[name, v.getDotPath(issue)].filter(Boolean).join('.')}: ${issue.message}`)
}

/** Actions whose names collide with those that other options add. */
function actionFaults(options: InlayOptions): string[] {
  const { actions, memories, pageReader, webSearch, imageGenerator } = options
  if (!Array.isArray(actions)) return []
  const builtIns = {
    internal_search: true,
    read_file: true,
    add_memory: memories !== false,
    open_url: pageReader !== null,
    web_search: webSearch !== undefined,
    generate_image: imageGenerator !== undefined,
    // Only evaluated if needed, since it looks for Pyodide.
    run_python: actions.some((action: unknown) => Object(action).name === 'run_python') && runsPython(options),
  }
  const names = Object.entries(builtIns).flatMap(([name, isThere]) => (isThere ? [name] : []))
  return faultsOfActions(actions, names).map(({ index, fault }) => `actions.${index}: ${fault}`)
}

/**
 * Whether the action `run_python` exists. By default it does if Pyodide is installed, and only on Node, whose
 * permission model can contain programs.
 */
export function runsPython({ codeRunner, python }: Partial<PythonOptions>): boolean {
  if (codeRunner !== undefined) return codeRunner !== null
  const isNode = !('bun' in process.versions) && !('deno' in process.versions)
  return python !== undefined || (isNode && findPyodide() !== undefined)
}

function refusal(faults: readonly string[]): InlayError {
  const lines = faults.map((fault) => `- ${fault}`)
  return new InlayError('INVALID_INPUT', {
    message: ['createInlay() cannot work with these options:', ...lines].join('\n'),
  })
}
