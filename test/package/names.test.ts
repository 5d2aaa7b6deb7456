import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Pages for people who change the code. */
const pages = ['CONTRIBUTING.md', ...globSync('docs/4.inside/*.md'), ...globSync('packages/*/{README,CONTRIBUTING}.md')]
/** Names of others, and of what an example makes up. */
const foreign = new Set(['fooBar', 'mergeInsert', 'NOTIFY'])
/** Written by a command, or not in the repository. */
const generated =
  /^(?:dist\/|github\.com\/|test\/life\/upgrade\/data-<version>\.zip$|docs\/4\.inside\/bench-baseline\.json$)/

const files = globSync(['{packages,test,playground,docs,.ci,.github}/**/*', '*.md'], {
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(String(path)),
})
const sources = globSync('packages/*/{src,scripts}/**/*.ts').map((file) => readFileSync(file, 'utf8'))
const others = globSync('{test,playground}/**/*.{ts,mjs}', { exclude: (path) => String(path).endsWith('node_modules') })
  .filter((file) => file !== 'test/package/names.test.ts')
  .map((file) => readFileSync(file, 'utf8'))
const manifests = globSync('{.,packages/*,playground}/package.json').map((file) => readFileSync(file, 'utf8'))
const text = [...sources, ...others, ...manifests, readFileSync('.oxlintrc.json', 'utf8')].join('\n')
const words = new Set(text.match(/[\p{L}_$][\p{L}\d_$]*/gu))
const kebabs = new Set(text.match(/[\w$]+(?:-[\w$]+)+/g))

/** Every way to name a file: from any folder on, with and without `src` and its ending. */
const paths = new Set(
  files.flatMap((file) =>
    [file, file.replace('/src/', '/')].flatMap((path) => {
      const parts = path.split('/')
      const ends = parts.map((_, at) => parts.slice(at).join('/'))
      return [...ends, ...ends.map((end) => end.replace(/(?:\.(?:ts|mjs|js|md))$/, ''))]
    }),
  ),
)
const all = [...paths]

/** Whether something of the project has this name; true for what is no name, such as a command. */
function exists(name: string): boolean {
  if (foreign.has(name) || generated.test(name)) return true
  if (/^@[\w-]+\/[\w./<>*-]+$/.test(name)) return text.includes(name.replace(/[<*].*$/, '').replace(/\/$/, ''))
  if (/^[\w.<>*-]+(?:\/[\w.<>*-]+)+\/?$/.test(name)) return isPath(name.replace(/\/$/, ''))
  if (/^[\w-]+\.(?:ts|mjs|json|md)$/.test(name)) return paths.has(name)
  if (/^[a-z\d]+(?:-[a-z\d]+)+$/.test(name)) return kebabs.has(name) || paths.has(name)
  if (/^[\p{L}_$][\p{L}\d_$]*(?:\.[\p{L}_$][\p{L}\d_$]*)*(?:\(\))?$/u.test(name) && /[A-Z_.()]/.test(name))
    return name
      .replace('()', '')
      .split('.')
      .every((part) => words.has(part))
  return true
}

/** `<name>` and `*` match anything. */
function isPath(name: string): boolean {
  if (paths.has(name)) return true
  const form = name.replaceAll('.', '\\.').replaceAll(/<\w+>|\*+/g, '[^/]+')
  return form !== name && all.some((path) => new RegExp(`^${form}$`).test(path))
}

test.each(pages)('%s names only what is there', (page) => {
  const prose = readFileSync(page, 'utf8').replaceAll(/```[^]*?```/g, '')
  const names = [...new Set([...prose.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!.trim()))]
  expect(names.filter((name) => !exists(name))).toEqual([])
})

test('a name that is gone is noticed', () => {
  for (const gone of [
    'run/copies',
    'model-help',
    'citations/numbers',
    'agent/src/gone',
    'goneThing',
    'gone.ts',
    'goneThing()',
  ])
    expect(exists(gone), gone).toBe(false)
  for (const there of ['run/sharing', 'agent/src/run', 'SharedRuns', 'packages/*/src', 'test/<package>', '@inlay/text'])
    expect(exists(there), there).toBe(true)
})
