import { formatDay, formatNumber, formatPercent, plural } from '../locale.ts'

export const search = {
  lead: 'Finds passages in the texts of your documents, best first. No model is asked.',
  field: 'Search in all documents',
  searching: 'Searching…',
  none: 'No passage matches.',
  passages: 'Passages',
  count: (count: number) => plural(count, { one: '# passage.', other: '# passages.' }),
  rank: (rank: number) => `Rank ${formatNumber(rank)}`,
  noWords: 'Has none of your words: near in meaning, or in its title',
  hasWords: (words: readonly string[], of: number) =>
    `Has ${formatNumber(words.length)} of ${formatNumber(of)} words: ${words.join(', ')}`,
  changed: (date: Date) => `changed ${formatDay(date)}`,
  why: 'Why this rank',
  score: 'Score',
  words: 'Words',
  vector: 'Meaning',
  recency: 'Age',
  weight: (share: number) => `counts ${formatPercent(share)}`,
  times: (factor: number) => `times ${formatNumber(factor)}`,
  reranked: 'A reranker read it and set the score.',
  named: 'Moved up: your words name this document.',
}
