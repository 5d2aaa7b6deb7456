import {
  indexPlaceOf,
  isBucketAddress,
  isBucketServer,
  isDatabaseAddress,
  isEnginePrefix,
  isRedisAddress,
  type EngineOptions,
  type S3Access,
} from '../options/engines.ts'
import { anyText, httpAddress, wholeNumber, type Environment, type Setting } from './readers.ts'

/** Settings of servers that replace the data folder; keys are the names used in code. */
export interface EngineSettings {
  readonly databaseUrl: Setting<string>
  readonly databaseConnections: Setting<number>
  readonly indexUrl: Setting<string>
  readonly indexShards: Setting<number>
  readonly indexReplicas: Setting<number>
  readonly redisUrl: Setting<string>
  readonly filesUrl: Setting<string>
  readonly s3Endpoint: Setting<string>
  readonly s3Region: Setting<string>
  readonly s3AccessKeyId: Setting<string>
  readonly s3SecretAccessKey: Setting<string>
  readonly enginePrefix: Setting<string>
}

const allowedBy = (isAllowed: (text: string) => boolean) => (text: string) => (isAllowed(text) ? text : undefined)

/** In documentation order. */
export const engineSettings: EngineSettings = {
  databaseUrl: {
    name: 'INLAY_DATABASE_URL',
    meaning: 'PostgreSQL database for the records; needs the package pg',
    allowed: 'postgres://user:password@host:port/database, with %40 for @ and the like in the password',
    without: 'SQLite in INLAY_DATA',
    isSecret: true,
    isAdvanced: true,
    read: allowedBy(isDatabaseAddress),
  },
  databaseConnections: {
    name: 'INLAY_DATABASE_CONNECTIONS',
    meaning: 'maximum number of connections per process to PostgreSQL, for the records and again for an index there',
    allowed: 'a whole number from 1 to 1000',
    without: '10 connections',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 1000),
  },
  indexUrl: {
    name: 'INLAY_INDEX_URL',
    meaning: 'location of the index',
    allowed:
      'http or https addresses of OpenSearch nodes separated by commas, postgres://… for pgvector, s3://bucket/path for LanceDB in a bucket, or folder for INLAY_DATA',
    without: 'in the database of INLAY_DATABASE_URL, else LanceDB in INLAY_DATA',
    isSecret: true,
    isAdvanced: true,
    read: (text) => (indexPlaceOf(text) === undefined ? undefined : text),
  },
  indexShards: {
    name: 'INLAY_INDEX_SHARDS',
    meaning: 'shards of a new index in OpenSearch',
    allowed: 'a whole number from 1 to 1024',
    without: '1 shard',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 1, 1024),
  },
  indexReplicas: {
    name: 'INLAY_INDEX_REPLICAS',
    meaning: 'replicas of each shard of a new index in OpenSearch',
    allowed: 'a whole number from 0 to 100',
    without: 'one with two or more nodes',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 0, 100),
  },
  redisUrl: {
    name: 'INLAY_REDIS_URL',
    meaning: 'Redis or Valkey server for sharing running answers; needs the package redis',
    allowed: 'redis://user:password@host:port/number, or rediss:// for TLS',
    without: 'shared through the database of the records',
    isSecret: true,
    isAdvanced: true,
    read: allowedBy(isRedisAddress),
  },
  filesUrl: {
    name: 'INLAY_FILES_URL',
    meaning: 'bucket for uploaded files; needs the package aws4fetch',
    allowed: 's3://bucket/path',
    without: 'files are stored in INLAY_DATA',
    isSecret: true,
    isAdvanced: true,
    read: allowedBy(isBucketAddress),
  },
  s3Endpoint: {
    name: 'INLAY_S3_ENDPOINT',
    meaning: 'URL of the S3-compatible server',
    allowed: 'an http or https address without user and password, such as http://minio:9000',
    without: 'Amazon S3 in the given region',
    isSecret: true,
    isAdvanced: true,
    read: (text) => (isBucketServer(text) ? httpAddress(text) : undefined),
  },
  s3Region: {
    name: 'INLAY_S3_REGION',
    meaning: 'region of the buckets',
    allowed: 'a name, such as eu-central-1',
    without: 'AWS_REGION, else us-east-1',
    isAdvanced: true,
    read: (text) => (/^[a-z\d-]{1,40}$/i.test(text) ? text : undefined),
  },
  s3AccessKeyId: {
    name: 'INLAY_S3_ACCESS_KEY_ID',
    meaning: 'access key of the buckets',
    allowed: 'a key',
    without: 'AWS_ACCESS_KEY_ID; an index in a bucket also uses the role of the machine',
    isAdvanced: true,
    isSecret: true,
    read: anyText,
  },
  s3SecretAccessKey: {
    name: 'INLAY_S3_SECRET_ACCESS_KEY',
    meaning: 'secret of the access key',
    allowed: 'a key',
    without: 'AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if set',
    isAdvanced: true,
    isSecret: true,
    read: anyText,
  },
  enginePrefix: {
    name: 'INLAY_ENGINE_PREFIX',
    meaning:
      'prefix of names in Redis, OpenSearch and pgvector, for installations that share a server; their records still need separate databases or schemas',
    allowed: 'lower-case letters, digits and _, at most 40, a letter first',
    without: 'inlay',
    isAdvanced: true,
    read: allowedBy(isEnginePrefix),
  },
}

type EngineValues = { readonly [Name in keyof EngineSettings]?: ReturnType<EngineSettings[Name]['read']> }

/** Builds the option `engines` from the settings; undefined without any. Adds errors to `faults`. */
export function enginesOf(values: EngineValues, env: Environment, faults: string[]): EngineOptions | undefined {
  const { databaseUrl: database, indexUrl: index, redisUrl: redis, filesUrl: files } = values
  const { databaseUrl, indexUrl, filesUrl } = engineSettings
  const place = indexPlaceOf(index ?? database ?? 'folder')?.engine
  const needing = (names: readonly (keyof EngineSettings)[], isMet: boolean, what: string): void => {
    for (const name of isMet ? [] : names)
      if (values[name] !== undefined) faults.push(`${engineSettings[name].name}: has no use without ${what}.`)
  }
  needing(['databaseConnections'], database !== undefined || place === 'pgvector', databaseUrl.name)
  needing(['indexShards', 'indexReplicas'], place === 'opensearch', `OpenSearch in ${indexUrl.name}`)
  needing(
    ['s3Endpoint', 's3Region', 's3AccessKeyId', 's3SecretAccessKey'],
    place === 'bucket' || files !== undefined,
    `a bucket in ${filesUrl.name} or ${indexUrl.name}`,
  )
  const isNeeded = place === 'bucket' || files !== undefined
  const s3 = isNeeded ? accessOf(values, env, faults, files !== undefined) : undefined
  if ([database, index, redis, files].every((address) => address === undefined)) return undefined
  const { databaseConnections, indexShards, indexReplicas, enginePrefix: prefix } = values
  return { database, databaseConnections, index, indexShards, indexReplicas, redis, files, s3, prefix }
}

function accessOf(values: EngineValues, env: Environment, faults: string[], keepsFiles: boolean): S3Access {
  const { s3AccessKeyId: idSetting, s3SecretAccessKey: secretSetting, filesUrl } = engineSettings
  const usual = (name: string): string | undefined => env[name]?.trim() || undefined
  const isOwn = values.s3AccessKeyId !== undefined || values.s3SecretAccessKey !== undefined
  const accessKeyId = isOwn ? values.s3AccessKeyId : usual('AWS_ACCESS_KEY_ID')
  const secretAccessKey = isOwn ? values.s3SecretAccessKey : usual('AWS_SECRET_ACCESS_KEY')
  const missing = [...(accessKeyId ? [] : [idSetting.name]), ...(secretAccessKey ? [] : [secretSetting.name])]
  if (missing.length > 0 && (keepsFiles || isOwn))
    faults.push(
      `${values.s3AccessKeyId ? idSetting.name : values.s3SecretAccessKey ? secretSetting.name : filesUrl.name}: needs ${missing.join(' and ')}.`,
    )
  return {
    endpoint: values.s3Endpoint,
    region: values.s3Region ?? usual('AWS_REGION') ?? usual('AWS_DEFAULT_REGION'),
    accessKeyId,
    secretAccessKey,
    sessionToken: isOwn ? undefined : usual('AWS_SESSION_TOKEN'),
  }
}
