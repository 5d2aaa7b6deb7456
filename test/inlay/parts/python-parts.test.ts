import { readSettings } from 'inlay'
import type { CodeRunner } from '@inlay/agent'
import { describe, expect, test } from 'vitest'
import type { PythonOptions } from 'inlay'
import { pythonParts } from 'inlay/internal/parts/python-parts'

const optionsOf = (env: Record<string, string>): PythonOptions => readSettings(env).options

describe('programs are run', () => {
  test('by Pyodide where it is installed, without a word', async () => {
    const parts = await pythonParts(optionsOf({}))
    expect(parts.codeRunner?.packages).toEqual([])
    await parts.close()
  })

  test('by nothing when they are switched off', async () => {
    expect((await pythonParts(optionsOf({ INLAY_PYTHON: 'Off' }))).codeRunner).toBeUndefined()
    expect((await pythonParts({ python: null })).codeRunner).toBeUndefined()
  })

  test("by the host's own runner, which stays open", async () => {
    const codeRunner: CodeRunner = { run: async () => Promise.reject(new Error('not asked')) }
    const parts = await pythonParts({ python: codeRunner })
    expect(parts.codeRunner).toBe(codeRunner)
    await parts.close()
  })

  test('by nothing else when they are asked for: what is missing is told', async () => {
    expect(optionsOf({ INLAY_PYTHON: 'on' })).toEqual({ python: {} })
    await expect(pythonParts({ python: { packageFolder: '/nowhere' } })).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    await expect(pythonParts(optionsOf({ INLAY_PYTHON_WHEELS: '/nowhere' }))).rejects.toThrow(/wheels/)
  })
})

test('settings that contradict each other are refused', () => {
  expect(() => readSettings({ INLAY_PYTHON: 'off', INLAY_PYTHON_WHEELS: '/w' })).toThrow(/INLAY_PYTHON_WHEELS/)
  expect(() => readSettings({ INLAY_PYTHON: 'maybe' })).toThrow(/on or off/)
})
