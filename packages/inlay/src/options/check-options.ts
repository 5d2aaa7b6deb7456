import { faultsOfActions } from '@inlay/agent/host-actions'
import type { HostAgent } from '@inlay/agent'
import { InlayError, refuseOptions, suggestionFor } from '@inlay/protocol'
import { findPyodide } from '@inlay/python/package'
import * as v from 'valibot'
import { renamed, type InlayOptions } from './inlay-options.ts'
import { optionRows } from './option-rows.ts'
import type { PythonOptions } from './tool-options.ts'
import type { Rows } from './rows.ts'

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
  checkRows('createInlay', options, optionRows, (given: InlayOptions) => [
    ...actionFaults(given),
    ...agentFaults(given),
  ])
}

/** {@link checkOptions} for another function with options. */
export function checkRows<Options extends object>(
  maker: string,
  options: unknown,
  rows: Rows<Options>,
  alsoCheck: (options: Options) => readonly string[] = () => [],
): void {
  const isGiven = typeof options === 'object' && options !== null && !Array.isArray(options)
  const faults = isGiven
    ? Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : faultsOf(rows, name, value)))
    : [`the options must be an object, such as { ${Object.keys(rows)[0]} }`]
  // The rows have checked its type, or there are faults already.
  if (isGiven) faults.push(...alsoCheck(options as Options))
  refuseOptions(
    maker,
    faults.map((fault) => `- ${fault}`),
  )
}

function faultsOf<Options extends object>(rows: Rows<Options>, name: string, value: unknown): string[] {
  const row = Object.hasOwn(rows, name) ? rows[name as keyof Options] : undefined
  if (row === undefined) {
    const suggestion = suggestionFor(name, Object.keys(rows))
    const unknown = `${name}: unknown option${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`
    return [Object.hasOwn(renamed, name) ? `\`${name}\` ${renamed[name as keyof typeof renamed]}` : unknown]
  }
  const { issues } = v.safeParse(row.check, value, { abortPipeEarly: true })
  return (issues ?? []).map((issue) => `${[name, v.getDotPath(issue)].filter(Boolean).join('.')}: ${issue.message}`)
}

/** Names of the actions that other options add. */
function builtInNames(options: InlayOptions, names: readonly unknown[]): string[] {
  const { memories, pageReader, webSearch, imageGenerator } = options
  const builtIns = {
    internal_search: true,
    read_file: true,
    add_memory: memories !== false,
    open_url: pageReader !== null,
    web_search: webSearch !== undefined,
    generate_image: imageGenerator !== undefined,
    // Only evaluated if needed, since it looks for Pyodide.
    run_python: names.includes('run_python') && runsPython(options),
  }
  return Object.entries(builtIns).flatMap(([name, isThere]) => (isThere ? [name] : []))
}

const namesOf = (actions: unknown): unknown[] =>
  Array.isArray(actions) ? actions.map((action: unknown) => Object(action).name) : []

function actionFaults(options: InlayOptions): string[] {
  const { actions } = options
  if (!Array.isArray(actions)) return []
  const builtIns = builtInNames(options, namesOf(actions))
  return faultsOfActions(actions, builtIns).map(({ index, fault }) => `actions.${index}: ${fault}`)
}

/** Agents, MCP servers and retrievers that share a name, and agents that name actions which nothing adds. */
function agentFaults(options: InlayOptions): string[] {
  const { actions, actionSources, agents, mcpServers } = options
  const named = ['agents', 'mcpServers', 'retrievers'] as const
  const repeated = named.flatMap((option) => repeatedNames(option, options[option]))
  // Other sources of actions are only known when they are asked.
  if (!Array.isArray(agents) || actionSources || mcpServers) return repeated
  const unknown = agents.flatMap((agent: unknown, index) => {
    const { actions: wanted } = Object(agent) as Partial<HostAgent>
    if (!Array.isArray(wanted)) return []
    const names = [...builtInNames(options, wanted), ...namesOf(actions)]
    return wanted
      .filter((name) => !names.includes(name))
      .map(
        (name) => `agents.${index}.actions: no action is named ${JSON.stringify(name)}: there are ${names.join(', ')}`,
      )
  })
  return [...repeated, ...unknown]
}

function repeatedNames(option: string, given: unknown): string[] {
  const names = namesOf(given)
  return names.flatMap((name, index) =>
    typeof name === 'string' && names.indexOf(name) < index
      ? [`${option}.${index}: its name ${JSON.stringify(name)} is taken by another one`]
      : [],
  )
}

/**
 * Whether the action `run_python` exists. By default it does if Pyodide is installed, and only on Node, whose
 * permission model can contain programs.
 */
export function runsPython({ python }: Partial<PythonOptions>): boolean {
  const isNode = !('bun' in process.versions) && !('deno' in process.versions)
  return python === undefined ? isNode && findPyodide() !== undefined : python !== null
}
