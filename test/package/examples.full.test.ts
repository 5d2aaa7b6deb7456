import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** Names that examples use and leave to the reader. */
const leftOpen = `
import type { Inlay } from 'inlay'
import type * as agent from '@inlay/agent'
import type * as conformance from '@inlay/conformance'
declare global {
  const createInlay: typeof import('inlay').createInlay
  const Kysely: typeof import('kysely').Kysely
  type Kysely<Tables> = import('kysely').Kysely<Tables>
  const readFile: typeof import('node:fs/promises').readFile
  const test: typeof import('vitest').test
  const inlay: Inlay
  const models: agent.ModelProvider
  const request: Parameters<agent.Agent['send']>[0]
  const languageModel: Awaited<ReturnType<agent.ModelProvider['resolve']>>['model']
  const makeStores: Parameters<typeof conformance.conversationStoreConformance>[0]
  const Bun: { serve(options: { port: number; idleTimeout: number; fetch: (request: Request) => Promise<Response> }): void }
  const Deno: { serve(options: { port: number }, fetch: (request: Request) => Promise<Response>): void }
  const shop: { order(number: string, by: { customer: string; signal: AbortSignal }): Promise<object> }
  const forecast: (city: string, signal?: AbortSignal) => Promise<string>
  const isOffLimits: (message: string) => Promise<boolean>
  const officeOf: (id: string) => Promise<string>
  const tenantOf: (id: string) => string
  const planOf: (id: string) => Promise<string>
  const wiki: {
    search(words: string, by: { readableBy: string; signal: AbortSignal }): Promise<
      { id: string; title: string; excerpt: string; url: string }[]
    >
  }
  const ledger: { add(entry: object): Promise<void> }
  const readSession: (request: Request) => Promise<{ id: string; email: string; groups: string[] } | undefined>
  const keyOfTheMoment: () => string
  const show: (text: string, state: object) => void
  const draw: (...given: unknown[]) => void
  const forget: (id: string) => void
  const id: string
  const sessionId: string
  const input: { readonly files: FileList }
  const documents: AsyncIterable<never>
  const model: import('ai').LanguageModel & string
  const tools: Record<string, never>
  const memory: undefined
  const agents: Record<string, never>
  const workflows: Record<string, never>
  const weatherTool: Parameters<typeof import('@inlay/mastra').mastraTools>[0]
  const orderTool: Parameters<typeof import('@inlay/mastra').mastraTools>[0]
}
`

/** Parts of the reader's own project that examples import. */
const readersFiles: Readonly<Record<string, string>> = {
  'embedder.ts': "import type { Embedder } from 'inlay'\nexport declare const letterEmbedder: Embedder\n",
  'order-state.ts': "import type { Action } from '@inlay/agent'\nexport declare const orderState: Action\n",
}

/** Pages whose examples go on from one another. */
const continued = [
  'docs/1.guide/10.front-ends/2.client.md',
  ...globSync('docs/2.drivers/write-your-own/{[2-9],10}.*.md'),
]

/** TypeScript and JavaScript of a page, a module for each block that can run by itself. */
function examplesOf(page: string): string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```(?:ts|js)\n([^]*?)^```/gm)].map(([, code]) => code ?? '')
  return continued.includes(page) ? [blocks.join('\n')] : blocks
}

const check = (folder: string): Promise<string> =>
  new Promise((resolve) => {
    execFile('node_modules/.bin/tsc', ['-p', folder, '--pretty', 'false'], (_error, stdout) => resolve(stdout))
  })

/** Examples in docstrings, each with what the file that it stands in exports. */
function examplesIn(source: string): string[] {
  const text = readFileSync(source, 'utf8')
  const names = [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, name]) => name)
  const docstrings = [...text.matchAll(/^ *\/\*\*[^]*?\*\//gm)].map(([comment]) =>
    comment.replace(/^ *(?:\*\/?|\/\*\*) ?/gm, ''),
  )
  return docstrings
    .flatMap((docstring) => docstring.match(/(?<=@example[ \n])(?:(?!^@)[^])*/gm) ?? [])
    .map(
      (code) =>
        `import { ${names.join(', ')} } from '../../../${source.replace(/\\/g, '/')}'\n${code.replace(/\*\/$/, '')}`,
    )
}

/** What an example of a docstring leaves to the reader may be anything. */
const missingNames = (output: string, file: string): string[] => [
  ...new Set(
    [...output.matchAll(/^(\S+)\(.*error TS(?:2304|18004|2552):.*?'(\w+)'/gm)].flatMap(([, path, name]) =>
      path?.endsWith(file) ? [name!] : [],
    ),
  ),
]

test('every example of docs and docstrings has types that fit', { timeout: 600_000 }, async () => {
  const folder = mkdtempSync('test/package/.examples-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const files = { ...readersFiles, 'left-open.d.ts': leftOpen }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  for (const page of ['README.md', ...globSync(['docs/**/*.md', 'packages/*/README.md'])])
    for (const [index, code] of examplesOf(page).entries())
      writeFileSync(join(folder, `${page.replace(/\W+/g, '-')}-${index + 1}.ts`), `${code}\nexport {}\n`)
  const docstrings = globSync('packages/*/src/**/*.{ts,tsx}').flatMap((source) =>
    examplesIn(source).map((code, index) => [`${source.replace(/\W+/g, '-')}-${index + 1}.ts`, code] as const),
  )
  const writeExamples = (output = ''): void => {
    for (const [file, code] of docstrings) {
      const open = missingNames(output, file).map((name) => `declare const ${name}: any\ntype ${name}<_ = any> = any\n`)
      writeFileSync(join(folder, file), `${open.join('')}${code}\nexport {}\n`)
    }
  }
  writeExamples()
  const settings = {
    extends: '../../../tsconfig.json',
    compilerOptions: { isolatedDeclarations: false, declaration: false, types: ['node', 'express'] },
    include: ['*.ts', '../../../packages/*/src/**/*.d.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  writeExamples(await check(folder))
  expect((await check(folder)).split('\n').filter((line) => line !== '')).toEqual([])
})
