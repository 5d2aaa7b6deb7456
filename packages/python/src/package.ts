import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { InlayError } from '@inlay/protocol'

const majors = ['314']

/**
 * Folder of the installed package `pyodide`, searched for next to Inlay and in the working folder; undefined when it is
 * missing or of an unsupported version.
 */
export function findPyodide(): string | undefined {
  const folder = locate()
  return folder !== undefined && majors.includes(majorOf(folder)) ? folder : undefined
}

/** Folder of the package. @throws UNSUPPORTED when it is missing or of an unsupported version */
export function requirePyodide(folder: string | undefined = locate()): string {
  if (folder === undefined || !existsSync(join(folder, 'package.json')))
    throw new InlayError('UNSUPPORTED', {
      message: 'Running Python needs the package pyodide: install pyodide@314 next to Inlay.',
    })
  const major = majorOf(folder)
  if (!majors.includes(major))
    throw new InlayError('UNSUPPORTED', {
      message: `Running Python needs version ${majors.join(' or ')} of the package pyodide, and ${major} is installed.`,
    })
  return realpathSync(folder)
}

function locate(): string | undefined {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return realpathSync(dirname(createRequire(from).resolve('pyodide/package.json')))
    } catch {
      // Not installed there.
    }
  }
  return undefined
}

function majorOf(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : ''
  return String(version).split('.')[0] ?? ''
}

/**
 * Paths of the wheels in a folder that this Python can load, in order: pure Python ones and those built for Pyodide.
 * @throws INVALID_INPUT when the folder cannot be read
 */
export function listWheels(folder: string | undefined): string[] {
  if (folder === undefined) return []
  try {
    const names = readdirSync(folder).filter((name) => /-(?:[^-]*any|[^-]*wasm32)\.whl$/.test(name))
    return names.sort().map((name) => join(realpathSync(folder), name))
  } catch (cause) {
    throw new InlayError('INVALID_INPUT', { message: 'The folder of Python wheels cannot be read.', cause })
  }
}

/** Display name of a wheel: `numpy 2.3.1`. */
export function toPackageName(wheel: string): string {
  const [name = '', version = ''] = basename(wheel).split('-')
  return `${name.replaceAll('_', '-')} ${version}`.trim()
}
