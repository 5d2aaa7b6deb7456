import type { Texts } from '../en/index.ts'
import { formatNumber, plural } from '../locale.ts'

export const documents: Texts['documents'] = {
  set: 'Dokumentensatz',
  allSets: 'Alle Dokumentensätze',
  onlyTag: (tag) => `Nur ${tag}`,
  anyTag: (tag) => `Nicht mehr nur ${tag}`,
  accepted: 'Aufgenommen',
  rate: (perSecond, seconds) =>
    `${formatNumber(perSecond)} pro Sekunde, noch etwa ${plural(seconds, { one: '# Sekunde', other: '# Sekunden' })}`,
}
