import type { Texts } from '../en/index.ts'
import { formatDay, formatNumber, formatPercent, plural } from '../locale.ts'

export const search: Texts['search'] = {
  lead: 'Findet Stellen in den Texten Ihrer Dokumente, die besten zuerst. Kein Modell wird gefragt.',
  field: 'In allen Dokumenten suchen',
  searching: 'Suche läuft …',
  none: 'Keine Stelle passt dazu.',
  passages: 'Stellen',
  count: (count) => plural(count, { one: '# Stelle.', other: '# Stellen.' }),
  rank: (rank) => `Rang ${formatNumber(rank)}`,
  noWords: 'Enthält keines Ihrer Wörter: dem Sinn nach ähnlich, oder im Titel',
  hasWords: (words, of) => `Enthält ${formatNumber(words.length)} von ${formatNumber(of)} Wörtern: ${words.join(', ')}`,
  changed: (date) => `geändert am ${formatDay(date)}`,
  why: 'Warum hier',
  score: 'Wertung',
  words: 'Wörter',
  vector: 'Bedeutung',
  recency: 'Alter',
  weight: (share) => `zählt ${formatPercent(share)}`,
  times: (factor) => `mal ${formatNumber(factor)}`,
  reranked: 'Ein Reranker hat die Stelle gelesen und die Wertung gesetzt.',
  named: 'Nach oben gerückt: Ihre Wörter nennen dieses Dokument.',
}
