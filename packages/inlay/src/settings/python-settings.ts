import type { PythonOptions } from '../options/part-options.ts'

/** Options from the settings: `on`, `off`, and a folder of wheels. Adds errors to `faults`. */
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
