import type { CodeRunner } from '@inlay/agent'
import type { PythonOptions } from '../options/part-options.ts'

/** What runs programs, opened. */
export interface PythonParts {
  readonly codeRunner: CodeRunner | undefined
  /** Ends what still runs. */
  close(): Promise<void>
}

/**
 * Makes what runs programs; the first of them starts it. Without a word of the operator it takes Pyodide where it is
 * installed, which nobody does by chance, and only under Node, whose permissions hold programs.
 * @throws UNSUPPORTED when Pyodide is asked for and not installed, INVALID_INPUT for limits and folders that cannot be
 */
export async function pythonParts({ codeRunner, python }: PythonOptions): Promise<PythonParts> {
  if (codeRunner !== undefined) return { codeRunner: codeRunner ?? undefined, close: async () => {} }
  const { findPyodide, pyodide } = await import('@inlay/python')
  const isNode = !('bun' in process.versions) && !('deno' in process.versions)
  if (python === undefined && (!isNode || findPyodide() === undefined))
    return { codeRunner: undefined, close: async () => {} }
  const runner = pyodide(python)
  return { codeRunner: runner, close: () => runner.close() }
}
