import { InlayError, queryInteger } from '@inlay/protocol'
import {
  connectorCreatedSchema,
  connectorCreationSchema,
  connectorRunSchema,
  connectorSources,
  credentialCreatedSchema,
  credentialCreationSchema,
  deletionAttemptSchema,
  pairLinkSchema,
  statusResponseSchema,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { checkConnectorFiles, takeConnectorFiles } from '../../administration/connector-files.ts'
import { linkedPairId, readLinkedRecords, toCredential } from '../../administration/pair-view.ts'
import { workspaceOf } from '../../administration/workspace-of.ts'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Connectors', { scope: 'admin', owner: 'any' })

/** Connectors, credentials and their links: existing clients create a pair with three calls. */
export const connectorRoutes: readonly Route[] = [
  route('POST /manage/admin/connector', 'createConnector', 'Create a connector', {
    description:
      'For uploaded files (`file`) or for documents sent over the API (`ingestion_api`). Other ' +
      'sources are not supported: send their documents through the ingestion API, with their own ' +
      '`source`.',
    input: { body: connectorCreationSchema },
    answer: { description: 'Id of the connector.', schema: connectorCreatedSchema },
    errors: ['DEPLOYMENT_UNSUPPORTED', 'VALIDATION_ERROR', 'NOT_FOUND', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      refuseOtherSources(body.source)
      refuseSync(body.access_type)
      const workspace = workspaceOf(parts)
      const known = await workspace.list('connector')
      if (known.some(({ value }) => value.name === body.name && value.source === body.source)) {
        throw new InlayError('VALIDATION_ERROR', { message: 'A connector with this name and source already exists.' })
      }
      await checkConnectorFiles(body.connector_specific_config, caller, parts)
      const { id } = await workspace.add('connector', {
        name: body.name,
        source: body.source,
        inputType: body.input_type,
        config: body.connector_specific_config,
        refreshFreq: body.refresh_freq,
        pruneFreq: body.prune_freq,
      })
      return { id, credential: null }
    },
  }),
  route('POST /manage/credential', 'createCredential', 'Make a credential', {
    description: 'Connectors do not need to sign in: field names are stored, values are not.',
    input: { body: credentialCreationSchema },
    answer: { description: 'The credential.', schema: credentialCreatedSchema },
    errors: ['DEPLOYMENT_UNSUPPORTED', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      refuseOtherSources(body.source)
      const record = await workspaceOf(parts).add('credential', {
        name: body.name,
        source: body.source,
        fields: Object.keys(body.credential_json),
        isAdminPublic: body.admin_public,
        ownerId: caller.id,
        ownerEmail: caller.email ?? null,
      })
      return { id: record.id, credential: toCredential(record) }
    },
  }),
  route(
    'PUT /manage/connector/{connector_id}/credential/{credential_id}',
    'linkCredential',
    'Create a pair of a connector and a credential',
    {
      description: '`data` in the response is the id of the pair. Files of the connector are ingested.',
      input: {
        path: v.object({ connector_id: queryInteger({ least: 0 }), credential_id: queryInteger({ least: 0 }) }),
        body: pairLinkSchema,
      },
      answer: {
        description: 'Whether the pair was created; false if the two were already linked.',
        schema: statusResponseSchema,
      },
      errors: ['CONNECTOR_NOT_FOUND', 'NOT_FOUND', 'DEPLOYMENT_UNSUPPORTED', 'NOT_IMPLEMENTED'],
      async handle({ path, body, caller, parts }) {
        refuseSync(body.access_type)
        const { connector_id: connectorId, credential_id: credentialId } = path
        const workspace = workspaceOf(parts)
        const records = await readLinkedRecords(workspace)
        const connector = records.connectors.get(connectorId)
        if (!connector) throw new InlayError('CONNECTOR_NOT_FOUND', { message: 'No such connector.' })
        if (!records.credentials.has(credentialId))
          throw new InlayError('NOT_FOUND', { message: 'No such credential.' })
        if (linkedPairId(connectorId, credentialId, records) !== undefined) {
          return { success: false, message: 'Connector and credential are already linked.', data: connectorId }
        }
        await checkConnectorFiles(connector.value.config, caller, parts)
        const isPublic = body.access_type === 'public'
        const users = isPublic ? [] : [caller.id]
        const pair = await parts.knowledge.pairs.create({ name: body.name, isPublic, users, groups: body.groups })
        await workspace.put('link', pair.id, { connectorId, credentialId })
        await takeConnectorFiles(connector.value.config, pair.id, caller, parts)
        return { success: true, message: 'The pair was created.', data: pair.id }
      },
    },
  ),
  route('POST /manage/admin/connector/run-once', 'runConnector', 'Ingest the files of a connector again', {
    description:
      '`data` in the response is the number of pairs. Pairs that receive documents over the API need no run.',
    input: { body: connectorRunSchema },
    answer: { description: 'Number of pairs that were run.', schema: statusResponseSchema },
    errors: ['CONNECTOR_NOT_FOUND', 'NOT_FOUND', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      const records = await readLinkedRecords(workspaceOf(parts))
      const connector = records.connectors.get(body.connector_id)
      if (!connector) throw new InlayError('CONNECTOR_NOT_FOUND', { message: 'No such connector.' })
      const links = [...records.links.values()].filter(
        ({ value }) =>
          value.connectorId === connector.id &&
          (body.credential_ids === null || body.credential_ids.includes(value.credentialId)),
      )
      for (const { id } of links) await takeConnectorFiles(connector.value.config, id, caller, parts)
      return { success: true, message: 'The connector has run.', data: links.length }
    },
  }),
  route('POST /manage/admin/deletion-attempt', 'deleteLinkedPair', 'Delete the pair of a connector and a credential', {
    description: 'Its documents can no longer be found from this moment on.',
    input: { body: deletionAttemptSchema },
    answer: { description: 'It is gone.', schema: v.null() },
    errors: ['CONNECTOR_NOT_FOUND', 'INVALID_INPUT'],
    async handle({ body, parts }) {
      const pairId = linkedPairId(body.connector_id, body.credential_id, await readLinkedRecords(parts.workspace))
      if (pairId === undefined) throw new InlayError('CONNECTOR_NOT_FOUND')
      await parts.knowledge.pairs.remove(pairId)
      await parts.workspace?.remove('link', pairId)
    },
  }),
]

/** Refuses other sources, since their connectors would never fetch anything. */
function refuseOtherSources(source: string): void {
  if ((connectorSources as readonly string[]).includes(source)) return
  throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
    message:
      `Supported connector sources are ${connectorSources.join(' and ')}: ` +
      'send documents of others through the ingestion API, with their own source.',
  })
}

function refuseSync(accessType: string): void {
  if (accessType !== 'sync') return
  throw new InlayError('DEPLOYMENT_UNSUPPORTED', {
    message: 'Permissions of other services are not supported: use public, or private with the people who have access.',
  })
}
