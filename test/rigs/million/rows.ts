import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IndexFilter, IndexRow } from '@inlay/knowledge'
import { seededRandom } from '../../bench/typos.ts'
import { zipfText } from '../../bench/zipf-text.ts'

/** Length of the vectors: that of the small embedding models most people run. */
export const dimensions = 384

/** A question with the vector that an embedder would give it. */
export interface Question {
  readonly text: string
  readonly vector: Float32Array
}

/** Rows in a fixed order and questions about them; the same for every engine. */
export interface RowSource {
  /** The next rows. */
  rows(count: number): IndexRow[]
  readonly questions: readonly Question[]
  /** Ids of the documents nearest to each of the first questions among all rows made so far, exactly. */
  nearest(): readonly (readonly string[])[]
}

/** Filters that are timed, each with the share of the rows that passes. */
export const filters: Readonly<Record<string, IndexFilter | undefined>> = {
  'no filter': undefined,
  'pairs, 2/3': { pairs: [1] },
  'pairs, 1/1000': { pairs: [1000] },
  'tag, 1/20': { tags: [['team=3']] },
}

/** Words of a question; the commonest words of the texts are left out, as people and engines leave out "the". */
const [questionWords, commonWords] = [4, 60]
/** Questions whose nearest rows are found exactly. */
const exactQuestions = 20
const nearestRows = 10

/** @param folder of texts to take sentences from; without it words are made up and come as often as in a language */
export function createRowSource(questionCount: number, folder?: string): RowSource {
  const text = folder === undefined ? zipfChunks() : folderChunks(folder)
  const vector = clusteredVectors()
  const questions = questionsOf(text, vector, questionCount)
  const exact = questions.slice(0, exactQuestions).map(({ vector }) => createNearest(vector))
  let created = 0
  const row = (): IndexRow => {
    const n = created++
    const chunk = text()
    const rowVector = vector()
    for (const nearest of exact) nearest.offer(`document ${n}`, rowVector)
    return {
      documentId: `document ${n}`,
      generation: `generation ${n}`,
      position: 0,
      text: chunk,
      searchText: chunk,
      source: n % 5 === 0 ? 'web' : 'file',
      tags: [`team=${n % 20}`],
      pairs: n % 1000 === 7 ? [1000, 2] : [n % 3 === 0 ? 2 : 1],
      updatedAt: 1_700_000_000_000 + n,
      ownUpdatedAt: null,
      createdAt: null,
      chunkMetadata: '{}',
      vector: rowVector,
    }
  }
  return {
    rows: (count) => Array.from({ length: count }, row),
    questions,
    nearest: () => exact.map((nearest) => nearest.ids()),
  }
}

function questionsOf(text: () => string, vector: () => Float32Array, count: number): Question[] {
  const counts = new Map<string, number>()
  const seen = Array.from({ length: 2_000 }, () => text().match(/\p{L}{4,}/gu) ?? [])
  for (const word of seen.flat()) counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + 1)
  const common = new Set(
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, commonWords)
      .map(([word]) => word),
  )
  const random = seededRandom(5)
  return Array.from({ length: count }, (_, at) => {
    const words = [...new Set(seen[at % seen.length])].filter((word) => !common.has(word.toLowerCase()))
    const picked = Array.from({ length: questionWords }, () => words[Math.floor(random() * words.length)] ?? 'none')
    return { text: picked.join(' '), vector: vector() }
  })
}

function zipfChunks(): () => string {
  const source = zipfText(1)
  return () => source.text(105)
}

/** Chunks of sentences taken at random: words are as frequent as in the texts, however many chunks are made. */
function folderChunks(folder: string): () => string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const whole = files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
  const sentences = whole
    .flatMap((text) => text.split(/(?<=[.!?])\s+|\n{2,}/u))
    .filter((sentence) => /\p{L}{4}/u.test(sentence))
  if (sentences.length === 0) throw new Error(`no sentences in ${folder}`)
  const random = seededRandom(1)
  return () => {
    let chunk = ''
    while (chunk.length < 600) chunk += `${sentences[Math.floor(random() * sentences.length)]!.slice(0, 600)} `
    return chunk
  }
}

/** Vectors of length 1 around two thousand centres, as embedding models give them; half of each is its own. */
function clusteredVectors(): () => Float32Array {
  const random = seededRandom(3)
  const noise = Float32Array.from({ length: 1 << 20 }, () => random() + random() + random() - 1.5)
  const piece = (): Float32Array => {
    const from = Math.floor(random() * (noise.length - dimensions))
    return noise.subarray(from, from + dimensions)
  }
  const centres = Array.from({ length: 2_000 }, piece)
  return () => {
    const [centre, own] = [centres[Math.floor(random() * centres.length)]!, piece()]
    const vector = centre.map((value, at) => value + own[at]!)
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }
}

interface Nearest {
  offer(id: string, vector: Float32Array): void
  ids(): readonly string[]
}

function createNearest(wanted: Float32Array): Nearest {
  let best: { readonly id: string; readonly nearness: number }[] = []
  return {
    offer(id, vector) {
      let nearness = 0
      for (let at = 0; at < dimensions; at++) nearness += wanted[at]! * vector[at]!
      if (best.length === nearestRows && nearness <= best.at(-1)!.nearness) return
      best = [...best, { id, nearness }].sort((a, b) => b.nearness - a.nearness).slice(0, nearestRows)
    },
    ids: () => best.map(({ id }) => id),
  }
}
