import { formatDuration, plural } from '../locale.ts'

export const health = {
  lead: 'The queue, the index and their speed. Updates every few seconds.',
  readiness: 'Parts of the service',
  parts: {
    service: 'Service',
    index: 'Index',
    embedder: 'Embedding model',
    model: 'Language model',
    failures: 'Documents',
    note: 'Note',
  },
  tones: { ready: 'Ready', waits: 'Needs attention', failed: 'Failed' },
  rebuilds: (count: number, reason: string) =>
    `Being rebuilt: ${reason}. ${plural(count, { one: '# document is left', other: '# documents are left' })}.`,
  reasons: {
    embedder: 'the documents get another embedding model',
    incomplete: 'some documents were missing',
    requested: 'somebody asked for it',
    lost: 'its files are gone',
    damaged: 'it could not be read',
    foreign: 'it was that of another installation',
    outdated: 'it was of an older version',
  },
  noEmbedder: 'None: searches compare words alone',
  otherEmbedder: (name: string | null) =>
    name === null ? 'this process has none' : `this process is set to ${name}, which it does not use`,
  failed: (count: number) => plural(count, { one: '# document failed', other: '# documents failed' }),

  queue: 'Queue',
  waiting: 'Waiting or indexing',
  oldest: 'Waiting longest',
  noneWaits: 'None',
  documents: (count: number) => plural(count, { one: '# document', other: '# documents' }),
  index: 'Index',
  rows: 'Passages',
  unindexed: 'Not merged yet',
  bytes: 'On disk',
  notTold: 'Unknown',
  over: (seconds: number) => `Last ${formatDuration(seconds)}`,
  plot: (label: string, seconds: number, least: string, most: string, now: string) =>
    least === most
      ? `${label}, last ${formatDuration(seconds)}: always ${now}`
      : `${label}, last ${formatDuration(seconds)}: between ${least} and ${most}, now ${now}`,

  latency: 'How long things take',
  telemetryOff: 'Nothing is measured, since telemetry is off. To turn it on, start the server with',
  nothingMeasured: 'Nothing was measured yet.',
  measured: 'Operation',
  times: 'Count',
  median: 'Half took at most',
  slow: '95 % took at most',
  beyond: 'longer than measured',
  sinceStart: 'Since the process started that answered; estimated from the metrics at /metrics.',
  latencies: {
    search: 'Search of the documents',
    answer: 'Whole answer',
    firstText: 'First text of the language model',
    indexing: 'Commit to the index',
    request: 'Request of the API',
  },
}
