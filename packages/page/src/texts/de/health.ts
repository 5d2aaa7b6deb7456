import type { health as english } from '../en/health.ts'
import { formatDuration, plural } from '../locale.ts'

export const health: typeof english = {
  lead: 'Die Warteschlange, der Index und ihr Tempo. Alle paar Sekunden aktualisiert.',
  readiness: 'Teile des Dienstes',
  parts: {
    service: 'Dienst',
    index: 'Index',
    embedder: 'Einbettungsmodell',
    model: 'Sprachmodell',
    failures: 'Dokumente',
    note: 'Hinweis',
  },
  tones: { ready: 'Bereit', waits: 'Braucht Aufmerksamkeit', failed: 'Gescheitert' },
  rebuilds: (count, reason) =>
    `Wird neu aufgebaut: ${reason}. ${plural(count, { one: '# Dokument fehlt noch', other: '# Dokumente fehlen noch' })}.`,
  reasons: {
    embedder: 'Die Dokumente bekommen ein anderes Einbettungsmodell',
    incomplete: 'Einige Dokumente fehlten',
    requested: 'Jemand hat darum gebeten',
    lost: 'Seine Dateien sind weg',
    damaged: 'Er war nicht lesbar',
    foreign: 'Er gehörte zu einer anderen Installation',
    outdated: 'Er war von einer älteren Version',
  },
  noEmbedder: 'Keines: Die Suche vergleicht nur Wörter',
  otherEmbedder: (name) =>
    name === null ? 'dieser Prozess hat keines' : `dieser Prozess ist auf ${name} eingestellt und nutzt es nicht`,
  failed: (count) => plural(count, { one: '# Dokument ist gescheitert', other: '# Dokumente sind gescheitert' }),

  queue: 'Warteschlange',
  waiting: 'Warten oder werden indiziert',
  oldest: 'Wartet am längsten',
  noneWaits: 'Keines',
  documents: (count) => plural(count, { one: '# Dokument', other: '# Dokumente' }),
  index: 'Index',
  rows: 'Passagen',
  unindexed: 'Noch nicht eingefügt',
  bytes: 'Auf der Platte',
  notTold: 'Nicht bekannt',
  over: (seconds) => `Letzte ${formatDuration(seconds)}`,
  plot: (label, seconds, least, most, now) =>
    least === most
      ? `${label}, letzte ${formatDuration(seconds)}: immer ${now}`
      : `${label}, letzte ${formatDuration(seconds)}: zwischen ${least} und ${most}, jetzt ${now}`,

  latency: 'Wie lange es dauert',
  telemetryOff: 'Nichts wird gemessen: Die Telemetrie ist aus. Um sie einzuschalten, starten Sie den Server mit',
  nothingMeasured: 'Noch wurde nichts gemessen.',
  measured: 'Vorgang',
  times: 'Anzahl',
  median: 'Die Hälfte höchstens',
  slow: '95 % höchstens',
  beyond: 'länger als gemessen',
  sinceStart: 'Seit dem Start des Prozesses, der geantwortet hat; geschätzt aus den Metriken unter /metrics.',
  latencies: {
    search: 'Suche in den Dokumenten',
    answer: 'Ganze Antwort',
    firstText: 'Erster Text des Sprachmodells',
    indexing: 'Eintrag in den Index',
    request: 'Anfrage an die API',
  },
}
