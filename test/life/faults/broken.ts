import { createRequire } from 'node:module'
import { StatementSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'

/** Something that fails as long as it is broken. */
export interface Breakable {
  /** How many calls have failed. */
  readonly failures: number
  break(): void
  mend(): void
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Replaces a method until the test is over. */
function replaceMethod(prototype: object, name: string, replacement: (original: Method) => Method): void {
  const methods = prototype as Record<string, Method>
  const original = methods[name]!
  methods[name] = replacement(original)
  onTestFinished(() => {
    methods[name] = original
  })
}

/** SQLite's result codes by meaning. */
export const sqliteErrors = { busy: 5, io: 10, full: 13 } as const

/** Makes SQLite of this process fail statements, as Node reports it. @param which selects them by their SQL */
export function breakRecords(kind: keyof typeof sqliteErrors, which: RegExp): Breakable {
  const state = { isBroken: false, failures: 0 }
  for (const name of ['all', 'run'])
    replaceMethod(
      StatementSync.prototype,
      name,
      (original) =>
        function (...args) {
          // Set for what was prepared by `DatabaseSync`, which is all there is.
          const { sourceSQL } = this as StatementSync
          if (!state.isBroken || !which.test(sourceSQL)) return original.apply(this, args)
          state.failures++
          throw Object.assign(new Error('injected'), { code: 'ERR_SQLITE_ERROR', errcode: sqliteErrors[kind] })
        },
    )
  return breakable(state)
}

/**
 * Makes LanceDB of this process fail.
 * @param method of a table, e.g. `add`
 * @param when `after`: the work is done, and its answer is lost
 */
export function breakIndex(method: string, message: string, when: 'before' | 'after' = 'before'): Breakable {
  const state = { isBroken: false, failures: 0 }
  const main = createRequire(import.meta.url).resolve('@lancedb/lancedb')
  // The class is not exported.
  const { LocalTable } = createRequire(main)('./table.js') as { LocalTable: { prototype: object } }
  replaceMethod(
    LocalTable.prototype,
    method,
    (original) =>
      function (...args) {
        if (!state.isBroken) return original.apply(this, args)
        state.failures++
        if (when === 'before') throw new Error(message)
        return Promise.resolve(original.apply(this, args)).then(() => {
          throw new Error(message)
        })
      },
  )
  return breakable(state)
}

function breakable(state: { isBroken: boolean; failures: number }): Breakable {
  return {
    get failures() {
      return state.failures
    },
    break: () => {
      state.isBroken = true
    },
    mend: () => {
      state.isBroken = false
    },
  }
}
