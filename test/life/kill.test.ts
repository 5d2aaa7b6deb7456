import { expect, test } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from './process.ts'
import { seededRandom } from './random.ts'

const count = 112
const kills = 20

const letters = (value: number): string =>
  [...String(value).padStart(3, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('o')

/** Chapters of about 12 kB; each holds one word that no other has. */
const chapter = (at: number): { id: string; marker: string; body: string } => {
  const marker = `zyq${letters(at)}x`
  const paragraph = (n: number): string =>
    `Paragraph ${n} of chapter ${at} explains ownership, borrowing and lifetimes once more, with examples that take a while to read. `.repeat(
      3,
    )
  const text = [
    `# Chapter ${at}`,
    ...Array.from({ length: 30 }, (_, n) => paragraph(n)),
    `The word ${marker} stands here only.`,
  ].join('\n\n')
  const document = {
    id: `chapter/${at}`,
    semantic_identifier: `Chapter ${at}`,
    source: 'file',
    metadata: { book: 'test' },
    sections: [{ text, link: `https://book.example/${at}` }],
  }
  return { id: document.id, marker, body: JSON.stringify({ document }) }
}

const chapters = Array.from({ length: count }, (_, at) => chapter(at))

/** Posts up to `most` chapters that have no 200 yet, eight at a time, until they are accepted or the service is gone. */
async function post(service: Service, accepted: Set<string>, most = count): Promise<void> {
  const waiting = chapters.filter(({ id }) => !accepted.has(id)).slice(0, most)
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const answer = await service
          .fetch('/service-api/ingestion', { method: 'POST', body: next.body })
          .catch(() => undefined)
        if (!answer) return
        const body = await answer.json().catch(() => undefined)
        if (answer.status === 200 && body) accepted.add(next.id)
      }
    }),
  )
}

test('every document that got a 200 is searchable, once, after 20 kills at random moments', async () => {
  const folder = temporaryFolder()
  const compiled = temporaryFolder()
  const start = (): Promise<Service> => startService(folder.path, { compiled: compiled.path })
  const seed = Number(process.env['INLAY_TEST_SEED'] ?? Math.trunc(Date.now() % 1e9))
  const random = seededRandom(seed)
  const accepted = new Set<string>()
  try {
    // One that comes to its end, for the compiled code it leaves.
    await (await start()).stop()
    for (let round = 0; round < kills; round++) {
      const service = await start()
      // A few at a time, so that the kills fall on accepting as well as on indexing.
      const posting = post(service, accepted, 12)
      await new Promise((wake) => setTimeout(wake, random() * 500))
      await service.kill()
      await posting
    }
    const service = await start()
    try {
      await post(service, accepted)
      expect(accepted.size, `seed ${seed}`).toBe(count)
      await eventually(
        'all documents are indexed',
        async () => {
          const listed = (await (
            await service.fetch('/service-api/ingestion?state=indexed&limit=1000')
          ).json()) as unknown[]
          return listed.length === count ? true : undefined
        },
        180_000,
      )
      for (const { id, marker } of chapters) {
        const answer = await service.fetch('/search', { method: 'POST', body: JSON.stringify({ query: marker }) })
        const { results } = (await answer.json()) as { results: { title: string; content: string; link: string }[] }
        const holding = results.filter(({ content }) => content.includes(marker))
        expect(
          holding.map(({ link }) => link),
          `${id} by ${marker}, seed ${seed}`,
        ).toEqual([`https://book.example/${id.split('/')[1]}`])
      }
    } finally {
      await service.stop()
    }
  } finally {
    folder.remove()
    compiled.remove()
  }
}, 300_000)
