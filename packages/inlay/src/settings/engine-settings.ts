import { indexPlaceOf, type EngineOptions, type S3Access } from '../options/engines.ts'
import type { Environment } from './environment.ts'
import type { SettingValues } from './setting-table.ts'

/** The options of storage. Adds errors to `faults`. */
export function enginesOf(
  { database = {}, index = {}, files, sharedRuns, enginePrefix, s3 = {} }: SettingValues['options'],
  env: Environment,
  faults: string[],
): EngineOptions & { readonly [Name in 'database' | 'index']: EngineOptions[Name] } {
  const place = indexPlaceOf(index.url ?? database.url ?? 'folder')?.engine
  const needing = (isMet: boolean, what: string, uses: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(uses))
      if (!isMet && value !== undefined) faults.push(`${name}: has no effect without ${what}.`)
  }
  needing(database.url !== undefined || place === 'pgvector', 'INLAY_DATABASE_URL', {
    INLAY_DATABASE_CONNECTIONS: database.maxConnections,
  })
  needing(place === 'opensearch', 'OpenSearch in INLAY_INDEX_URL', {
    INLAY_INDEX_SHARDS: index.shards,
    INLAY_INDEX_REPLICAS: index.replicas,
  })
  const hasBucket = place === 'bucket' || files !== undefined
  needing(hasBucket, 'a bucket in INLAY_FILES_URL or INLAY_INDEX_URL', {
    INLAY_S3_ENDPOINT: s3.endpoint,
    INLAY_S3_REGION: s3.region,
    INLAY_S3_ACCESS_KEY_ID: s3.accessKeyId,
    INLAY_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  })
  const connections = place === 'pgvector' ? { maxConnections: database.maxConnections } : {}
  return {
    database: database.url === undefined ? undefined : { ...database, url: database.url },
    index: index.url === undefined ? undefined : { ...connections, ...index, url: index.url },
    files,
    sharedRuns,
    enginePrefix,
    s3: hasBucket ? accessOf(s3, env, faults, files !== undefined) : undefined,
  }
}

function accessOf(given: S3Access, env: Environment, faults: string[], keepsFiles: boolean): S3Access {
  const usual = (name: string): string | undefined => env[name]?.trim() || undefined
  const isOwn = given.accessKeyId !== undefined || given.secretAccessKey !== undefined
  const accessKeyId = isOwn ? given.accessKeyId : usual('AWS_ACCESS_KEY_ID')
  const secretAccessKey = isOwn ? given.secretAccessKey : usual('AWS_SECRET_ACCESS_KEY')
  const missing = [
    ...(accessKeyId ? [] : ['INLAY_S3_ACCESS_KEY_ID']),
    ...(secretAccessKey ? [] : ['INLAY_S3_SECRET_ACCESS_KEY']),
  ]
  if (missing.length > 0 && (keepsFiles || isOwn)) {
    const half = given.secretAccessKey ? 'INLAY_S3_SECRET_ACCESS_KEY' : 'INLAY_FILES_URL'
    faults.push(`${given.accessKeyId ? 'INLAY_S3_ACCESS_KEY_ID' : half}: needs ${missing.join(' and ')}.`)
  }
  return {
    endpoint: given.endpoint,
    region: given.region ?? usual('AWS_REGION') ?? usual('AWS_DEFAULT_REGION'),
    accessKeyId,
    secretAccessKey,
    sessionToken: isOwn ? undefined : usual('AWS_SESSION_TOKEN'),
  }
}
