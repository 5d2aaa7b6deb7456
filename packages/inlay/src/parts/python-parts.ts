import type { CodeRunner } from '@inlay/agent'
import type { PyodideOptions } from '@inlay/python'

/** Whether programs of models are run, and by what. */
export interface PythonOptions {
  /**
   * Runs what models write in Python, and stays open when Inlay closes; null: nothing is run. Default: Pyodide, where its
   * package is installed.
   */
  readonly codeRunner?: CodeRunner | null
  /** Limits and wheels of Pyodide; once given, its package has to be there. Default: its own limits, no wheels. */
  readonly python?: PyodideOptions
}

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

/** Options of what settings say: `on` and `off`, and a folder of wheels. What is wrong is added to the faults. */
export function pythonOptionsOf(
  { python, pythonWheels }: { readonly python?: 'on' | 'off'; readonly pythonWheels?: string },
  faults: string[],
): PythonOptions {
  if (python === 'off') {
    if (pythonWheels !== undefined) faults.push('INLAY_PYTHON_WHEELS: has no use while INLAY_PYTHON is off.')
    return { codeRunner: null }
  }
  if (pythonWheels !== undefined) return { python: { wheelsFolder: pythonWheels } }
  return python === 'on' ? { python: {} } : {}
}
