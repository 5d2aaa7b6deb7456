import type { ChunkMetadata } from '../chunking/chunk-metadata.ts'
import type { Hit } from '../contracts/vector-index.ts'
import { rankingOf } from './reranking.ts'

/** Share of the best score added to a document whose title is a name in the query. */
const namedShare = 0.4

/**
 * Puts documents whose title or name is the query itself first, each by its best hit: `about_Operators`, `IT helpdesk`,
 * `nginx.conf`. Several with the same name keep their order. A document whose title is a name in the query, such as
 * `Article L121-1` in "what does article L121-1 say", moves up: to the index it looks like any document that mentions
 * the name.
 * @param hits by descending score
 * @param decode decodes chunk metadata
 * @returns by descending score, in [0, 1]
 */
export function exactTitlesFirst(
  hits: readonly Hit[],
  query: string,
  decode: (encoded: string) => ChunkMetadata,
): readonly Hit[] {
  const wanted = plainName(query)
  const top = hits[0]?.score
  if (wanted === '' || top === undefined) return hits
  const seen = new Set<string>()
  const titled: Hit[] = []
  const others: Hit[] = []
  let isMoved = false
  for (const hit of hits) {
    const isBest = !seen.has(hit.generation)
    seen.add(hit.generation)
    const names = isBest ? namesOf(hit.documentId, decode(hit.chunkMetadata)) : []
    if (names.includes(wanted)) titled.push({ ...hit, score: top, ranking: { ...rankingOf(hit), isNamed: true } })
    else if (names.some((name) => isCode(name) && ` ${wanted} `.includes(` ${name} `))) {
      isMoved = true
      others.push({
        ...hit,
        score: (hit.score + namedShare * top) / (1 + namedShare),
        ranking: { ...rankingOf(hit), isNamed: true },
      })
    } else others.push({ ...hit, score: hit.score / (1 + namedShare), ranking: rankingOf(hit) })
  }
  if (isMoved) return [...titled, ...others.toSorted((left, right) => right.score - left.score)]
  if (titled.length === 0) return hits
  const first = new Set(titled.map(({ generation, position }) => `${position} ${generation}`))
  return [...titled, ...hits.filter(({ generation, position }) => !first.has(`${position} ${generation}`))]
}

/** A document's title, name, and file name with and without its extension. */
function namesOf(documentId: string, { semanticIdentifier, title = '' }: ChunkMetadata): string[] {
  const names = new Set<string>()
  for (const name of [semanticIdentifier, title, documentId]) {
    const file = name.split(/[/\\]/).at(-1)!
    names
      .add(name)
      .add(file)
      .add(file.replace(/\.\w{1,5}$/, ''))
  }
  return [...names].map(plainName)
}

/** Contains letters and digits, and is therefore unlikely to be in a query by chance. */
const isCode = (name: string): boolean => /\p{L}/u.test(name) && /\p{N}/u.test(name)

/** Keeps letters, digits and the signs that distinguish `C`, `C++` and `C#`. */
function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}+#]+/gu, ' ')
    .trim()
}
