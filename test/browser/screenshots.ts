/**
 * Keeps a picture of every view of the page and the element, for people to look at:
 *
 *   npm run screenshots -- [folder]
 *
 * With `--store` it also writes down what is seen in `test/browser/pictures`, which `pictures.full.test.ts` compares.
 * With `--only gate` it takes the views whose names begin so.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser } from './browser.ts'
import { describeLayout } from './layout.ts'
import { startViewService, views } from './views.ts'

const { values, positionals } = parseArgs({
  options: { store: { type: 'boolean' }, only: { type: 'string', default: '' } },
  allowPositionals: true,
})
const folder = positionals[0] ?? join(tmpdir(), 'inlay-views')
mkdirSync(folder, { recursive: true })

const launched = await launchBrowser()
if ('reason' in launched) throw new Error(`no browser: ${launched.reason}`)
const service = await startViewService()
try {
  for (const view of views.filter(({ name }) => name.startsWith(values.only))) {
    const page = await service.open(launched.browser, view)
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: join(folder, `${view.name}.png`) })
    if (values.store)
      writeFileSync(
        join(import.meta.dirname, 'pictures', `${view.name}.txt`),
        `${(await page.evaluate(describeLayout)).join('\n')}\n`,
      )
    await page.context().close()
  }
  console.log(folder)
} finally {
  await service.close()
  await launched.browser.close()
}
