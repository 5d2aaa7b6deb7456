import type { CodeRunner } from '@inlay/agent'
import { runsPython } from '../options/check-options.ts'
import type { PythonOptions } from '../options/part-options.ts'

/** The opened code runner. */
export interface PythonParts {
  readonly codeRunner: CodeRunner | undefined
  /** Ends what still runs. */
  close(): Promise<void>
}

/**
 * Makes what runs programs; the first of them starts it.
 * @throws UNSUPPORTED when Pyodide is asked for and not installed, INVALID_INPUT for limits and folders that cannot be
 */
export async function pythonParts({ codeRunner, python }: PythonOptions): Promise<PythonParts> {
  if (codeRunner !== undefined) return { codeRunner: codeRunner ?? undefined, close: async () => {} }
  if (!runsPython({ python })) return { codeRunner: undefined, close: async () => {} }
  const { pyodide } = await import('@inlay/python')
  const runner = pyodide(python)
  return { codeRunner: runner, close: () => runner.close() }
}
