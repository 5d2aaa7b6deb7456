import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeSettings } from 'inlay/internal/settings/setting-table'
import { fillSettings, settingPages } from '../../packages/inlay/scripts/settings-docs.ts'

const readme = 'README.md'
const page = readFileSync(readme, 'utf8')

test.each(settingPages)('%s lists settings as the program reads them', (path) => {
  const text = readFileSync(path, 'utf8')
  expect(text, 'run `npm run docs:settings`').toBe(fillSettings(path, text))
  expect(text).toContain('| `INLAY_DATA` |')
})

test('the settings page lists every setting', () => {
  const text = readFileSync('docs/1.guide/8.settings.md', 'utf8')
  expect(describeSettings().filter(({ name }) => !text.includes(`| \`${name}\` |`))).toEqual([])
})

test('the README is at most 80 lines', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(81)
})

test.each([readme, 'CONTRIBUTING.md', ...globSync('docs/**/*.md')])('every link in %s leads to a file', (file) => {
  const text = readFileSync(file, 'utf8').replace(/```[^]*?```|`[^`\n]*`/g, '')
  const targets = [...text.matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)[^)]*\)/g)].map((results) => results[1]!)
  expect(targets.filter((target) => !existsSync(join(dirname(file), target)))).toEqual([])
})

/** Anchors of headings, as GitHub and the site make them. */
const anchorsOf = (file: string): string[] =>
  [
    ...readFileSync(file, 'utf8')
      .replace(/^```[^]*?^```/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('every link to a part of a page leads to a heading', () => {
  const broken = [readme, 'CONTRIBUTING.md', ...globSync('docs/**/*.md')].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
      .filter(([, path, anchor]) => !anchorsOf(path ? join(dirname(file), path) : file).includes(anchor!))
      .map(([link]) => `${file}: ${link}`),
  )
  expect(broken).toEqual([])
})

test('the README and the guide show the same mounting example', () => {
  const first = (text: string): string | undefined => /```ts\n([^]*?)```/.exec(text)?.[1]
  expect(first(page)).toBe(first(readFileSync('docs/1.guide/2.mount.md', 'utf8')))
})

/** Routes of the app before Inlay is mounted. */
const frameworks =
  /^(express|fastify|hono|koa|h3|nitro|nuxt|next|astro|elysia|react|react-dom|vue|svelte|@(nestjs|hono|fastify|sveltejs|astrojs|react-router|tanstack|koa)\/.*)$/

/** Packages that the examples of a page import and that neither `npm install inlay` nor a command on it brings. */
function unnamedPackages(text: string): string[] {
  const code = [...text.matchAll(/^```(?:ts|js|tsx|vue)\n([^]*?)^```/gm)].map(([, block]) => block).join('\n')
  const imported = [...code.matchAll(/(?:from|import\() ?'([^'.][^']*)'/g)].map(([, specifier]) => specifier!)
  const installed = [...text.matchAll(/\bnpm install (?:-[DE] )?([^\n`]+)/g)].flatMap(([, names]) =>
    names!.split(/\s+/),
  )
  const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  const known = new Set(['inlay', ...installed])
  return imported
    .filter((specifier) => !specifier.startsWith('node:'))
    .map(packageOf)
    .filter((name) => !known.has(name) && !frameworks.test(name))
}

test.each([readme, ...globSync('docs/**/*.md')])(
  'one install is enough for %s, or it says what else to install',
  (file) => {
    expect(unnamedPackages(readFileSync(file, 'utf8'))).toEqual([])
  },
)

/** Blocks of code that `test/life/examples` leaves out, and where they run instead. */
const runElsewhere: Readonly<Record<string, string>> = {
  'docs/1.guide/10.front-ends/2.client.md 5': 'test/client/conversation',
  'docs/1.guide/10.front-ends/3.openai.md 1': 'test/openai-api/chat-clients',
  'docs/1.guide/10.front-ends/3.openai.md 2': 'test/openai-api/chat-clients',
  'docs/1.guide/13.engine.md 2': 'test/agent/own-tables',
  'docs/1.guide/13.engine.md 3': 'test/agent/own-tables',
  'docs/1.guide/16.frameworks.md 1': 'check:hosts',
  'docs/1.guide/17.observe.md 2': 'test/inlay/tenants',
  'docs/1.guide/2.mount.md 2': 'check:hosts',
  'docs/1.guide/23.webhooks.md 1': 'test/inlay/events/webhooks',
  'docs/1.guide/23.webhooks.md 2': 'test/inlay/events/webhooks',
  'docs/1.guide/23.webhooks.md 3': 'test/inlay/events/event-hook',
  'docs/1.guide/3.documents.md 2': 'test/inlay/transactions',
  'docs/1.guide/5.models.md 1': 'test/inlay/models/model-objects',
  'docs/1.guide/7.actions.md 5': 'test/inlay/options/retrievers',
  'docs/1.guide/7.actions.md 7': 'test/inlay/custom-parts',
  'docs/6.parts.md 5': 'test/drivers/models/repair',
}

test('every example of the guide runs in test/life/examples, or where the list says', () => {
  const calls = readFileSync('test/life/examples/examples.full.test.ts', 'utf8').matchAll(
    /(\w+(?:\('.*?'\))?)((?:, \d+)+)\]/g,
  )
  const run = new Set(
    [...calls].flatMap(([, name, numbers]) =>
      numbers!
        .split(', ')
        .slice(1)
        .map((number) => `${name} ${number}`),
    ),
  )
  const nameOf = (path: string): string =>
    path.startsWith('docs/1.guide/') ? `guide('${path.slice(13, -3)}')` : path === readme ? 'page' : 'parts'
  const pages = [readme, 'docs/6.parts.md', ...globSync('docs/1.guide/**/*.md')]
  const blocks = pages.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^```(?:ts|js)\n/gm)].map((_, at) => [path, at + 1] as const),
  )
  const missing = blocks.filter(
    ([path, number]) => !run.has(`${nameOf(path)} ${number}`) && runElsewhere[`${path} ${number}`] === undefined,
  )
  // The guide shows the README's example first: one call runs both.
  expect(
    missing.map(([path, number]) => `${path} ${number}`).filter((name) => name !== 'docs/1.guide/2.mount.md 1'),
  ).toEqual([])
})

test('the address of the repository stands in one place', () => {
  const { repository } = JSON.parse(readFileSync('package.json', 'utf8')) as { repository: { url: string } }
  const address = repository.url.replace(/^git\+https:\/\/|\.git$/g, '')
  const files = [readme, ...globSync(['docs/**/*.md', 'packages/*/package.json', 'packages/*/src/**/*.ts'])]
  expect(files.filter((file) => readFileSync(file, 'utf8').includes(address))).toEqual([])
})
