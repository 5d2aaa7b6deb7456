import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from '../process.ts'
import { seededRandom } from '../random.ts'

/** A document that gets new versions; each version holds a word that no other text has. */
interface Chapter {
  readonly id: string
  readonly link: string
  /** The newest version that was sent, and the newest that got a 200. */
  sent: number
  accepted: number
}

/** How often a service is killed, and what else goes wrong. */
export interface Kills {
  /** Number of documents. */
  readonly count: number
  readonly kills: number
  /** After how many kills the index folder is lost as well; default: never. */
  readonly loseIndexAfter?: number
}

const letters = (value: number): string =>
  [...String(value).padStart(3, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('o')

const markerOf = ({ id }: Chapter, version: number): string =>
  `zyq${letters(Number(id.split('/')[1]))}x${letters(version)}y`

/** The request that takes a version of about 12 kB in. */
function toBody(chapter: Chapter, version: number): string {
  const paragraph = (n: number): string =>
    `Paragraph ${n} of ${chapter.id} explains ownership, borrowing and lifetimes once more, with examples that take a while to read. `.repeat(
      3,
    )
  const text = [
    `# ${chapter.id}`,
    ...Array.from({ length: 30 }, (_, n) => paragraph(n)),
    `The word ${markerOf(chapter, version)} stands here only.`,
  ].join('\n\n')
  const document = {
    id: chapter.id,
    semantic_identifier: chapter.id,
    source: 'file',
    metadata: { book: 'test' },
    sections: [{ text, link: chapter.link }],
  }
  return JSON.stringify({ document })
}

/** Posts the next version of each chapter, eight at a time, until all are answered or the service is gone. */
async function post(service: Service, chapters: readonly Chapter[]): Promise<void> {
  const open = [...chapters]
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = open.pop(); next; next = open.pop()) {
        const version = (next.sent += 1)
        const body = toBody(next, version)
        const answer = await service.fetch('/service-api/ingestion', { method: 'POST', body }).catch(() => undefined)
        if (!answer) return
        const { status } = answer
        if (status === 200 && (await answer.json().catch(() => undefined))) next.accepted = version
      }
    }),
  )
}

/**
 * Kills a service again and again at random times while it takes chapters in. In the end every chapter is found once, in
 * the version that last got a 200, and in no other.
 */
export async function killWhileIngesting({ count, kills, loseIndexAfter }: Kills): Promise<void> {
  const folder = temporaryFolder()
  const compiled = temporaryFolder()
  const start = (): Promise<Service> => startService(folder.path, { compiled: compiled.path })
  const seed = Number(process.env['INLAY_TEST_SEED'] ?? 1)
  const random = seededRandom(seed)
  const chapters = Array.from({ length: count }, (_, number): Chapter => {
    return { id: `chapter/${number}`, link: `https://book.example/${number}`, sent: 0, accepted: 0 }
  })
  try {
    // One that comes to its end, for the compiled code it leaves.
    if (kills > 5) await (await start()).stop()
    for (let round = 1; round <= kills; round++) {
      const service = await start()
      // A few at a time, so that the kills fall on accepting as well as on indexing; those never accepted come first.
      const order = chapters.map((chapter) => ({ chapter, rank: chapter.accepted === 0 ? 0 : 1 + random() }))
      const next = order.toSorted((left, right) => left.rank - right.rank).slice(0, Math.ceil(count / 9))
      const posting = post(
        service,
        next.map(({ chapter }) => chapter),
      )
      await new Promise((resolve) => setTimeout(resolve, random() * 500))
      await service.kill()
      await posting
      if (loseIndexAfter && round % loseIndexAfter === 0) rmSync(join(folder.path, 'index'), { recursive: true })
    }
    const service = await start()
    try {
      await post(
        service,
        chapters.filter(({ sent, accepted }) => accepted === 0 || sent !== accepted),
      )
      for (const { id, sent, accepted } of chapters) expect(accepted, `${id}, seed ${seed}`).toBe(sent)
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
  const search = async (words: string): Promise<string[]> => {
    const answer = await service.fetch('/search', { method: 'POST', body: JSON.stringify({ query: words }) })
    // Right after a start the index may not be open yet.
    const { results = [] } = (await answer.json()) as { results?: { content: string; link: string }[] }
    return results.filter(({ content }) => content.includes(words)).map(({ link }) => link)
  }
  for (const chapter of chapters) {
    const { id, link, accepted } = chapter
    const marker = markerOf(chapter, accepted)
    await eventually(`${id} is found by ${marker}, ${where}`, async () =>
      (await search(marker)).length > 0 ? true : undefined,
    )
    expect(await search(marker), `${id} by ${marker}, ${where}`).toEqual([link])
    if (accepted > 1) expect(await search(markerOf(chapter, accepted - 1)), `${id}, older, ${where}`).toEqual([])
  }
}
