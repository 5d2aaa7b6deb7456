/**
 * Builds the examples of chat UIs against the packed client and drives them in a real browser, over a real service.
 * Installs React, the AI SDK and assistant-ui into a temporary folder, so it is a check and not a test.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../browser/browser.ts'
import { inFolder, pack, run } from '../package/installation.ts'
import { startExamples, type Examples } from './examples.ts'

const parts = ['protocol', 'client']

/** The built examples, with the packages as they would be published. */
function buildExamples(work: string): string {
  const project = join(work, 'examples')
  cpSync('playground/examples', project, { recursive: true })
  run(
    'tsdown',
    parts.flatMap((part) => ['-F', part]),
  )
  const overrides = Object.fromEntries(pack(work, parts).map(({ name, file }) => [name, `file:${file}`]))
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  const dependencies = { ...manifest.dependencies, ...overrides }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ ...manifest, dependencies, overrides }))
  console.log('  installing React, the AI SDK and assistant-ui into a temporary folder')
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project })
  addDocs(project)
  for (const script of ['check', 'build']) run('npm', ['run', '--silent', script], { cwd: project })
  console.log('  the examples build, and their types fit')
  return resolve(project, 'dist')
}

/** The React examples of the docs, so that their types are checked with the apps. */
function addDocs(project: string): void {
  const page = readFileSync('docs/1.guide/10.front-ends/1.chat-ui.md', 'utf8')
  const blocks = [...page.matchAll(/^```tsx\n([^]*?)^```/gm)].map(([, code = '']) => code)
  assert.equal(blocks.length, 4)
  for (const [at, code] of blocks.entries()) writeFileSync(join(project, `ai-sdk/docs-${at}.tsx`), code)
  // The files that the command of assistant-ui adds.
  mkdirSync(join(project, 'ai-sdk/components/assistant-ui'), { recursive: true })
  const thread = "import type { JSX } from 'react'\nexport declare function Thread(): JSX.Element\n"
  writeFileSync(join(project, 'ai-sdk/components/assistant-ui/thread.tsx'), thread)
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question)
  await page.getByRole('button', { name: 'Send' }).click()
}

/** Scenes that every front end passes: a search, an answer with its source, a failed action, a stop by the person. */
async function checkChat(page: Page, examples: Examples): Promise<void> {
  await ask(page, 'How many days of leave?')
  await page.getByText('Staff get 25 days').waitFor()
  await page.locator('[data-tool="internal_search"]', { hasText: 'days of leave' }).waitFor()
  const source = page.getByRole('link', { name: 'Leave policy' })
  assert.equal(await source.getAttribute('href'), 'https://wiki.example.com/leave')
  await ask(page, 'Fail, please.')
  await page.getByRole('alert').waitFor()
  await ask(page, 'Talk for ever.')
  await page.getByText('And on and on').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await examples.abandoned()
}

/** Scenes of the first example only: files, and resuming after a reload. */
async function checkSession(page: Page, examples: Examples): Promise<void> {
  await page.getByLabel('Files').setInputFiles({
    name: 'zebra.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('The zebra is called Quibble.'),
  })
  await ask(page, 'What does the file say?')
  await page.getByText('Read: Quibble').waitFor()
  await ask(page, 'Slowly, please.')
  await page.getByText('The first half').waitFor()
  await page.reload()
  await page.getByText('The first half').waitFor()
  examples.goOn()
  await page.getByText('The first half and the second.').waitFor()
  assert.equal(await page.getByText('What does the file say?').count(), 1)
}

async function open(browser: Browser, address: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(address)
  await page.getByLabel('Your question').waitFor()
  return { page, complaints }
}

await inFolder('frontends', async (work) => {
  console.log('front ends')
  const launched = await launchBrowser()
  if ('reason' in launched) throw new Error(launched.reason)
  const { browser } = launched
  try {
    const folder = buildExamples(work)
    for (const name of ['ai-sdk', 'assistant-ui']) {
      const examples = await startExamples(folder, join(work, `data-${name}`))
      try {
        const { page, complaints } = await open(browser, `${examples.origin}/${name}/index.html`)
        await checkChat(page, examples)
        if (name === 'ai-sdk') await checkSession(page, examples)
        assert.deepEqual(complaints, [])
        console.log(`  ${name}: answers, sources, tools, failures and stop in a real browser`)
      } finally {
        await examples.close()
      }
    }
  } finally {
    await browser.close()
  }
})
