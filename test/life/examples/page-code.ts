/** Runs code blocks of the docs unchanged. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { onTestFinished, vi } from 'vitest'

/** Blocks of TypeScript and JavaScript on a page, as written. */
export const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(resolve(page), 'utf8').matchAll(/^```(?:ts|js)\n([^]*?)^```/gm)].map(([, code]) => code!)

const root = process.cwd()

/** Names of variables at the top of a module that it does not export itself. */
function variablesOf(code: string): string[] {
  const single = [...code.matchAll(/^const (\w+)\b/gm)].map(([, name]) => name!)
  const taken = [...code.matchAll(/^const \{ (.+?) \}/gm)].flatMap(([, list]) =>
    list!.split(', ').map((part) => part.replace(/^.*: /, '')),
  )
  return [...single, ...taken]
}

/** Gives servers of examples a free port, whichever they name, and collects them. */
function listenAnywhere(): Server[] {
  const servers: Server[] = []
  const listen = Server.prototype.listen
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    servers.push(this)
    return listen.call(this, 0)
  })
  onTestFinished(() => {
    spy.mockRestore()
    for (const server of servers) server.close()
  })
  return servers
}

/**
 * Runs a block in a working folder of its own, which the data of `createInlay()` goes to.
 * @typeParam Exports what it exports, and its variables; `last` is the last assistant of the global `createInlay`
 * @param place page and number of the block from 1; several numbers are one module
 * @param given global names that the page leaves to its reader
 */
export async function runBlock<Exports extends object>(
  [page, ...numbers]: readonly [string, ...number[]],
  given: object = {},
): Promise<Exports & { readonly last: Inlay; readonly servers: readonly Server[] }> {
  const code = numbers.map((number) => blocksOf(join(root, page))[number - 1]).join('\n')
  const modules = mkdtempSync(join(root, 'test/life/examples/.block-'))
  const folder = mkdtempSync(join(tmpdir(), 'inlay-example-'))
  mkdirSync(join(folder, 'data'))
  process.chdir(folder)
  onTestFinished(() => {
    process.chdir(root)
    vi.unstubAllGlobals()
    for (const path of [modules, folder]) rmSync(path, { recursive: true, force: true, maxRetries: 10 })
  })
  const assistants: Inlay[] = []
  const make = (options?: InlayOptions): Inlay => {
    assistants.push(createInlay(options))
    return assistants.at(-1)!
  }
  for (const [name, value] of Object.entries({ createInlay: make, ...given })) vi.stubGlobal(name, value)
  const servers = listenAnywhere()
  const file = join(modules, 'block.ts')
  writeFileSync(file, `${code}\nexport { ${variablesOf(code).join(', ')} }\n`)
  const exports = (await import(file)) as Record<string, { close?: () => Promise<void> }>
  onTestFinished(async () => {
    for (const part of [...assistants, ...Object.values(exports).filter(Boolean)]) await part.close?.()
  })
  // The page decides what it exports; the test that names it would fail without.
  return { last: assistants.at(-1)!, servers, ...exports } as unknown as Exports & { last: Inlay; servers: Server[] }
}
