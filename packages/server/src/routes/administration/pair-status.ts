import type { PairProgress } from '@inlay/knowledge'
import { complete, InlayError, queryInteger, uploadFormSchema, type Principal } from '@inlay/protocol'
import {
  basicConnectorStatusSchema,
  connectorFilesSchema,
  connectorStatusSchema,
  indexingStatusQuerySchema,
  pairDetailSchema,
  pairStatusChangeSchema,
  sourceIndexingSchema,
  type ConnectorIndexing,
  type IndexingStatusQuery,
  type SourceIndexing,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import {
  connectorOf,
  pairStatusOf,
  readLinkedRecords,
  toConnectorIndexing,
  toConnectorStatus,
  toPairDetail,
} from '../../administration/pair-view.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { splitForm, uploadLimits } from '../chat/files.ts'

const route = routesOf('Connectors', { scope: 'ingest', owner: 'pair' })
const pairPath = v.object({ cc_pair_id: queryInteger({ least: 1 }) })
/** The pair of documents sent without a pair; clients list only pairs that somebody created. */
const defaultPair = 1

/** Status of pairs, in the formats that existing clients read. */
export const pairStatusRoutes: readonly Route[] = [
  route('GET /manage/admin/cc-pair/{cc_pair_id}', 'getPair', 'Get a pair', {
    input: { path: pairPath },
    answer: { description: 'The pair with its connector and credential.', schema: pairDetailSchema },
    errors: ['CONNECTOR_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const [pair] = await parts.knowledge.pairs.progress({ caller, id: path.cc_pair_id })
      if (!pair) throw new InlayError('CONNECTOR_NOT_FOUND')
      return toPairDetail(pair, caller, await readLinkedRecords(parts.workspace))
    },
  }),
  route('PUT /manage/admin/cc-pair/{cc_pair_id}/status', 'setPairStatus', 'Pause or resume a pair', {
    scope: 'admin',
    owner: 'any',
    description: '`PAUSED`: new documents wait in the queue. `ACTIVE`: they are indexed.',
    input: { path: pairPath, body: pairStatusChangeSchema },
    answer: { description: 'Done.', schema: v.object({ message: v.string() }) },
    errors: ['CONNECTOR_NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path, body, parts }) {
      if (body.status !== 'ACTIVE' && body.status !== 'PAUSED') {
        throw new InlayError('INVALID_INPUT', { message: 'A pair can be set to ACTIVE or PAUSED.' })
      }
      await parts.knowledge.pairs.update(path.cc_pair_id, { isPaused: body.status === 'PAUSED' })
      return { message: '200' }
    },
  }),
  route('GET /manage/admin/connector/status', 'listConnectorStatus', 'List pairs with their connectors', {
    answer: { description: 'Pairs created by administrators, by id.', schema: v.array(connectorStatusSchema) },
    async handle({ caller, parts }) {
      const records = await readLinkedRecords(parts.workspace)
      const pairs = await parts.knowledge.pairs.list({ caller })
      return pairs.filter(({ id }) => id !== defaultPair).map((pair) => toConnectorStatus(pair, records))
    },
  }),
  route('GET /manage/connector-status', 'listBasicConnectorStatus', 'List connectors in brief', {
    scope: ['chat', 'ingest'],
    description: 'Excludes pairs that receive documents over the API.',
    answer: { description: 'A line for each.', schema: v.array(basicConnectorStatusSchema) },
    async handle({ caller, parts }) {
      const records = await readLinkedRecords(parts.workspace)
      const lines = (await madePairs(parts, caller)).map((pair) => ({
        has_successful_run: pair.lastIndexedAt !== null,
        source: connectorOf(pair, records).source,
        status: pairStatusOf(pair),
      }))
      return lines.filter(({ source }) => source !== 'ingestion_api')
    },
  }),
  route('POST /manage/admin/connector/indexing-status', 'listConnectorIndexing', 'List indexing status by source', {
    readsOnly: true,
    input: { body: indexingStatusQuerySchema },
    answer: { description: 'An entry for each source.', schema: v.array(sourceIndexingSchema) },
    async handle({ body, caller, parts }) {
      const records = await readLinkedRecords(parts.workspace)
      const pairs = await madePairs(parts, caller)
      return bySource(pairs, body, (pair) => toConnectorIndexing(pair, caller, connectorOf(pair, records).source))
    },
  }),
  route('POST /manage/admin/connector/file/upload', 'uploadConnectorFiles', 'Upload files for a connector', {
    owner: 'caller',
    aliases: ['/admin/connector/file/upload'],
    description:
      'A form with one or more `files`. Use the ids in `file_locations` of a connector, and in ' +
      '`image_file_id` of a section. Either all files are accepted or none. Archives are refused, ' +
      'also with `unzip`: send the files in them.',
    input: { body: { kind: 'stream', mediaType: 'multipart/form-data', schema: uploadFormSchema } },
    answer: { description: 'Ids and names of the files.', schema: connectorFilesSchema },
    errors: ['INVALID_INPUT', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED'],
    async handle({ request, caller, parts, settings }) {
      const form = splitForm(request, uploadLimits(settings))
      const { files, rejected } = await parts.agent.files.upload(form.files, { caller, details: form.details })
      const [first] = rejected
      if (first) {
        for (const { id } of files) await parts.agent.files.remove(id, caller)
        throw new InlayError('INVALID_INPUT', { message: `A file was refused: ${first.reason}` })
      }
      return complete(connectorFilesSchema, {
        file_paths: files.map(({ fileId }) => fileId),
        file_names: files.map(({ name }) => name),
      })
    },
  }),
]

async function madePairs({ knowledge }: ServerParts, caller: Principal): Promise<PairProgress[]> {
  return (await knowledge.pairs.progress({ caller, failures: false })).filter(({ id }) => id !== defaultPair)
}

const pageSize = 10

function bySource(
  pairs: readonly PairProgress[],
  query: IndexingStatusQuery,
  toIndexing: (pair: PairProgress) => ConnectorIndexing,
): SourceIndexing[] {
  const groups = Map.groupBy(pairs.map(toIndexing).filter(isWanted(query)), ({ source }) => source)
  return [...groups].map(([source, statuses]) => {
    const totalPages = Math.max(1, Math.ceil(statuses.length / pageSize))
    const page = query.get_all_connectors ? 1 : Math.min(query.source_to_page[source] ?? 1, totalPages)
    return {
      source,
      summary: {
        total_connectors: statuses.length,
        active_connectors: statuses.filter(({ cc_pair_status: status }) => status !== 'PAUSED').length,
        public_connectors: statuses.filter(({ access_type: access }) => access === 'public').length,
        total_docs_indexed: statuses.reduce((sum, { docs_indexed: count }) => sum + count, 0),
      },
      current_page: page,
      total_pages: totalPages,
      indexing_statuses: query.get_all_connectors ? statuses : statuses.slice((page - 1) * pageSize, page * pageSize),
    }
  })
}

function isWanted(query: IndexingStatusQuery): (status: ConnectorIndexing) => boolean {
  const { source, access_type_filters: access, last_status_filters: last, name_filter: name } = query
  return (status) =>
    (source === null || status.source === source) &&
    (access.length === 0 || access.includes(status.access_type)) &&
    (last.length === 0 || last.includes(status.last_status ?? '')) &&
    (name === null || status.name.toLowerCase().includes(name.toLowerCase())) &&
    holdsCount(status.docs_indexed, query)
}

function holdsCount(count: number, query: IndexingStatusQuery): boolean {
  const { docs_count_operator: operator, docs_count_value: value } = query
  if (operator === null || value === null) return true
  return operator === '>' ? count > value : operator === '<' ? count < value : count === value
}
