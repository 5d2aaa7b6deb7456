/** The table of speed: which benchmarks fill it, and what each row says. */

/** A benchmark with its sizes. */
export interface Step {
  readonly name: string
  readonly bench: string
  readonly args?: string
}

/** The steps of one run, which takes some 8 minutes on two quiet cores, and 2 more where all relays are measured. */
export function stepsOf(run: number): readonly Step[] {
  // The peers change by their releases alone, so one run with them is enough.
  const relays = run === 1 ? 'bare,mastra,ai,inlay' : 'bare,inlay'
  return [
    { name: 'relay', bench: 'relay', args: `--relays ${relays} --streams 1,200 --tokens 300 --rounds 3` },
    { name: 'ingestion', bench: 'ingestion', args: '--only accept,indexing,flood,upkeep --skip-rest' },
    { name: 'embedding', bench: 'ingestion', args: '--only embedding --documents 20' },
    { name: 'search', bench: 'search', args: '--queries 400' },
    { name: 'million', bench: 'million', args: '--sizes 100000' },
    { name: 'first-message', bench: 'first-message' },
    { name: 'start', bench: 'start' },
  ]
}

/** The value of a figure in one run; NaN if the run has none. */
export type Read = (name: string) => number

/** A value with how it is shown. */
export interface Shown {
  readonly unit: string
  of(read: Read): number
}

export interface Row extends Shown {
  readonly what: string
  /** The least it could cost. */
  readonly limit: string
  readonly bar?: { readonly atMost: number } | { readonly atLeast: number }
  /** Figures of the same runs that the value is read beside, by name. */
  readonly beside?: Readonly<Record<string, Shown>>
}

export interface Part {
  readonly title: string
  readonly size: string
  readonly rows: readonly Row[]
}

const figure = (name: string, unit: string): Shown => ({ unit, of: (read) => read(name) })
const ratio = (name: string, base: string): Shown => ({ unit: '×', of: (read) => read(name) / read(base) })

/** A figure of the relays: Inlay's over that of the bare relay, with all of them beside it. */
function relayRow(what: string, name: string, unit: string, rest: Pick<Row, 'limit' | 'bar'>): Row {
  const of = (relay: string): string => `relay, ${relay}: ${name}`
  return {
    what,
    ...rest,
    ...ratio(of('inlay'), of('bare')),
    beside: {
      Inlay: figure(of('inlay'), unit),
      bare: figure(of('bare'), unit),
      'AI SDK': ratio(of('ai'), of('bare')),
      Mastra: ratio(of('mastra'), of('bare')),
    },
  }
}

/** The same, told in its own unit. */
function absoluteRow(what: string, name: string, unit: string, rest: Pick<Row, 'limit' | 'bar'>): Row {
  const of = (relay: string): Shown => figure(`relay, ${relay}: ${name}`, unit)
  return { what, ...rest, ...of('inlay'), beside: { bare: of('bare'), 'AI SDK': of('ai'), Mastra: of('mastra') } }
}

const searchAgain = 'search, index, again, p50, ms'
const ofUnfiltered = (name: string): Shown => ratio(`search, index, ${name}, p50, ms`, searchAgain)

function indexingRow(dimensions: number): Row {
  return {
    what: `indexing, ${dimensions === 0 ? 'words alone' : `${dimensions} dimensions`}, rate over bare LanceDB`,
    limit: 'the same rows built as Arrow and appended',
    unit: '×',
    of: (read) => read(`ingestion, indexing over bare LanceDB, median, ${dimensions} dimensions`),
    bar: { atLeast: 0.9 },
    beside: {
      'CPU over bare': figure(
        `ingestion, CPU of an indexed chunk over bare LanceDB, median, ${dimensions} dimensions`,
        '×',
      ),
      'CPU of a chunk': figure(`ingestion, µs CPU of an indexed chunk, ${dimensions} dimensions`, 'µs'),
    },
  }
}

const bareSqlite = (inCommit: string): Shown =>
  figure(`ingestion, bare SQLite, ${inCommit} in a commit, documents/s`, '/s')

/** With 50 clients the disk is not the limit: a sync carries 50 documents. */
const acceptanceRows: readonly Row[] = [
  {
    what: 'accepted, 50 clients',
    limit: 'the CPU of a document, one sync for 50',
    ...figure('ingestion, accept, 50 clients, documents/s', '/s'),
    bar: { atLeast: 8000 },
    beside: { 'bare SQLite': bareSqlite('50 documents') },
  },
  {
    what: 'accepted, 1 client, over bare SQLite',
    limit: 'one insert and one sync for each document',
    ...ratio(
      'ingestion, accept, 1 client, documents/s',
      'ingestion, bare SQLite, one document in a commit, documents/s',
    ),
    bar: { atLeast: 0.8 },
    beside: {
      Inlay: figure('ingestion, accept, 1 client, documents/s', '/s'),
      'bare SQLite': bareSqlite('one document'),
      'syncs of a page': figure('ingestion, syncs of a written page, syncs/s', '/s'),
    },
  },
]

const searchersRows = [1, 10, 50, 200].map((count): Row => {
  const rate = figure(`million, lancedb, ${count} at once, searches/s`, '/s')
  return { what: `searches by words, ${count} at once`, limit: 'all cores, one search each', ...rate }
})

export const parts: readonly Part[] = [
  {
    title: 'Tokens',
    size: 'Answers of 300 tokens 40 ms apart, one stream and 200 begun at once, three rounds; one answer of 40,000 tokens said at once; 100 readers that rest 100 ms after each piece of 5,000 tokens. A token without its share of the run',
    rows: [
      relayRow('CPU of a token, one stream', 'µs CPU of a token, one stream', 'µs', {
        limit: 'one read, one write, HTTP framing of both: the bare relay',
        bar: { atMost: 2 },
      }),
      relayRow('CPU of a token, 200 streams', 'µs CPU of a token, most streams', 'µs', {
        limit: 'the same, with reads and writes that share a wake',
        bar: { atMost: 1.5 },
      }),
      absoluteRow('CPU of a token of 40,000 at once', 'µs CPU of a token of a long answer', 'µs', {
        limit: 'the bytes parsed once and written once',
        bar: { atMost: 5 },
      }),
      absoluteRow('CPU of a run besides its tokens, 200 at once', 'ms CPU of a run', 'ms', {
        limit: 'two HTTP requests, three durable commits',
        bar: { atMost: 2 },
      }),
      absoluteRow('first token, median, 200 at once', 'ms until the first token, p50', 'ms', {
        limit: 'half of the CPU of 200 beginnings',
        bar: { atMost: 120 },
      }),
      absoluteRow('memory above idle, 200 streams', 'MB above idle', 'MB', {
        limit: 'two sockets and the text of each stream',
        bar: { atMost: 100 },
      }),
      {
        what: 'memory that 100 slow readers take',
        limit: 'each answer once',
        ...figure('relay, inlay: MB that slow readers take', 'MB'),
        bar: { atMost: 60 },
      },
    ],
  },
  {
    title: 'Messages and start',
    size: 'The built-in model over one document, 30 later messages; nine starts of each host in turn, from the import to the first answer of `/health`',
    rows: [
      {
        what: 'CPU of the first message of a process',
        limit: 'the code of its path, compiled once',
        ...figure('first message, ms CPU', 'ms'),
        bar: { atMost: 30 },
      },
      {
        what: 'CPU of a later message',
        limit: 'one search, one answer, three durable commits',
        ...figure('later messages, ms CPU', 'ms'),
        bar: { atMost: 5 },
      },
      {
        what: 'start, CPU over Express',
        limit: 'modules read and compiled',
        ...ratio('start, inlay: ms CPU', 'start, express: ms CPU'),
        bar: { atMost: 1.5 },
        beside: {
          Inlay: figure('start, inlay: ms CPU', 'ms'),
          Express: figure('start, express: ms CPU', 'ms'),
          bare: figure('start, bare: ms CPU', 'ms'),
        },
      },
      {
        what: 'memory when idle',
        limit: 'that of Node with a server',
        ...figure('start, inlay: MB when idle', 'MB'),
        bar: { atMost: 70 },
        beside: {
          Express: figure('start, express: MB when idle', 'MB'),
          bare: figure('start, bare: MB when idle', 'MB'),
        },
      },
    ],
  },
  {
    title: 'Documents',
    size: '20,000 documents of 100 words, 2,000 from one client; 2,000 documents of 20 chunks to index, three rounds in turn with bare LanceDB; 20 documents with an embedder that takes 5 ms a text; 10,000 updates of 100 documents',
    rows: [
      ...acceptanceRows,
      indexingRow(0),
      indexingRow(512),
      {
        what: 'indexing with an embedder, rate over the embedder alone',
        limit: 'the embedder never waits',
        ...figure('ingestion, embedding over the embedder alone', '×'),
      },
      {
        what: 'accepted while all is indexed, 50 clients',
        limit: 'acceptance and indexing share the cores',
        ...figure('ingestion, flood, accepted documents/s', '/s'),
        bar: { atLeast: 5720 },
        beside: {
          'acceptance p95': figure('ingestion, flood, acceptance p95, ms', 'ms'),
          'until indexed': figure('ingestion, flood, accepted and indexed documents/s', '/s'),
        },
      },
      {
        what: 'acceptance p95 at 200 a second',
        limit: 'one sync',
        ...figure('ingestion, paced, acceptance p95, ms', 'ms'),
        bar: { atMost: 3 },
      },
      {
        what: 'search p95 after the updates, over an index never updated',
        limit: 'the same rows: 1',
        ...figure('ingestion, upkeep, search p95 over that of an index never updated', '×'),
        bar: { atMost: 1.2 },
        beside: {
          'p50 over it': figure('ingestion, upkeep, search p50 over that of an index never updated', '×'),
          p95: figure('ingestion, upkeep, search p95, ms', 'ms'),
        },
      },
    ],
  },
  {
    title: 'Search',
    size: '100,000 chunks, four words to a query, 400 queries by words; hybrid and many at once: 200 queries, vectors of 384 numbers',
    rows: [
      ...(['p50', 'p95'] as const).map((share): Row => ({
        what: `by words, ${share} over bare LanceDB`,
        limit: 'one query of the engine',
        ...ratio(`search, index, again, ${share}, ms`, `search, bare LanceDB, again, ${share}, ms`),
        bar: { atMost: 1.1 },
        beside: {
          Inlay: figure(`search, index, again, ${share}, ms`, 'ms'),
          LanceDB: figure(`search, bare LanceDB, again, ${share}, ms`, 'ms'),
        },
      })),
      {
        what: 'within two thirds of the rows (pairs), over unfiltered',
        limit: 'fewer rows to score: 1',
        ...ofUnfiltered('of two thirds (pairs)'),
        bar: { atMost: 1.2 },
      },
      {
        what: 'within a twentieth (tags), over unfiltered',
        limit: 'fewer rows to score: 1',
        ...ofUnfiltered('of a twentieth (tags)'),
        bar: { atMost: 1.2 },
      },
      {
        what: 'misspelt, over as asked',
        limit: 'one more query, with the right words',
        ...ofUnfiltered('misspelt'),
        bar: { atMost: 2 },
      },
      {
        what: 'while rows come in, p50 over quiet',
        limit: 'the cores that are left',
        ...ratio('search p50 while rows come in, ms', searchAgain),
        bar: { atMost: 1.3 },
      },
      {
        what: 'while rows come in, slowest',
        limit: 'one commit',
        ...figure('search while rows come in, slowest, ms', 'ms'),
        bar: { atMost: 50 },
      },
      {
        what: "hybrid, p50 over LanceDB's own on the same table",
        limit: 'one query by words, one by vector',
        ...ratio('million, lancedb, hybrid in turn, p50, ms', 'million, lancedb alone, hybrid in turn, p50, ms'),
        bar: { atMost: 1 },
        beside: {
          Inlay: figure('million, lancedb, hybrid in turn, p50, ms', 'ms'),
          LanceDB: figure('million, lancedb alone, hybrid in turn, p50, ms', 'ms'),
          'nearest rows found': figure('million, lancedb, recall@10', 'of 1'),
          'by LanceDB': figure('million, lancedb alone, recall@10', 'of 1'),
        },
      },
      ...searchersRows,
    ],
  },
]
