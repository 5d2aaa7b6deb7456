/** How buckets are reached. */
export interface S3Access {
  /** Address of another server than Amazon's, such as `http://minio:9000`. */
  readonly endpoint?: string | undefined
  /** Name of the region. Default `us-east-1`. */
  readonly region?: string | undefined
  /** Needed for uploaded files; an index also takes those of the environment or the machine. */
  readonly accessKeyId?: string | undefined
  /** Its secret. */
  readonly secretAccessKey?: string | undefined
  /** Comes with temporary keys. */
  readonly sessionToken?: string | undefined
}

/** Servers that keep what would otherwise lie in the data folder, by their addresses. */
export interface EngineOptions {
  /** PostgreSQL for the records: `postgres://user:password@host:port/database`. Needs the package `pg`. */
  readonly database?: string | undefined
  /** Most connections of this process to PostgreSQL, for the records and for an index there. Default 10 each. */
  readonly databaseConnections?: number | undefined
  /**
   * Where the index lies: `http` or `https` addresses of OpenSearch nodes separated by commas, `postgres://…` for
   * pgvector, `s3://bucket/path` for LanceDB in a bucket, `folder` for the data folder. Default: in `database`, if set.
   */
  readonly index?: string | undefined
  /** Shards of an index in OpenSearch. Default 1. */
  readonly indexShards?: number | undefined
  /** Copies of each of them. Default: one from two nodes on. */
  readonly indexReplicas?: number | undefined
  /** Redis or Valkey for running answers: `redis://user:password@host:port/number`. Needs the package `redis`. */
  readonly redis?: string | undefined
  /** Bucket for uploaded files: `s3://bucket/path`. Needs the package `aws4fetch`. */
  readonly files?: string | undefined
  /** How the buckets are reached. */
  readonly s3?: S3Access | undefined
  /** Begins the names of keys in Redis and of the index in OpenSearch and PostgreSQL. Default `inlay`. */
  readonly prefix?: string | undefined
}

/** What an index setting means. */
export type IndexPlace =
  | { readonly engine: 'opensearch'; readonly nodes: readonly string[] }
  | { readonly engine: 'pgvector'; readonly address: string }
  | { readonly engine: 'bucket'; readonly address: string }
  | { readonly engine: 'folder' }

/** An address that PostgreSQL clients take. */
export const isDatabaseAddress = (text: string): boolean => hasProtocol(text, /^postgres(?:ql)?:$/)

/** An address that Redis clients take. */
export const isRedisAddress = (text: string): boolean =>
  hasProtocol(text, /^rediss?:$/) && new URL(text).hostname !== ''

/** A bucket with a path or without: `s3://bucket/path`. */
export const isBucketAddress = (text: string): boolean =>
  /^s3:\/\/[a-z\d][a-z\d.-]{1,62}(?:\/[\w!.*'()/-]*)?$/.test(text)

/** An address of a server that speaks S3. Keys come apart from it: `fetch` refuses addresses that hold any. */
export const isBucketServer = (text: string): boolean =>
  hasProtocol(text, /^https?:$/) && new URL(text).username + new URL(text).password === ''

/** The start of names that Redis, OpenSearch and PostgreSQL all take. */
export const isEnginePrefix = (text: string): boolean => /^[a-z][a-z\d_]{0,39}$/.test(text)

/** Where an index lies; undefined for what cannot be understood. */
export function indexPlaceOf(text: string): IndexPlace | undefined {
  if (text === 'folder') return { engine: 'folder' }
  if (isDatabaseAddress(text)) return { engine: 'pgvector', address: text }
  if (isBucketAddress(text)) return { engine: 'bucket', address: text }
  const nodes = text.split(/[\s,]+/).filter((node) => node !== '')
  const areNodes = nodes.length > 0 && nodes.every((node) => hasProtocol(node, /^https?:$/))
  return areNodes ? { engine: 'opensearch', nodes } : undefined
}

/** What lies where, a line each, without users, passwords and parameters. */
export function engineLines({ database, index, redis, files }: EngineOptions): string[] {
  const lines = { Records: database, Index: index ?? database, Files: files, 'Running answers': redis }
  return Object.entries(lines).flatMap(([what, text]) => {
    if (text === undefined || text === 'folder') return []
    const place = indexPlaceOf(text)
    // A password may hold a comma.
    const addresses = place?.engine === 'opensearch' ? place.nodes : [text]
    return `${what}: ${addresses.map(shown).join(', ')}`
  })
}

function shown(address: string): string {
  const { protocol, host, pathname } = new URL(address)
  return `${protocol}//${host}${pathname.replace(/\/$/, '')}`
}

/** Whether a text is an address of such a protocol. */
export function hasProtocol(text: string, protocol: RegExp): boolean {
  return URL.canParse(text) && protocol.test(new URL(text).protocol)
}
