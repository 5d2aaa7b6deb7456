import { expect } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from '../process.ts'
import { seededRandom } from '../random.ts'

interface Chapter {
  readonly id: string
  /** A word that no other chapter has. */
  readonly marker: string
  /** The request that takes it in. */
  readonly body: string
}

const letters = (value: number): string =>
  [...String(value).padStart(3, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('o')

/** A chapter of about 12 kB. */
function createChapter(number: number): Chapter {
  const marker = `zyq${letters(number)}x`
  const paragraph = (n: number): string =>
    `Paragraph ${n} of chapter ${number} explains ownership, borrowing and lifetimes once more, with examples that take a while to read. `.repeat(
      3,
    )
  const text = [
    `# Chapter ${number}`,
    ...Array.from({ length: 30 }, (_, n) => paragraph(n)),
    `The word ${marker} stands here only.`,
  ].join('\n\n')
  const document = {
    id: `chapter/${number}`,
    semantic_identifier: `Chapter ${number}`,
    source: 'file',
    metadata: { book: 'test' },
    sections: [{ text, link: `https://book.example/${number}` }],
  }
  return { id: document.id, marker, body: JSON.stringify({ document }) }
}

/** Posts up to `most` chapters that have no 200 yet, eight at a time, until they are accepted or the service is gone. */
async function post(
  service: Service,
  chapters: readonly Chapter[],
  accepted: Set<string>,
  most: number,
): Promise<void> {
  const open = chapters.filter(({ id }) => !accepted.has(id)).slice(0, most)
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = open.pop(); next; next = open.pop()) {
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

/**
 * Kills a service again and again at random times while it takes chapters in; in the end every chapter that got a 200
 * is found, once.
 */
export async function killWhileIngesting({ count, kills }: { count: number; kills: number }): Promise<void> {
  const folder = temporaryFolder()
  const compiled = temporaryFolder()
  const start = (): Promise<Service> => startService(folder.path, { compiled: compiled.path })
  const seed = Number(process.env['INLAY_TEST_SEED'] ?? Math.trunc(Date.now() % 1e9))
  const random = seededRandom(seed)
  const chapters = Array.from({ length: count }, (_, number) => createChapter(number))
  const accepted = new Set<string>()
  try {
    // One that comes to its end, for the compiled code it leaves.
    if (kills > 5) await (await start()).stop()
    for (let round = 0; round < kills; round++) {
      const service = await start()
      // A few at a time, so that the kills fall on accepting as well as on indexing.
      const posting = post(service, chapters, accepted, Math.ceil(count / 9))
      await new Promise((resolve) => setTimeout(resolve, random() * 500))
      await service.kill()
      await posting
    }
    const service = await start()
    try {
      await post(service, chapters, accepted, count)
      expect(accepted.size, `seed ${seed}`).toBe(count)
      await expectEachFoundOnce(service, chapters, `seed ${seed}`)
    } finally {
      await service.stop()
    }
  } finally {
    folder.remove()
    compiled.remove()
  }
}

async function expectEachFoundOnce(service: Service, chapters: readonly Chapter[], where: string): Promise<void> {
  await eventually(
    'all documents are indexed',
    async () => {
      const response = await service.fetch('/service-api/ingestion?state=indexed&limit=1000')
      return ((await response.json()) as unknown[]).length === chapters.length ? true : undefined
    },
    180_000,
  )
  for (const { id, marker } of chapters) {
    const answer = await service.fetch('/search', { method: 'POST', body: JSON.stringify({ query: marker }) })
    const { results } = (await answer.json()) as { results: { content: string; link: string }[] }
    const links = results.filter(({ content }) => content.includes(marker)).map(({ link }) => link)
    expect(links, `${id} by ${marker}, ${where}`).toEqual([`https://book.example/${id.split('/')[1]}`])
  }
}
