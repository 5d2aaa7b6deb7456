import type { CallerLimits } from '@inlay/protocol'
import type { RetentionOptions } from '../options/part-options.ts'
import {
  anyText,
  wholeNumber,
  oneOf,
  origins,
  headerKey,
  usageLimits,
  usageLimitsAllowed,
  retentionAllowed,
  retentionDays,
  type Setting,
} from './readers.ts'

/** Settings of the server and its folder; keys are the names used in code. */
export interface ServiceSettings {
  readonly port: Setting<number>
  readonly host: Setting<string>
  readonly data: Setting<string>
  readonly apiKey: Setting<string>
  readonly basePath: Setting<string>
  readonly streamFormat: Setting<'sse' | 'lines'>
  readonly corsOrigins: Setting<readonly string[] | '*'>
  readonly ingestionWait: Setting<number>
  readonly callerLimits: Setting<CallerLimits>
  readonly tenantLimits: Setting<CallerLimits>
  readonly retention: Setting<RetentionOptions>
  readonly shutdownNotice: Setting<number>
  readonly shutdownDrain: Setting<number>
  readonly telemetry: Setting<'on' | 'off'>
  readonly log: Setting<'json' | 'text'>
}

/** In documentation order. */
export const serviceSettings: ServiceSettings = {
  port: {
    name: 'PORT',
    meaning: 'port to listen on',
    allowed: 'a whole number from 0 (any free port) to 65535',
    without: '3000',
    read: (text) => wholeNumber(text, 0, 65_535),
  },
  host: {
    name: 'HOST',
    meaning: 'name or address to listen on',
    allowed: 'a host name or address, such as 127.0.0.1, 0.0.0.0 or ::',
    without: '127.0.0.1, this machine only',
    read: (text) => (/^[\w.:[\]-]+$/.test(text) ? text : undefined),
  },
  data: {
    name: 'INLAY_DATA',
    meaning: 'folder of the database and index',
    allowed: 'a path',
    without: '.inlay',
    read: anyText,
  },
  apiKey: {
    name: 'INLAY_API_KEY',
    meaning: 'a fixed API key with all scopes',
    allowed: 'from 8 to 512 visible ASCII characters without spaces',
    without: 'a key is generated',
    isSecret: true,
    read: headerKey,
  },
  basePath: {
    name: 'INLAY_BASE_PATH',
    meaning: 'base path of the API',
    allowed: 'a path, such as /api',
    without: '/api',
    read: (text) => (/^\/?[\w./~-]*$/.test(text) ? text : undefined),
  },
  streamFormat: {
    name: 'INLAY_STREAM_FORMAT',
    meaning: 'stream format for clients that request none',
    allowed: 'sse or lines',
    without: 'sse',
    read: oneOf('sse', 'lines'),
  },
  corsOrigins: {
    name: 'INLAY_CORS_ORIGINS',
    meaning: 'origins whose pages may call the API',
    allowed: 'origins such as https://app.example.com, separated by commas, or *',
    without: 'none',
    read: origins,
  },
  ingestionWait: {
    name: 'INLAY_INGESTION_WAIT',
    meaning: 'seconds that an ingestion request waits for its document to become searchable',
    allowed: 'a whole number from 0 to 600',
    without: '0, the response is sent once the document is stored',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 0, 600),
  },
  callerLimits: {
    name: 'INLAY_CALLER_LIMITS',
    meaning: 'limits of each caller; keys can have their own limits',
    allowed: usageLimitsAllowed,
    without: 'no limits',
    isAdvanced: true,
    read: usageLimits,
  },
  tenantLimits: {
    name: 'INLAY_TENANT_LIMITS',
    meaning: 'limits of all callers together',
    allowed: usageLimitsAllowed,
    without: 'no limits',
    isAdvanced: true,
    read: usageLimits,
  },
  retention: {
    name: 'INLAY_RETENTION',
    meaning: 'days after which sessions, deleted sessions, deleted agents and audit entries are erased',
    allowed: retentionAllowed,
    without: 'nothing is deleted by age',
    isAdvanced: true,
    read: retentionDays,
  },
  shutdownNotice: {
    name: 'INLAY_SHUTDOWN_NOTICE',
    meaning: 'seconds that inlay serve still accepts requests during shutdown while /health/ready answers 503',
    allowed: 'a whole number from 0 to 600',
    without: '0, none',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 0, 600),
  },
  shutdownDrain: {
    name: 'INLAY_SHUTDOWN_DRAIN',
    meaning: 'seconds that inlay serve then waits for running answers',
    allowed: 'a whole number from 0 to 3600',
    without: '0, running answers are stopped and their text so far is kept',
    isAdvanced: true,
    read: (text) => wholeNumber(text, 0, 3600),
  },
  telemetry: {
    name: 'INLAY_TELEMETRY',
    meaning: 'whether to expose Prometheus metrics at /metrics',
    allowed: 'on or off',
    without: 'on for npm start and inlay serve',
    isAdvanced: true,
    read: oneOf('on', 'off'),
  },
  log: {
    name: 'INLAY_LOG',
    meaning:
      'log format on standard error: json writes a line for each request, answer and failure; text writes failures only',
    allowed: 'json or text',
    without: 'text',
    isAdvanced: true,
    read: oneOf('json', 'text'),
  },
}
