/**
 * Builds the site of these docs into `dist/docs`, with local search, a reference of the HTTP API, `llms.txt` and
 * `llms-full.txt`. VitePress is installed into a temporary folder, so this needs the registry.
 * A dead link fails the build, and so does a page that is not listed or not found by the search.
 *
 *   npm run docs:site
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readApiDocument, toApiPage } from './api-page.ts'

const vitepress = 'vitepress@1.6.4'
const sections = {
  '1.guide': 'Guide',
  '2.drivers': 'Drivers',
  '2.drivers/write-your-own': 'Write your own parts',
  '4.inside': 'Architecture',
}
const output = resolve('dist/docs')

interface Page {
  readonly path: string
  readonly title: string
  readonly text: string
}

/** Numbers in names give the order: 2 before 10. */
const byNumber = (left: Page, right: Page): number => left.path.localeCompare(right.path, 'en', { numeric: true })

const withoutComments = (text: string): string => text.replace(/^<!--.*-->$/gm, '')
const apiDocument = await readApiDocument()

const docsPages = globSync('**/*.md', { cwd: 'docs' })
  .filter((path) => !path.startsWith('site/'))
  .map((path): Page => {
    const text = withoutComments(readFileSync(join('docs', path), 'utf8'))
    return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text }
  })
  .toSorted(byNumber)
const pages = [...docsPages, { path: '11.api.md', title: 'API reference', text: toApiPage(apiDocument) }]

const toItem = ({ path, title }: Page): object => ({ text: title, link: `/${path.replace(/\.md$/, '')}` })
const topPages = pages.filter(({ path }) => !path.includes('/'))
/** The longest folder that a page lies in. */
const sectionOf = (path: string): string | undefined =>
  Object.keys(sections).findLast((folder) => path.startsWith(`${folder}/`))
const chapters = [
  ...Object.entries(sections).map(([folder, text]) => ({
    text,
    pages: pages.filter(({ path }) => sectionOf(path) === folder),
  })),
  { text: 'Reference', pages: topPages },
]
const sidebar = chapters.map((chapter) => ({ text: chapter.text, items: chapter.pages.map(toItem) }))

const config = {
  title: 'Inlay',
  description: 'An AI assistant over your own documents, mounted into your app.',
  outDir: output,
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  // Names in angle brackets and braces are text.
  markdown: { html: false, attrs: { disable: true } },
  themeConfig: { search: { provider: 'local' }, sidebar, outline: [2, 3] },
}

/** The landing page: what the README says first, its bullets as features, and its example. */
function homeOf(readme: string): string {
  const siteLink = (path: string): string => `/${path.replace(/^docs\//, '').replace(/\.md$/, '')}`
  const toText = (markdown: string): string =>
    markdown
      .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      .replace(/\s+/g, ' ')
      .trim()
  const [intro = ''] = readme
    .replace(/^# .*$/m, '')
    .trim()
    .split('\n\n')
  const bullets = [...readme.matchAll(/^- \*\*(.+?)\.\*\* ([^]*?)(?=^- |^$)/gm)]
  const features = bullets.map(([, title = '', text = '']) => {
    const link = /\]\((docs\/[^)]+)\)/.exec(text)?.[1]
    return { title, details: toText(text), ...(link !== undefined && { link: siteLink(link) }) }
  })
  const hero = {
    name: 'Inlay',
    text: 'Answers from your own documents, in your own app',
    tagline: toText(intro),
    actions: [
      { theme: 'brand', text: 'Get started', link: '/1.guide/1.start' },
      { theme: 'alt', text: 'Mount it', link: '/1.guide/2.mount' },
      { theme: 'alt', text: 'All options', link: '/7.options' },
    ],
  }
  const example = readme.slice(readme.indexOf('```ts'), readme.indexOf('\n- **'))
  return `---\n${JSON.stringify({ layout: 'home', hero, features })}\n---\n\n## In five minutes\n\n${example}`
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
}

/** A list of all pages for language models, which read the Markdown that lies beside each page. */
function toLlms(): string {
  const lists = chapters.map(({ text, pages: listed }) =>
    [`## ${text}`, '', ...listed.map(({ path, title }) => `- [${title}](/${path})`)].join('\n'),
  )
  return [`# Inlay`, `> ${config.description}`, ...lists, ''].join('\n\n')
}

/** Checks of the built site: each page exists, can be found by its title, and has its Markdown. */
function checkSite(): void {
  const [index = ''] = globSync('assets/chunks/@localSearchIndexroot.*.js', { cwd: output })
  const searched = readFileSync(join(output, index), 'utf8')
  const llms = readFileSync(join(output, 'llms.txt'), 'utf8')
  for (const { path, title } of pages) {
    const address = path.replace(/\.md$/, '')
    assert(existsSync(join(output, `${address}.html`)), `${path} has no page`)
    assert(searched.includes(`/${address}`), `the search does not know ${path}`)
    assert(llms.includes(`[${title}](/${path})`) && existsSync(join(output, path)), `llms.txt does not lead to ${path}`)
  }
}

const work = mkdtempSync(join(tmpdir(), 'inlay-docs-'))
try {
  cpSync('docs', work, { recursive: true, filter: (path) => !path.startsWith(join('docs', 'site')) })
  for (const { path, text } of pages) writeFileSync(join(work, path), text)
  writeFileSync(join(work, 'index.md'), homeOf(readFileSync('README.md', 'utf8')))
  mkdirSync(join(work, '.vitepress'))
  writeFileSync(join(work, '.vitepress/config.mjs'), `export default ${JSON.stringify(config)}\n`)
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  run('npm', ['install', '--no-audit', '--no-fund', '--silent', '--prefer-offline', vitepress], work)
  run('node_modules/.bin/vitepress', ['build', '.'], work)
  for (const { path, text } of pages) writeFileSync(join(output, path), text)
  for (const files of ['1.guide/observe', 'deploy'])
    cpSync(join('docs', files), join(output, files), { recursive: true })
  writeFileSync(join(output, 'openapi.json'), JSON.stringify(apiDocument))
  writeFileSync(join(output, 'llms.txt'), toLlms())
  writeFileSync(join(output, 'llms-full.txt'), pages.map(({ text }) => text).join('\n\n'))
  checkSite()
  process.stdout.write(`built ${pages.length} pages into ${output}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
