import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from '../process.ts'

const titles = ['otters', 'herons']

async function find(service: Service, query: string): Promise<string | undefined> {
  const answer = await service.fetch('/search', { method: 'POST', body: JSON.stringify({ query }) })
  // Amid the rebuild a search that finds nothing is refused.
  return (await answer.json()).results?.[0]?.title
}

test('an index that aborts each process that searches it is noticed by the fourth, and filled again', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const start = () => startService(path, { program: 'kills/aborting-service.ts' })
  const first = await start()
  for (const title of titles) {
    const document = {
      id: title,
      semantic_identifier: title,
      sections: [{ text: `All about ${title}.` }],
      metadata: {},
    }
    await first.fetch('/service-api/ingestion', { method: 'POST', body: JSON.stringify({ document }) })
    await eventually(title, async () => ((await find(first, title)) === title ? true : undefined))
  }
  await first.stop()
  writeFileSync(join(path, 'index', 'chunks.lance', 'deadly'), '')
  for (let crash = 0; crash < 3; crash++) {
    const service = await start()
    const ended = once(service.child, 'exit')
    await expect(find(service, 'otters')).rejects.toThrow()
    expect(await ended).toEqual([null, 'SIGABRT'])
  }
  const mended = await start()
  onTestFinished(() => mended.kill())
  for (const title of titles)
    await eventually(`${title} again`, async () => ((await find(mended, title)) === title ? true : undefined))
  expect(mended.said()).toContain('The index is damaged.')
  await mended.stop()
})
