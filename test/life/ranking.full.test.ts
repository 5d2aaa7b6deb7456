import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { figuresOf, meanOf, type RankingFigures } from '../bench/retrieval-figures.ts'
import type { RetrievalSet } from '../bench/retrieval-set.ts'
import { inlaySystem, textSystem, type RankingSystem } from '../bench/retrieval-systems.ts'
import { misspell, seededRandom } from '../bench/typos.ts'

/** A section of a documentation that stays as it is: that of dependencies whose versions are fixed. */
interface Section {
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

const sections = globSync([
  'node_modules/ai/docs/0[34]*/*.mdx',
  'node_modules/@mastra/core/dist/docs/references/docs-*.md',
])
  .toSorted()
  .flatMap((file): Section[] => {
    const [top = '', ...rest] = readFileSync(file, 'utf8').split(/^## /m)
    const page = /^# (.*)/m.exec(top)?.[1] ?? file
    return rest.map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      return { id: `${file}#${heading}`, page, heading, text: lines.join('\n').trim() }
    })
  })
  // Of one chunk each: whole pages rank otherwise than their parts.
  .filter(({ text }) => text.length > 80 && text.length < 1500)

/** The first words of a sentence from the second half of a section; undefined for one of tables and code. */
const toQuotation = ({ text }: Section): string | undefined =>
  /[^.|#`]{60,200}\./
    .exec(text.slice(text.length / 2))?.[0]
    .split(/\s+/)
    .slice(0, 9)
    .join(' ')

/** Sections whose question is their heading, which no document holds; then titled ones, asked by a sentence of theirs. */
const kinds = {
  'abstracts without titles': { toTitle: () => '', toQuestion: ({ heading }: Section) => heading },
  'titled pages': { toTitle: ({ page, heading }: Section) => `${page}: ${heading}`, toQuestion: toQuotation },
}

function collection(name: keyof typeof kinds): RetrievalSet {
  const { toTitle, toQuestion } = kinds[name]
  const documents = sections.map((each) => ({ id: each.id, title: toTitle(each), text: each.text }))
  const queries = sections.flatMap((each) => {
    const text = toQuestion(each)
    return text === undefined ? [] : [{ id: each.id, text }]
  })
  return { name, documents, queries, grades: new Map(sections.map(({ id }) => [id, new Map([[id, 1]])])) }
}

async function measure(
  start: (set: RetrievalSet) => Promise<RankingSystem>,
  set: RetrievalSet,
): Promise<{ asWritten: RankingFigures; misspelt: RankingFigures }> {
  const system = await start(set)
  const mean = async (toQuery: (text: string) => string): Promise<RankingFigures> => {
    const all: RankingFigures[] = []
    for (const { id, text } of set.queries) all.push(figuresOf(await system.rank(toQuery(text)), set.grades.get(id)!))
    return meanOf(all)
  }
  const random = seededRandom(1)
  const figures = { asWritten: await mean((text) => text), misspelt: await mean((text) => misspell(text, random)) }
  await system.close()
  return figures
}

// Titles that count double, word parts and likely spellings help some questions and must not crowd out other answers.
test.each(['abstracts without titles', 'titled pages'] as const)(
  '%s rank no worse, and no fewer are found, than by the full-text index alone',
  async (name) => {
    const set = collection(name)
    expect(set.queries.length).toBeGreaterThan(100)
    const [inlay, text] = [await measure(inlaySystem, set), await measure(textSystem, set)]
    for (const variant of ['asWritten', 'misspelt'] as const) {
      // A title counts double: that costs questions in the words of the text .007, and misspelt ones gain .107.
      const margin = name === 'titled pages' && variant === 'asWritten' ? 0.01 : 0
      expect(inlay[variant].ndcg10, `nDCG@10, ${variant}`).toBeGreaterThanOrEqual(text[variant].ndcg10 - margin)
      expect(inlay[variant].recall100, `recall@100, ${variant}`).toBeGreaterThanOrEqual(text[variant].recall100)
    }
  },
)
