/**
 * Builds the site of these docs into `docs/site/dist`, with local search, `llms.txt` and `llms-full.txt`. VitePress is
 * installed into a temporary folder, so this needs the registry. A dead link fails the build.
 *
 *   npm run docs:site
 */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const vitepress = 'vitepress@1.6.4'
const sections = {
  '1.guide': 'Guide',
  '2.drivers': 'Drivers',
  '2.drivers/write-your-own': 'Write your own parts',
  '4.inside': 'Architecture',
}
const output = resolve('docs/site/dist')

interface Page {
  readonly path: string
  readonly title: string
  readonly text: string
}

/** Numbers in names give the order: 2 before 10. */
const byNumber = (left: Page, right: Page): number => left.path.localeCompare(right.path, 'en', { numeric: true })

const pages = globSync('**/*.md', { cwd: 'docs' })
  .filter((path) => !path.startsWith('site/'))
  .map((path): Page => {
    const text = readFileSync(join('docs', path), 'utf8')
    return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text }
  })
  .toSorted(byNumber)

const toItem = ({ path, title }: Page): object => ({ text: title, link: `/${path.replace(/\.md$/, '')}` })
const topPages = pages.filter(({ path }) => !path.includes('/'))
/** The longest folder that a page lies in. */
const sectionOf = (path: string): string | undefined =>
  Object.keys(sections).findLast((folder) => path.startsWith(`${folder}/`))
const sidebar = [
  ...Object.entries(sections).map(([folder, text]) => ({
    text,
    items: pages.filter(({ path }) => sectionOf(path) === folder).map(toItem),
  })),
  { text: 'Reference', items: topPages.map(toItem) },
]

const config = {
  title: 'Inlay',
  description: 'An AI assistant over your own documents, mounted into your app.',
  outDir: output,
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  // Names in angle brackets are text.
  markdown: { html: false },
  themeConfig: { search: { provider: 'local' }, sidebar, outline: [2, 3] },
}

const withoutComments = (text: string): string => text.replace(/^<!--.*-->$/gm, '')

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

const work = mkdtempSync(join(tmpdir(), 'inlay-docs-'))
try {
  cpSync('docs', work, { recursive: true, filter: (path) => !path.startsWith(join('docs', 'site')) })
  for (const { path, text } of pages) writeFileSync(join(work, path), withoutComments(text))
  writeFileSync(join(work, 'index.md'), homeOf(readFileSync('README.md', 'utf8')))
  mkdirSync(join(work, '.vitepress'))
  writeFileSync(join(work, '.vitepress/config.mjs'), `export default ${JSON.stringify(config)}\n`)
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  run('npm', ['install', '--no-audit', '--no-fund', '--silent', vitepress], work)
  run('node_modules/.bin/vitepress', ['build', '.'], work)
  const lines = pages.map(({ path, title }) => `- [${title}](/${path.replace(/\.md$/, '')})`)
  writeFileSync(join(output, 'llms.txt'), ['# Inlay', '', `> ${config.description}`, '', ...lines, ''].join('\n'))
  writeFileSync(join(output, 'llms-full.txt'), pages.map(({ text }) => text).join('\n\n'))
  process.stdout.write(`built ${pages.length} pages into ${output}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
