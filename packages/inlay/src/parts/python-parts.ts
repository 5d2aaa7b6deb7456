import type { CodeRunner } from '@inlay/agent'
import { runsPython } from '../options/check-options.ts'
import { isCodeRunner, type PythonOptions } from '../options/tool-options.ts'

export interface PythonParts {
  readonly codeRunner: CodeRunner | undefined
  /** Stops running programs. */
  close(): Promise<void>
}

/**
 * It starts with the first program. @throws UNSUPPORTED if Pyodide is not installed, INVALID_INPUT for wrong limits and
 * folders
 */
export async function pythonParts({ python }: PythonOptions): Promise<PythonParts> {
  if (isCodeRunner(python)) return { codeRunner: python, close: async () => {} }
  if (!runsPython({ python })) return { codeRunner: undefined, close: async () => {} }
  const { pyodide } = await import('@inlay/python')
  const runner = pyodide(python ?? {})
  return { codeRunner: runner, close: () => runner.close() }
}
